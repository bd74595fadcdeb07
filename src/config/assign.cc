#include "config/assign.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "config/schema.h"
#include "covey/config/suggest.h"
#include "config/yaml_text.h"
#include "covey/config/load.h"

namespace covey::config {
namespace {

constexpr std::size_t kMostBelow = 12;  // keys of a section that a hint lists

}  // namespace

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

// A key of one node: overrides.<index>.<key>; of the controls: overrides.controls.<key>.
void Assigner::Overrides(const Key& key, config::Overrides& overrides) {
  const std::string before = at_ + std::string(key.name) + '.';
  if (!path_.starts_with(before)) return RefuseList(key);
  found_ = true;
  const std::string rest = path_.substr(before.size());
  const std::size_t dot = rest.find('.');
  const std::string who = rest.substr(0, dot);
  std::uint32_t index = 0;
  const auto [end, error] = std::from_chars(who.data(), who.data() + who.size(), index);
  const bool controls = who == "controls";
  const bool node = error == std::errc() && end == who.data() + who.size();
  if (dot == std::string::npos || !(controls || node)) {
    refusal_ = Refusal{"is no key of a node", "write " + before + "3.faults.nodes.speed, say"};
    return;
  }
  SetOwn(controls ? overrides.controls : overrides.nodes[index], rest.substr(dot + 1), controls);
}

void Assigner::SetOwn(Override& own, const std::string& key, bool of_controls) {
  Assigner inner(key, text_);
  NodeConfig scratch;
  if (of_controls) {
    VisitNode(inner, scratch);
  } else {
    VisitOverride(inner, own, scratch);
  }
  refusal_ = inner.refusal();
  if (!inner.found()) refusal_ = NoSuchKey(key, DescribeNode());
  if (refusal_ || (key == "start_after" && !of_controls)) return;
  std::erase_if(own.set, [&key](const auto& assignment) { return assignment.first == key; });
  own.set.emplace_back(key, text_);
}

Refusal NoSuchKey(const std::string& key, const std::vector<KeyInfo>& keys) {
  std::vector<std::string> paths;
  std::vector<std::string> below;
  for (const KeyInfo& info : keys) {
    paths.push_back(info.path);
    const bool list = info.path.find("[]") != std::string::npos;
    if (info.type != "section" && !list && info.path.starts_with(key + '.')) {
      below.push_back(info.path.substr(key.size() + 1));
    }
  }
  if (below.size() > kMostBelow) {
    below.resize(kMostBelow);
    below.emplace_back("...");
  }
  if (!below.empty()) return {"is a section", "its keys: " + Joined(below)};
  const std::string near = Nearest(key, paths);
  return {"unknown key", near.empty() ? "" : "did you mean '" + near + "'?"};
}

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
    const Refusal refusal = NoSuchKey(key, Keys(settings));
    return Fail(ErrorCode::kConfig, key, refusal.what, refusal.note);
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
