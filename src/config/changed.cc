#include "covey/config/changed.h"

#include <algorithm>

#include "config/schema.h"
#include "config/yaml_text.h"

namespace covey::config {
namespace {

using KeyTexts = std::vector<std::pair<std::string, std::string>>;

// The text of every key.
class TextCollector : public Visitor {
 public:
  KeyTexts Take() { return std::move(texts_); }

  void Section(const Key& key, const Body& body) override {
    Within(std::string(key.name) + ".", body);
  }
  void Optional(const Key& key, bool present, const Body&, const Body& body) override {
    if (present) Section(key, body);
  }
  void Scalar(const Key& key, const Binding& binding) override { Add(key, binding.write()); }
  void Choice(const Key& key, const ChoiceBinding& binding) override {
    Add(key, ChoiceText(binding));
  }
  void List(const Key& key, const ListBinding& binding) override { Add(key, ListText(binding)); }

  void Items(const Key& key, const ItemsBinding& binding) override {
    for (std::size_t i = 0; i < binding.size(); ++i) {
      Entry(key, i, {}, [&binding, i] { binding.visit(i); });
    }
  }

  void Kinds(const Key& key, const KindsBinding& binding) override {
    for (std::size_t i = 0; i < binding.size(); ++i) {
      const KindsBinding::Kind& kind = binding.Of(i);
      std::string name(kind.name);
      if (kind.value) name += ' ' + ScalarText(kind.value(i));
      Entry(key, i, name, [&kind, i] {
        if (kind.visit) kind.visit(i);
      });
    }
  }

  void Overrides(const Key&, config::Overrides&) override {}

 private:
  void Within(const std::string& more, const Body& body) {
    const std::string before = std::exchange(path_, path_ + more);
    body();
    path_ = before;
  }

  void Add(const Key& key, std::string text) {
    texts_.emplace_back(path_ + std::string(key.name), std::move(text));
  }

  // What `body` collects becomes one text.
  void Entry(const Key& key, std::size_t index, std::string text, const Body& body) {
    KeyTexts outer = std::exchange(texts_, {});
    std::string own = path_ + std::string(key.name) + '[' + std::to_string(index) + ']';
    Within(own.substr(path_.size()) + '.', body);
    for (const auto& [path, value] : texts_) {
      text += (text.empty() ? "" : ", ") + path.substr(own.size() + 1) + ' ' + value;
    }
    texts_ = std::move(outer);
    texts_.emplace_back(std::move(own), std::move(text));
  }

  std::string path_;
  KeyTexts texts_;
};

KeyTexts TextsOf(NodeConfig config) {
  TextCollector collector;
  VisitNode(collector, config);
  return collector.Take();
}

}  // namespace

std::vector<std::pair<std::string, std::string>> Changed(const NodeConfig& config,
                                                         const std::string& section) {
  const KeyTexts defaults = TextsOf(NodeConfig{});
  KeyTexts changed;
  for (auto& text : TextsOf(config)) {
    if (!text.first.starts_with(section + '.')) continue;
    if (std::find(defaults.begin(), defaults.end(), text) == defaults.end()) {
      changed.push_back(std::move(text));
    }
  }
  return changed;
}

}  // namespace covey::config
