// Reads a tree onto settings, strictly: every fault is reported with its place, none ends the
// reading.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "config/source.h"
#include "config/tree.h"
#include "config/visitor.h"

namespace covey::config {

class Reader : public Visitor {
 public:
  struct Options {
    bool is_template = false;  // of an experiment: keys that differ from node to node are refused
    bool is_override = false;  // nothing is required, and lists are refused
    std::string prefix;        // of paths in messages: "experiment.overrides[3]"
  };

  // `root` must be a map or nothing.
  Reader(const TreeNode& root, Diagnostics& diagnostics, Options options);

  // Reports the keys at the top that nobody asked for. Call once, after the visit.
  void Finish();

  void Section(const Key& key, const Body& body) override;
  void Optional(const Key& key, bool present, const Body& create, const Body& body) override;
  void Scalar(const Key& key, const Binding& binding) override;
  void Choice(const Key& key, const ChoiceBinding& binding) override;
  void List(const Key& key, const ListBinding& binding) override;
  void Items(const Key& key, const ItemsBinding& binding) override;
  void Kinds(const Key& key, const KindsBinding& binding) override;
  void Overrides(const Key& key, config::Overrides& overrides) override;

  // Returns: where `path` or, when the file does not mention it, the section around it stands.
  Span PlaceOf(const std::string& path) const;
  // The place of every key that the file mentions.
  const std::map<std::string, Span>& places() const { return places_; }
  bool Failed(const std::string& path) const;
  bool failed() const { return !failed_.empty(); }

  // Every scalar that was read, by its path without prefix, as Set takes it.
  const std::vector<std::pair<std::string, std::string>>& assigned() const { return assigned_; }

 private:
  struct Known {
    std::string name;
    std::string default_value;
  };
  // A required key that is not there: reported at the end of its section, unless a key that nobody
  // knows looks like a slip of it, because then one message is enough.
  struct Absent {
    std::string child;  // the part of the path that would stand in the section
    std::string path;
    std::string doc;
  };
  struct Frame {
    const TreeNode* map = nullptr;  // null: the section is not in the file
    std::string path;
    Span span;
    std::vector<Known> known;
    std::vector<Absent> absent;
  };

  std::string PathOf(std::string_view name) const;
  std::string Full(const std::string& path) const;
  // Notes that `key` exists. Returns: its entry in the file; null when there is none or it is
  // refused as such.
  const TreeEntry* Take(const Key& key, std::string default_value);
  void Missing(const Key& key);
  void ReportMissing(const Frame& frame, const std::vector<std::string>& unknown);
  void Fail(const std::string& path, Span span, const std::string& what, std::string note = {});
  bool WantScalar(const TreeNode& node, const std::string& path, Span span, const Binding& binding);
  bool ReadScalar(const TreeNode& node, const std::string& path, Span key_span,
                  const Binding& binding);
  // Returns: the list at `key`; null when it is absent or refused.
  const TreeNode* TakeList(const Key& key, std::string_view entries);
  using ReadEntry = std::function<void(const TreeNode& item, const std::string& path, std::size_t)>;
  // Reads the list at `key` entry by entry; it has failed when one of them was refused.
  void EachEntry(const Key& key, std::string_view entries,
                 const std::function<void(std::size_t)>& resize, const ReadEntry& read);
  void ReadPair(const TreeNode& value, const std::string& path, Span key_span,
                const ListBinding& binding);
  // An entry of a list of kinds. Requires: it is a word or a map.
  void ReadKind(const TreeNode& item, const std::string& path, std::size_t index,
                const KindsBinding& binding);
  void UnknownKind(const std::string& name, const std::string& path, Span span,
                   const KindsBinding& binding);
  void ReadOption(const TreeEntry& entry, const std::string& path, const ChoiceBinding& binding);
  Override ReadOverride(const TreeEntry& entry, const std::string& path, bool of_controls);
  void Enter(const TreeNode* map, std::string path, Span span, const Body& body);
  void ReportUnknown(const Frame& frame);
  std::string Hint(const Frame& frame, const std::string& name) const;

  Diagnostics& diagnostics_;
  Options options_;
  std::vector<Frame> frames_;
  std::map<std::string, Span> places_;
  std::set<std::string> failed_;
  std::vector<std::pair<std::string, std::string>> assigned_;
};

}  // namespace covey::config
