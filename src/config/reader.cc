#include "config/reader.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "config/bindings.h"
#include "config/schema.h"
#include "covey/config/suggest.h"
#include "config/yaml_text.h"

namespace covey::config {
namespace {

std::string WithArticle(const std::string& type) {
  return (type.find_first_of("aeio") == 0 ? "an " : "a ") + type;
}

std::string Wanted(const Binding& binding) {
  if (!binding.words.empty()) return "one of " + Joined(binding.words);
  if (binding.type == "true or false" || binding.type == "text") return binding.type;
  return WithArticle(binding.type) + (binding.range.empty() ? "" : " (" + binding.range + ")");
}

}  // namespace

Reader::Reader(const TreeNode& root, Diagnostics& diagnostics, Options options)
    : diagnostics_(diagnostics), options_(std::move(options)) {
  Frame frame;
  frame.map = root.kind == TreeNode::Kind::kMap ? &root : nullptr;
  frame.span = root.span;
  frames_.push_back(std::move(frame));
}

void Reader::Finish() { ReportUnknown(frames_.front()); }

std::string Reader::PathOf(std::string_view name) const {
  const std::string& path = frames_.back().path;
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

std::string Reader::Full(const std::string& path) const {
  if (options_.prefix.empty()) return path;
  return path.empty() ? options_.prefix : options_.prefix + "." + path;
}

void Reader::Fail(const std::string& path, Span span, const std::string& what, std::string note) {
  failed_.insert(path);
  diagnostics_.Error(span, Full(path) + ": " + what, std::move(note));
}

const TreeEntry* Reader::Take(const Key& key, std::string default_value) {
  Frame& frame = frames_.back();
  frame.known.push_back({std::string(key.name), std::move(default_value)});
  if (frame.map == nullptr) return nullptr;
  for (const TreeEntry& entry : frame.map->entries) {
    if (entry.key != key.name) continue;
    const std::string path = PathOf(key.name);
    if (options_.is_template && key.per_node) {
      Fail(path, entry.key_span, "is filled in for each node of an experiment",
           key.name == "partition" ? "leave it out; see experiment.partition" : "leave it out");
      return nullptr;
    }
    const bool scalar = entry.value.kind == TreeNode::Kind::kScalar;
    places_[path] = scalar ? entry.value.span : entry.key_span;
    if (entry.value.kind == TreeNode::Kind::kBad) {
      failed_.insert(path);
      return nullptr;
    }
    return &entry;
  }
  return nullptr;
}

void Reader::Missing(const Key& key) {
  const std::string path = PathOf(key.name);
  if (!key.required || options_.is_override || failed_.count(path) != 0) return;
  failed_.insert(path);
  // A section that is not in the file has no place for a message: the one around it that is gets
  // it.
  auto frame = frames_.rbegin();
  while (frame->map == nullptr && std::next(frame) != frames_.rend()) ++frame;
  const std::string inner = frame->path.empty() ? path : path.substr(frame->path.size() + 1);
  frame->absent.push_back({inner.substr(0, inner.find('.')), path, std::string(key.doc)});
}

void Reader::Enter(const TreeNode* map, std::string path, Span span, const Body& body) {
  Frame frame;
  frame.map = map;
  frame.path = std::move(path);
  frame.span = span;
  frames_.push_back(std::move(frame));
  body();
  ReportUnknown(frames_.back());
  frames_.pop_back();
}

void Reader::Section(const Key& key, const Body& body) {
  const TreeEntry* entry = Take(key, {});
  const std::string path = PathOf(key.name);
  if (entry == nullptr) {
    // Without the section its required keys are missing, unless the fault was reported just now.
    if (failed_.count(path) == 0) Enter(nullptr, path, frames_.back().span, body);
    return;
  }
  const TreeNode& value = entry->value;
  if (value.kind != TreeNode::Kind::kMap && value.kind != TreeNode::Kind::kNull) {
    Fail(path, places_[path], "got " + KindName(value) + ", want a section of keys",
         "write '" + std::string(key.name) + ":' and its keys below it, indented");
    return;
  }
  Enter(value.kind == TreeNode::Kind::kMap ? &value : nullptr, path, entry->key_span, body);
}

void Reader::Optional(const Key& key, bool, const Body& create, const Body& body) {
  const Frame& frame = frames_.back();
  bool given = false;
  if (frame.map != nullptr) {
    for (const TreeEntry& entry : frame.map->entries) given = given || entry.key == key.name;
  }
  if (!given) {
    Take(key, {});
    return;
  }
  create();
  Section(key, body);
}

bool Reader::WantScalar(const TreeNode& node, const std::string& path, Span span,
                        const Binding& binding) {
  if (node.kind == TreeNode::Kind::kBad) {
    failed_.insert(path);
    return false;
  }
  if (node.kind != TreeNode::Kind::kScalar) {
    Fail(path, span, "got " + KindName(node) + ", want " + Wanted(binding));
    return false;
  }
  if (node.quoted && !binding.text) {
    Fail(path, node.span, "got text in quotes, want " + Wanted(binding), "leave the quotes out");
    return false;
  }
  return true;
}

bool Reader::ReadScalar(const TreeNode& node, const std::string& path, Span key_span,
                        const Binding& binding) {
  const Span span = node.kind == TreeNode::Kind::kScalar ? node.span : key_span;
  if (!WantScalar(node, path, span, binding)) return false;
  if (const std::optional<Refusal> refusal = binding.read(node.text)) {
    Fail(path, span, refusal->what, refusal->note);
    return false;
  }
  assigned_.emplace_back(path, node.text);
  return true;
}

void Reader::Scalar(const Key& key, const Binding& binding) {
  const TreeEntry* entry = Take(key, key.required ? std::string() : binding.write());
  if (entry == nullptr) return Missing(key);
  ReadScalar(entry->value, PathOf(key.name), entry->key_span, binding);
}

void Reader::Choice(const Key& key, const ChoiceBinding& binding) {
  const TreeEntry* entry = Take(key, ChoiceText(binding));
  if (entry == nullptr) return Missing(key);
  const std::string path = PathOf(key.name);
  const TreeNode& value = entry->value;
  if (value.kind == TreeNode::Kind::kMap && value.entries.size() == 1) {
    return ReadOption(value.entries.front(), path, binding);
  }
  if (value.kind == TreeNode::Kind::kMap) {
    return Fail(path, entry->key_span,
                "got " + std::to_string(value.entries.size()) + " keys, want exactly one",
                ChoiceForms(binding));
  }
  if (value.kind != TreeNode::Kind::kScalar) {
    return Fail(path, entry->key_span, "got " + KindName(value), ChoiceForms(binding));
  }
  if (std::find(binding.words.begin(), binding.words.end(), value.text) == binding.words.end()) {
    return Fail(path, value.span, "got '" + Shown(value.text) + "'", ChoiceForms(binding));
  }
  binding.select(value.text);
  assigned_.emplace_back(path, value.text);
}

void Reader::ReadOption(const TreeEntry& entry, const std::string& path,
                        const ChoiceBinding& binding) {
  for (const ChoiceBinding::Option& option : binding.options) {
    if (option.name != entry.key) continue;
    const std::string inner = path + "." + entry.key;
    if (!ReadScalar(entry.value, inner, entry.key_span, option.binding)) {
      failed_.insert(path);
      return;
    }
    binding.select(entry.key);
    assigned_.back() = {path, entry.key + " " + entry.value.text};
    return;
  }
  std::vector<std::string> names;
  for (const ChoiceBinding::Option& option : binding.options) names.emplace_back(option.name);
  const std::string near = Nearest(entry.key, names);
  Fail(path, entry.key_span, "unknown key '" + Shown(entry.key) + "'",
       near.empty() ? ChoiceForms(binding) : "did you mean '" + near + "'?");
}

Span Reader::PlaceOf(const std::string& path) const {
  for (std::string at = path; !at.empty();) {
    const auto found = places_.find(at);
    if (found != places_.end()) return found->second;
    const std::size_t cut = at.find_last_of(".[");
    at = cut == std::string::npos ? std::string() : at.substr(0, cut);
  }
  return frames_.front().span;
}

bool Reader::Failed(const std::string& path) const {
  // Also when the section around it is at fault, because nothing in it was read then, and when a
  // key in it is.
  for (std::string at = path; !at.empty();) {
    if (failed_.count(at) != 0) return true;
    const std::size_t cut = at.find_last_of(".[");
    at = cut == std::string::npos ? std::string() : at.substr(0, cut);
  }
  for (auto it = failed_.lower_bound(path); it != failed_.end(); ++it) {
    if (!it->starts_with(path)) break;
    if (it->size() > path.size() && ((*it)[path.size()] == '.' || (*it)[path.size()] == '[')) {
      return true;
    }
  }
  return false;
}

}  // namespace covey::config
