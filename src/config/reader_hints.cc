// The part of the reader that is about keys nobody knows, and about overrides of single nodes.
#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>
#include <utility>

#include "config/reader.h"
#include "config/schema.h"
#include "covey/config/suggest.h"
#include "covey/config/load.h"

namespace covey::config {
namespace {

constexpr std::size_t kMostListed = 12;  // keys of a section that are listed in a hint

std::string Default(const std::string& value) {
  return value.empty() ? std::string() : " (default " + value + ")";
}

// Returns: the only key of all files that ends in `name`, else null.
const KeyInfo* Elsewhere(const std::vector<KeyInfo>& keys, const std::string& name) {
  const KeyInfo* found = nullptr;
  for (const KeyInfo& key : keys) {
    const std::size_t dot = key.path.rfind('.');
    const std::string last = dot == std::string::npos ? key.path : key.path.substr(dot + 1);
    if (last != name || key.path.find("[]") != std::string::npos) continue;
    if (found != nullptr) return nullptr;
    found = &key;
  }
  return found;
}

// Names from papers and from other programs, of what is set elsewhere and in several keys.
constexpr std::pair<std::string_view, std::string_view> kNamedElsewhere[] = {
    {"mixing",
     "the rule of the local step is 'train.optimizer.kind' (e.g. quasi_global), that of an "
     "exchange 'consensus.gamma', 'gamma_by_age' and 'weigh'"},
};

}  // namespace

std::string Reader::Hint(const Frame& frame, const std::string& name) const {
  std::vector<std::string> names;
  for (const Known& known : frame.known) names.push_back(known.name);
  const std::string near = Nearest(name, names);
  for (const Known& known : frame.known) {
    if (known.name == near)
      return "did you mean '" + near + "'" + Default(known.default_value) + "?";
  }
  if (frame.path.empty() && (name == "experiment" || name == "expect")) {
    return "this is a file for covey-sim, not for a node";
  }
  for (const auto& [known, hint] : kNamedElsewhere) {
    if (name == known) return std::string(hint);
  }
  static const std::vector<KeyInfo> keys = DescribeNode();
  if (const KeyInfo* key = Elsewhere(keys, name)) {
    return "did you mean '" + key->path + "'" + Default(key->default_value) + "?";
  }
  if (names.size() > kMostListed) return {};
  return "known here: " + Joined(names);
}

void Reader::ReportUnknown(const Frame& frame) {
  std::vector<std::string> unknown;
  const std::size_t entries = frame.map == nullptr ? 0 : frame.map->entries.size();
  for (std::size_t i = 0; i < entries; ++i) {
    const TreeEntry& entry = frame.map->entries[i];
    const bool known = std::any_of(frame.known.begin(), frame.known.end(),
                                   [&entry](const Known& one) { return one.name == entry.key; });
    if (known) continue;
    const std::string path = frame.path.empty() ? entry.key : frame.path + "." + entry.key;
    // Distances are worth their time only for messages that will be shown.
    const bool shown = diagnostics_.errors() < Diagnostics::kShown * 4;
    diagnostics_.Error(entry.key_span, "unknown key '" + Shown(Full(path)) + "'",
                       shown ? Hint(frame, entry.key) : std::string());
    if (shown) unknown.push_back(entry.key);
  }
  ReportMissing(frame, unknown);
}

void Reader::ReportMissing(const Frame& frame, const std::vector<std::string>& unknown) {
  for (const Absent& absent : frame.absent) {
    const std::vector<std::string> child{absent.child};
    const bool slip = std::any_of(unknown.begin(), unknown.end(), [&child](const std::string& key) {
      return !Nearest(key, child).empty();
    });
    if (slip) continue;
    diagnostics_.Error(frame.span, "missing key '" + Full(absent.path) + "'",
                       "required: " + absent.doc);
  }
}

void Reader::Overrides(const Key& key, config::Overrides& overrides) {
  const TreeEntry* entry = Take(key, {});
  if (entry == nullptr || entry->value.kind == TreeNode::Kind::kNull) return;
  const std::string path = PathOf(key.name);
  if (entry->value.kind != TreeNode::Kind::kMap) {
    return Fail(path, places_[path], "want a section with the indices of nodes, or controls",
                "e.g. {3: {start_after: 10s}}");
  }
  for (const TreeEntry& node : entry->value.entries) {
    const bool controls = node.key == "controls";
    const std::string inner = path + (controls ? ".controls" : "[" + node.key + "]");
    std::uint32_t index = 0;
    const char* end = node.key.data() + node.key.size();
    const auto result = std::from_chars(node.key.data(), end, index);
    const bool canonical =
        result.ec == std::errc{} && result.ptr == end && std::to_string(index) == node.key;
    places_[inner] = node.key_span;
    if (!canonical && !controls) {
      Fail(path, node.key_span, "'" + Shown(node.key) + "' is not the index of a node",
           "nodes are counted from 0; 'controls' is for the controls");
    } else if (node.value.kind == TreeNode::Kind::kMap) {
      Override own = ReadOverride(node, inner, controls);
      (controls ? overrides.controls : overrides.nodes[index]) = std::move(own);
    } else if (node.value.kind != TreeNode::Kind::kBad) {
      Fail(inner, node.key_span, "want a section of keys", "e.g. {start_after: 10s}");
    }
  }
}

Override Reader::ReadOverride(const TreeEntry& entry, const std::string& path, bool of_controls) {
  Options options;
  options.is_template = options_.is_template;
  options.is_override = true;
  options.prefix = Full(path);
  Reader inner(entry.value, diagnostics_, options);
  Override own;
  NodeConfig scratch;
  if (of_controls) {
    VisitNode(inner, scratch);
  } else {
    VisitOverride(inner, own, scratch);
  }
  inner.Finish();
  for (const auto& assignment : inner.assigned()) {
    if (assignment.first != "start_after") own.set.push_back(assignment);
  }
  return own;
}

}  // namespace covey::config
