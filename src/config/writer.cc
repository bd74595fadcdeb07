// Settings as YAML.
#include <set>
#include <string>
#include <utility>

#include "config/assign.h"
#include "config/schema.h"
#include "config/yaml_text.h"
#include "covey/config/load.h"

namespace covey::config {
namespace {

class Writer : public Visitor {
 public:
  // `skip_per_node`: leave out what a template has not.
  explicit Writer(bool skip_per_node) : skip_per_node_(skip_per_node) {}
  // Only the keys at these paths.
  Writer(std::set<std::string> only, std::size_t depth)
      : skip_per_node_(false), only_(std::move(only)), depth_(depth) {}

  const std::string& text() const { return text_; }

  void Section(const Key& key, const Body& body) override {
    if (skip_per_node_ && key.per_node) return;
    const std::string path = std::exchange(path_, path_ + std::string(key.name) + ".");
    const std::string before = text_;
    const bool dash = dash_;
    Line(std::string(key.name) + ":");
    const std::size_t empty = text_.size();
    ++depth_;
    body();
    --depth_;
    path_ = path;
    if (text_.size() == empty) {
      text_ = before;  // nothing in it has a value
      dash_ = dash;
    }
  }

  void Optional(const Key& key, bool present, const Body&, const Body& body) override {
    if (present) Section(key, body);
  }

  void Scalar(const Key& key, const Binding& binding) override {
    if (Left(key)) return;
    const std::string value = ScalarText(binding);
    if (!value.empty()) Line(std::string(key.name) + ": " + value);
  }

  void Choice(const Key& key, const ChoiceBinding& binding) override {
    if (!Left(key)) Line(std::string(key.name) + ": " + ChoiceText(binding));
  }

  void List(const Key& key, const ListBinding& binding) override {
    if (!Left(key)) Line(std::string(key.name) + ": " + ListText(binding));
  }

  void Items(const Key& key, const ItemsBinding& binding) override {
    if (Left(key)) return;
    if (binding.size() == 0) return Line(std::string(key.name) + ": []");
    Line(std::string(key.name) + ":");
    depth_ += 2;
    for (std::size_t i = 0; i < binding.size(); ++i) {
      dash_ = true;
      binding.visit(i);
    }
    depth_ -= 2;
  }

  void Kinds(const Key& key, const KindsBinding& binding) override {
    if (Left(key)) return;
    if (binding.size() == 0) return Line(std::string(key.name) + ": []");
    Line(std::string(key.name) + ":");
    depth_ += 2;
    for (std::size_t i = 0; i < binding.size(); ++i) {
      dash_ = true;
      const KindsBinding::Kind& kind = binding.Of(i);
      const std::string name(kind.name);
      if (kind.value) {
        Line(name + ": " + ScalarText(kind.value(i)));
      } else if (kind.visit) {
        Section({kind.name, {}}, [&kind, i] { kind.visit(i); });
      } else {
        Line(name);
      }
    }
    depth_ -= 2;
  }

  void Overrides(const Key& key, config::Overrides& overrides) override {
    if (overrides.nodes.empty() && overrides.controls.set.empty()) return;
    Line(std::string(key.name) + ":");
    for (auto& [index, own] : overrides.nodes) WriteOverride(std::to_string(index), own, true);
    if (!overrides.controls.set.empty()) WriteOverride("controls", overrides.controls, false);
  }

 private:
  void WriteOverride(const std::string& name, Override& own, bool of_node) {
    NodeConfig scratch;
    std::set<std::string> paths;
    if (of_node) paths.insert("start_after");
    for (const auto& [path, value] : own.set) {
      Assigner assigner(path, value);
      VisitNode(assigner, scratch);
      paths.insert(path);
    }
    Writer inner(std::move(paths), depth_ + 2);
    VisitOverride(inner, own, scratch);
    ++depth_;
    Line(name + ":");
    --depth_;
    text_ += inner.text();
  }

  bool Left(const Key& key) const {
    if (skip_per_node_ && key.per_node) return true;
    return !only_.empty() && only_.count(path_ + std::string(key.name)) == 0;
  }

  void Line(const std::string& line) {
    std::string indent(2 * depth_, ' ');
    if (std::exchange(dash_, false)) indent[indent.size() - 2] = '-';
    text_ += indent + line + "\n";
  }

  bool skip_per_node_;
  std::set<std::string> only_;  // empty: all
  std::size_t depth_ = 0;
  std::string path_;
  bool dash_ = false;  // the next line starts an entry of a list
  std::string text_;
};

}  // namespace

std::string WriteYaml(const NodeConfig& config) {
  NodeConfig copy = config;  // a visitor may write, this one does not
  Writer writer(false);
  VisitNode(writer, copy);
  return writer.text();
}

std::string WriteYaml(const Experiment& experiment) {
  Experiment copy = experiment;
  Writer writer(true);
  VisitExperiment(writer, copy);
  return writer.text();
}

}  // namespace covey::config
