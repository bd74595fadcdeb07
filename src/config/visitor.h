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
};

using Body = std::function<void()>;

// A list of sections.
struct ItemsBinding {
  std::function<std::size_t()> size;
  std::function<void(std::size_t)> resize;
  std::function<void(std::size_t)> visit;  // visits the keys of one item
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
  virtual void Overrides(const Key& key, std::map<std::uint32_t, Override>& overrides) = 0;
};

}  // namespace covey::config
