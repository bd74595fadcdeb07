// How the description of the keys (schema.h) talks to whoever uses it: reader, writer, template,
// list, Set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/check.h"
#include "covey/config/experiment.h"

namespace covey::config {

struct Key {
  std::string_view name;
  std::string_view doc;
  bool required = false;
  bool per_node = false;  // not in the template of an experiment: filled for each node
};

// Why a text is no value of a key.
struct Refusal {
  std::string what;  // "'abc' is not an integer from 1 to 9"
  std::string note;  // what to write instead; may be empty
};

// A scalar and its place in a settings struct.
struct Binding {
  std::string type;                // for people: "integer", "duration"
  std::string range;               // for people: "1 to 65536"; empty: any
  std::vector<std::string> words;  // when only these are accepted
  bool text = false;               // quotes are welcome when read and set when written
  std::function<std::optional<Refusal>(const std::string&)> read;  // the value stays when refused
  std::function<std::string()> write;                              // as read takes it; empty: unset
};

// A list of scalars.
struct ListBinding {
  std::function<std::size_t()> size;
  std::function<void(std::size_t)> resize;
  std::function<Binding(std::size_t)> at;
  // "height and width": exactly two entries, or one scalar that stands for both. Empty: any list.
  std::string_view pair = {};
};

using Body = std::function<void()>;

// A list of sections.
struct ItemsBinding {
  std::function<std::size_t()> size;
  std::function<void(std::size_t)> resize;
  std::function<void(std::size_t)> visit;  // visits the keys of one item
};

// A list whose entries are each of one kind: `- dense: {units: 10}`, `- flatten`,
// `- activation: relu`.
struct KindsBinding {
  struct Kind {
    std::string_view name;
    std::string_view doc;
    std::function<void(std::size_t)> make;   // entry i becomes one of this kind, at its defaults
    std::function<void(std::size_t)> visit;  // visits the keys of entry i; null: it has none
    std::function<Binding(std::size_t)> value = {};  // instead of keys: one scalar
  };
  // What people look for and won't find.
  struct Missed {
    std::string_view name;
    std::string_view why;
    std::string_view note;
  };
  std::string_view noun;  // "layer"
  std::function<std::size_t()> size;
  std::function<void(std::size_t)> resize;
  std::function<std::string_view(std::size_t)> kind;  // of entry i: its name
  std::vector<Kind> kinds;
  std::vector<Missed> missed = {};

  // Returns: the kind of this name, or null.
  const Kind* Find(std::string_view name) const {
    for (const Kind& one : kinds) {
      if (one.name == name) return &one;
    }
    return nullptr;
  }
  const Kind& Of(std::size_t entry) const {
    const Kind* found = Find(kind(entry));
    COVEY_CHECK(found != nullptr, entry);
    return *found;
  }
};

// Either a word or exactly one of several keys: `until: forever`, `until: {epochs: 40}`.
struct ChoiceBinding {
  struct Option {
    std::string_view name;
    Binding binding;  // reading it does not select it
  };
  std::vector<std::string> words;
  std::vector<Option> options;
  std::function<std::string()> selected;  // a word or the name of an option
  std::function<void(const std::string&)> select;
};

class Visitor {
 public:
  virtual ~Visitor() = default;

  virtual void Section(const Key& key, const Body& body) = 0;
  // A section that may be left out; `create` makes room for it.
  virtual void Optional(const Key& key, bool present, const Body& create, const Body& body) = 0;
  virtual void Scalar(const Key& key, const Binding& binding) = 0;
  virtual void Choice(const Key& key, const ChoiceBinding& binding) = 0;
  virtual void List(const Key& key, const ListBinding& binding) = 0;
  virtual void Items(const Key& key, const ItemsBinding& binding) = 0;
  virtual void Kinds(const Key& key, const KindsBinding& binding) = 0;
  virtual void Overrides(const Key& key, config::Overrides& overrides) = 0;
};

}  // namespace covey::config
