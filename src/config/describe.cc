// The list of keys.
#include <set>
#include <string>
#include <utility>

#include "config/schema.h"
#include "covey/config/suggest.h"
#include "config/yaml_text.h"
#include "covey/config/load.h"

namespace covey::config {
namespace {

class Lister : public Visitor {
 public:
  std::vector<KeyInfo> Take() { return std::move(keys_); }

  void Section(const Key& key, const Body& body) override {
    Add(key, "section");
    const std::string before = std::exchange(path_, path_ + std::string(key.name) + ".");
    body();
    path_ = before;
  }

  void Optional(const Key& key, bool, const Body& create, const Body& body) override {
    create();
    Section(key, body);
  }

  void Scalar(const Key& key, const Binding& binding) override {
    KeyInfo& info = Add(key, TypeOf(binding));
    info.range = binding.range;
    if (!key.required) info.default_value = binding.write();
  }

  void Choice(const Key& key, const ChoiceBinding& binding) override {
    KeyInfo& info = Add(key, ChoiceForms(binding).substr(std::string("want ").size()));
    info.default_value = ChoiceText(binding);
  }

  void List(const Key& key, const ListBinding& binding) override {
    const bool pair = !binding.pair.empty();
    if (!pair) binding.resize(1);
    const Binding element = binding.at(0);
    KeyInfo& info =
        Add(key, pair ? TypeOf(element) + " or list of two" : "list of " + TypeOf(element));
    info.range = element.range;
    if (pair && !key.required) info.default_value = ListText(binding);
  }

  void Items(const Key& key, const ItemsBinding& binding) override {
    Add(key, "list of sections");
    binding.resize(1);
    const std::string before = std::exchange(path_, path_ + std::string(key.name) + "[].");
    binding.visit(0);
    path_ = before;
  }

  void Kinds(const Key& key, const KindsBinding& binding) override {
    Add(key, "list of " + std::string(binding.noun) + "s");
    binding.resize(1);
    const std::string before = std::exchange(path_, path_ + std::string(key.name) + "[].");
    for (const KindsBinding::Kind& kind : binding.kinds) {
      kind.make(0);
      const Key own{kind.name, kind.doc};
      if (kind.value) {
        Scalar({kind.name, kind.doc, true}, kind.value(0));
      } else if (kind.visit) {
        Section(own, [&kind] { kind.visit(0); });
      } else {
        Add(own, "word");
      }
    }
    path_ = before;
  }

  void Overrides(const Key& key, config::Overrides&) override {
    Add(key, "sections by index of a node");
  }

 private:
  static std::string TypeOf(const Binding& binding) {
    return binding.words.empty() ? binding.type : "one of " + Joined(binding.words);
  }

  KeyInfo& Add(const Key& key, std::string type) {
    KeyInfo info;
    info.path = path_ + std::string(key.name);
    info.type = std::move(type);
    info.doc = std::string(key.doc);
    info.required = key.required;
    keys_.push_back(std::move(info));
    return keys_.back();
  }

  std::string path_;
  std::vector<KeyInfo> keys_;
};

}  // namespace

std::vector<KeyInfo> DescribeNode() {
  Lister lister;
  NodeConfig config;
  VisitNode(lister, config);
  return lister.Take();
}

std::vector<KeyInfo> DescribeExperiment() {
  std::set<std::string> of_nodes;
  for (const KeyInfo& key : DescribeNode()) of_nodes.insert(key.path);
  Lister lister;
  Experiment experiment;
  VisitExperiment(lister, experiment);
  std::vector<KeyInfo> keys;
  for (KeyInfo& key : lister.Take()) {
    if (of_nodes.count(key.path) == 0) keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace covey::config
