#include "config/assign.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "config/schema.h"
#include "covey/config/suggest.h"
#include "config/yaml_text.h"
#include "covey/config/load.h"

namespace covey::config {

bool Assigner::Meets(const Key& key) {
  if (at_ + std::string(key.name) != path_) return false;
  found_ = true;
  return true;
}

void Assigner::Section(const Key& key, const Body& body) {
  const std::string before = at_;
  at_ += std::string(key.name) + ".";
  if (path_.starts_with(at_)) body();
  at_ = before;
}

void Assigner::Optional(const Key& key, bool present, const Body& create, const Body& body) {
  if (!path_.starts_with(at_ + std::string(key.name) + ".")) return;
  if (!present) create();
  Section(key, body);
}

void Assigner::Scalar(const Key& key, const Binding& binding) {
  if (Meets(key)) refusal_ = binding.read(text_);
}

void Assigner::Choice(const Key& key, const ChoiceBinding& binding) {
  if (!Meets(key)) return;
  if (std::find(binding.words.begin(), binding.words.end(), text_) != binding.words.end()) {
    return binding.select(text_);
  }
  const std::size_t space = text_.find(' ');
  for (const ChoiceBinding::Option& option : binding.options) {
    if (space == std::string::npos || text_.substr(0, space) != option.name) continue;
    refusal_ = option.binding.read(text_.substr(space + 1));
    if (!refusal_) binding.select(std::string(option.name));
    return;
  }
  refusal_ = Refusal{"'" + text_ + "' is not accepted", ChoiceForms(binding)};
}

void Assigner::RefuseList(const Key& key) {
  if (Meets(key)) refusal_ = Refusal{"is a list", "lists are set in the file only"};
}

void Assigner::List(const Key& key, const ListBinding&) { RefuseList(key); }
void Assigner::Items(const Key& key, const ItemsBinding&) { RefuseList(key); }
void Assigner::Kinds(const Key& key, const KindsBinding&) { RefuseList(key); }
void Assigner::Overrides(const Key& key, config::Overrides&) { RefuseList(key); }

namespace {

void Visit(Assigner& assigner, NodeConfig& config) { VisitNode(assigner, config); }
void Visit(Assigner& assigner, Experiment& experiment) { VisitExperiment(assigner, experiment); }

NodeConfig& TemplateIn(NodeConfig& config) { return config; }
NodeConfig& TemplateIn(Experiment& experiment) { return experiment.node; }

std::vector<KeyInfo> Keys(const NodeConfig&) { return DescribeNode(); }
std::vector<KeyInfo> Keys(const Experiment&) {
  std::vector<KeyInfo> keys = DescribeExperiment();
  for (KeyInfo& key : DescribeNode()) keys.push_back(std::move(key));
  return keys;
}

template <class T>
Status SetKey(T& settings, const std::string& key, std::string_view value) {
  T changed = settings;
  Assigner assigner(key, std::string(value));
  Visit(assigner, changed);
  if (!assigner.found()) {
    std::vector<std::string> paths;
    for (const KeyInfo& info : Keys(settings)) paths.push_back(info.path);
    const std::string near = Nearest(key, paths);
    return Fail(ErrorCode::kConfig, key, "unknown key",
                near.empty() ? "" : "did you mean '" + near + "'?");
  }
  if (assigner.refusal()) {
    return Fail(ErrorCode::kConfig, key, assigner.refusal()->what, assigner.refusal()->note);
  }
  Complete(TemplateIn(changed));
  settings = std::move(changed);
  return {};
}

}  // namespace

Status Set(NodeConfig& config, const std::string& key, std::string_view value) {
  return SetKey(config, key, value);
}

Status Set(Experiment& experiment, const std::string& key, std::string_view value) {
  return SetKey(experiment, key, value);
}

}  // namespace covey::config
