// Sets one key from text.
#pragma once

#include <optional>
#include <string>

#include "config/visitor.h"

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

  std::string path_;
  std::string text_;
  std::string at_;  // path of the section that is visited, with a dot at its end
  bool found_ = false;
  std::optional<Refusal> refusal_;
};

}  // namespace covey::config
