// Sets one key from text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/visitor.h"
#include "covey/config/load.h"

namespace covey::config {

// Reads `text` into the scalar or choice at `path`; a choice takes "forever" or "epochs 5".
class Assigner : public Visitor {
 public:
  Assigner(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {}

  bool found() const { return found_; }
  const std::optional<Refusal>& refusal() const { return refusal_; }

  void Section(const Key& key, const Body& body) override;
  void Optional(const Key& key, bool present, const Body& create, const Body& body) override;
  void Scalar(const Key& key, const Binding& binding) override;
  void Choice(const Key& key, const ChoiceBinding& binding) override;
  void List(const Key& key, const ListBinding& binding) override;
  void Items(const Key& key, const ItemsBinding& binding) override;
  void Kinds(const Key& key, const KindsBinding& binding) override;
  void Overrides(const Key& key, config::Overrides& overrides) override;

 private:
  bool Meets(const Key& key);
  void RefuseList(const Key& key);
  void SetOwn(Override& own, const std::string& key, bool of_controls);

  std::string path_;
  std::string text_;
  std::string at_;  // path of the section that is visited, with a dot at its end
  bool found_ = false;
  std::optional<Refusal> refusal_;
};

// Returns: what to say of a path that is none of the keys: it is a section, or which key was meant.
Refusal NoSuchKey(const std::string& key, const std::vector<KeyInfo>& keys);

}  // namespace covey::config
