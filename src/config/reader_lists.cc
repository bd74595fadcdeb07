// The part of the reader that is about lists.
#include <utility>

#include "config/reader.h"
#include "config/yaml_text.h"
#include "covey/config/suggest.h"

namespace covey::config {
namespace {

constexpr std::size_t kLongestList = 65536;

std::string Numbered(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

std::vector<std::string> NamesOf(const KindsBinding& binding) {
  std::vector<std::string> names;
  for (const KindsBinding::Kind& kind : binding.kinds) names.emplace_back(kind.name);
  return names;
}

// What an entry of this kind looks like.
std::string Form(const KindsBinding::Kind& kind) {
  const std::string name(kind.name);
  if (kind.value) return "- " + name + ": " + kind.value(0).write();
  return kind.visit ? "- " + name + ": {...}" : "- " + name;
}

}  // namespace

const TreeNode* Reader::TakeList(const Key& key, std::string_view entries) {
  const TreeEntry* entry = Take(key, {});
  if (entry == nullptr) {
    Missing(key);
    return nullptr;
  }
  const std::string path = PathOf(key.name);
  const TreeNode& value = entry->value;
  if (options_.is_override) {
    Fail(path, entry->key_span, "a list can't be overridden");
  } else if (value.kind != TreeNode::Kind::kList) {
    const std::string of = entries.empty() ? "" : " of " + std::string(entries);
    Fail(path, places_[path], "got " + KindName(value) + ", want a list" + of,
         entries.empty() ? "write it as [a, b] or one below the other, each after '- '"
                         : "write each below '" + std::string(key.name) + ":', after '- '");
  } else if (value.items.size() > kLongestList) {
    Fail(path, entry->key_span, "more than " + std::to_string(kLongestList) + " entries in a list");
  } else if (key.required && value.items.empty()) {
    Fail(path, entry->key_span, "the list is empty");
  } else {
    return &value;
  }
  return nullptr;
}

void Reader::EachEntry(const Key& key, std::string_view entries,
                       const std::function<void(std::size_t)>& resize, const ReadEntry& read) {
  const TreeNode* value = TakeList(key, entries);
  if (value == nullptr) return;
  const std::string path = PathOf(key.name);
  resize(value->items.size());
  for (std::size_t i = 0; i < value->items.size(); ++i) {
    const TreeNode& item = value->items[i];
    const std::string inner = Numbered(path, i);
    places_[inner] = item.span;
    const std::size_t errors = diagnostics_.errors();
    const bool bad = item.kind == TreeNode::Kind::kBad;
    if (!bad) read(item, inner, i);
    if (bad || diagnostics_.errors() != errors) failed_.insert(path);
  }
}

void Reader::List(const Key& key, const ListBinding& binding) {
  const std::string path = PathOf(key.name);
  if (!binding.pair.empty()) {
    const TreeEntry* entry = Take(key, key.required ? std::string() : ListText(binding));
    if (entry == nullptr) return Missing(key);
    return ReadPair(entry->value, path, entry->key_span, binding);
  }
  EachEntry(key, {}, binding.resize,
            [this, &binding](const TreeNode& item, const std::string& inner, std::size_t i) {
              ReadScalar(item, inner, item.span, binding.at(i));
            });
}

void Reader::ReadPair(const TreeNode& value, const std::string& path, Span key_span,
                      const ListBinding& binding) {
  const bool list = value.kind == TreeNode::Kind::kList;
  if (list && value.items.size() != 2) {
    return Fail(path, key_span,
                "got " + std::to_string(value.items.size()) +
                    " entries, want two: " + std::string(binding.pair),
                "or one number for both");
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const TreeNode& item = list ? value.items[i] : value;
    const Span span = list ? item.span : key_span;
    if (!ReadScalar(item, list ? Numbered(path, i) : path, span, binding.at(i))) {
      failed_.insert(path);
      return;
    }
  }
}

void Reader::Items(const Key& key, const ItemsBinding& binding) {
  const auto read = [this, &binding](const TreeNode& item, const std::string& inner,
                                     std::size_t i) {
    if (item.kind == TreeNode::Kind::kMap) {
      return Enter(&item, inner, item.span, [&binding, i] { binding.visit(i); });
    }
    Fail(inner, item.span, "got " + KindName(item) + ", want a section of keys");
  };
  EachEntry(key, "sections", binding.resize, read);
}

void Reader::Kinds(const Key& key, const KindsBinding& binding) {
  const auto read = [this, &binding](const TreeNode& item, const std::string& inner,
                                     std::size_t i) {
    if (item.kind == TreeNode::Kind::kMap || item.kind == TreeNode::Kind::kScalar) {
      return ReadKind(item, inner, i, binding);
    }
    Fail(inner, item.span, "got " + KindName(item) + ", want a " + std::string(binding.noun),
         "e.g. " + Form(binding.kinds.front()));
  };
  EachEntry(key, std::string(binding.noun) + "s", binding.resize, read);
}

void Reader::ReadKind(const TreeNode& item, const std::string& path, std::size_t index,
                      const KindsBinding& binding) {
  const bool map = item.kind == TreeNode::Kind::kMap;
  if (map && item.entries.size() != 1) {
    const bool slipped =
        !item.entries.empty() && item.entries.front().value.kind == TreeNode::Kind::kNull;
    return Fail(path, item.span,
                "got " + std::to_string(item.entries.size()) + " keys, want one: the kind of " +
                    std::string(binding.noun),
                slipped
                    ? "indent the keys of '" + Shown(item.entries.front().key) + "' deeper than it"
                    : "e.g. " + Form(binding.kinds.front()));
  }
  const std::string name = map ? item.entries.front().key : item.text;
  const Span span = map ? item.entries.front().key_span : item.span;
  const KindsBinding::Kind* kind = binding.Find(name);
  if (kind == nullptr) return UnknownKind(name, path, span, binding);
  kind->make(index);
  const std::string inner = path + "." + name;
  places_[inner] = span;
  static const TreeNode kNothing = [] {
    TreeNode node;
    node.kind = TreeNode::Kind::kMap;
    return node;
  }();
  const TreeNode& value = map ? item.entries.front().value : kNothing;
  const bool nothing = !map || value.kind == TreeNode::Kind::kNull;
  if (value.kind == TreeNode::Kind::kBad) return;
  if (kind->value) {
    if (nothing) return Fail(inner, span, "has no value", "e.g. " + Form(*kind));
    ReadScalar(value, inner, span, kind->value(index));
  } else if (!nothing && value.kind != TreeNode::Kind::kMap) {
    Fail(inner, value.span,
         "got " + KindName(value) + ", want " +
             (kind->visit ? "a section of keys" : "nothing behind it"),
         "e.g. " + Form(*kind));
  } else {
    const Body body = kind->visit ? Body([kind, index] { kind->visit(index); }) : Body([] {});
    Enter(nothing ? &kNothing : &value, inner, span, body);
  }
}

void Reader::UnknownKind(const std::string& name, const std::string& path, Span span,
                         const KindsBinding& binding) {
  for (const KindsBinding::Missed& missed : binding.missed) {
    if (missed.name == name) {
      return Fail(path, span, std::string(missed.why), std::string(missed.note));
    }
  }
  const std::vector<std::string> names = NamesOf(binding);
  const std::string near = Nearest(name, names);
  Fail(path, span, "unknown " + std::string(binding.noun) + " '" + Shown(name) + "'",
       near.empty() ? "want one of " + Joined(names) : "did you mean '" + near + "'?");
}

}  // namespace covey::config
