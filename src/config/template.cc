// The commented node file.
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "config/schema.h"
#include "covey/config/suggest.h"
#include "config/yaml_text.h"
#include "covey/config/load.h"

namespace covey::config {
namespace {

constexpr std::size_t kColumns = 100;

constexpr std::string_view kHead =
    "# Every key of a Covey node at its default, with its unit or range and the reason for it.\n"
    "#\n"
    "# A node file needs only what is marked 'required' and what differs from here. Lines that "
    "start\n"
    "# with '#' and no space are examples of keys that have no default. Durations and sizes need "
    "a\n"
    "# unit; relative paths count from the folder that the daemon is started in; an unknown key is "
    "an\n"
    "# error.\n";

// Example values of types that have no default worth showing.
std::string Example(const Binding& binding) {
  if (binding.type == "public key") {
    return "5f1d0c3be2a94786a0c7e19d42b8f36051c2d3e4f5061728394a5b6c7d8e9f00";
  }
  if (binding.type == "HOST:PORT") return "192.168.1.7:7420";
  if (binding.type == "path") return "/var/lib/robot/samples.idx.gz";
  const std::string value = ScalarText(binding);
  return value.empty() ? "0" : value;
}

class TemplateWriter : public Visitor {
 public:
  TemplateWriter() : text_(kHead) {}
  const std::string& text() const { return text_; }

  void Section(const Key& key, const Body& body) override {
    if (depth_ == 0) text_ += "\n";
    if (explained()) Comment(std::string(key.doc) + (key.required ? " (required)" : ""));
    Line(std::string(key.name) + ":");
    ++depth_;
    body();
    --depth_;
  }

  void Optional(const Key& key, bool, const Body& create, const Body& body) override {
    create();
    const bool before = std::exchange(commented_, true);
    Section(key, body);
    commented_ = before;
  }

  void Scalar(const Key& key, const Binding& binding) override {
    std::string type = binding.words.empty() ? binding.type : "one of " + Joined(binding.words);
    if (!binding.range.empty()) type += ", " + binding.range;
    if (key.required) type += "; required";
    if (explained()) Comment(std::string(key.doc) + " [" + type + "]");
    const bool unset = binding.write().empty() && !binding.text;
    const bool before = std::exchange(commented_, commented_ || unset);
    const std::string value = commented_ ? Example(binding) : ScalarText(binding);
    Line(std::string(key.name) + ": " + value);
    commented_ = before;
  }

  void Choice(const Key& key, const ChoiceBinding& binding) override {
    Comment(std::string(key.doc));
    Line(std::string(key.name) + ": " + ChoiceText(binding));
  }

  void List(const Key& key, const ListBinding& binding) override {
    const std::size_t size = binding.size();
    const std::string values = ListText(binding);
    if (!binding.pair.empty()) return Pair(key, binding, values);
    binding.resize(1);
    const Binding element = binding.at(0);
    std::string type = "list of " + element.type;
    if (!element.range.empty()) type += ", each " + element.range;
    Comment(std::string(key.doc) + " [" + type + (key.required ? "; required]" : "]"));
    Line(std::string(key.name) + ": " + values);
    if (size != 0) return;
    commented_ = true;
    Line(std::string(key.name) + ": [" + Example(element) + "]");
    commented_ = false;
  }

  void Items(const Key& key, const ItemsBinding& binding) override {
    Comment(std::string(key.doc) + (key.required ? " [list; required]" : " [list]"));
    const bool empty = binding.size() == 0;
    if (empty) {
      Line(std::string(key.name) + ": []");
      binding.resize(1);
      commented_ = true;
    }
    Line(std::string(key.name) + ":");
    depth_ += 2;
    for (std::size_t i = 0; i < binding.size(); ++i) {
      later_item_ = i > 0;
      dash_ = true;
      binding.visit(i);
    }
    depth_ -= 2;
    later_item_ = false;
    if (empty) commented_ = false;
  }

  // The entries of the example, then one of each kind that it has not, commented.
  void Kinds(const Key& key, const KindsBinding& binding) override {
    Comment(std::string(key.doc) + " [list; required]");
    Line(std::string(key.name) + ":");
    depth_ += 2;
    std::set<std::string_view> shown;
    const std::size_t size = binding.size();
    for (std::size_t i = 0; i < size; ++i) {
      later_item_ = !shown.insert(binding.kind(i)).second;
      Entry(binding.Of(i), i);
    }
    binding.resize(size + 1);
    commented_ = true;
    later_item_ = false;
    for (const KindsBinding::Kind& kind : binding.kinds) {
      if (shown.count(kind.name) != 0) continue;
      kind.make(size);
      Entry(kind, size);
    }
    commented_ = false;
    binding.resize(size);
    depth_ -= 2;
  }

  void Overrides(const Key&, config::Overrides&) override {}

 private:
  void Entry(const KindsBinding::Kind& kind, std::size_t index) {
    dash_ = true;
    const Key key{kind.name, kind.doc};
    if (kind.value) {
      Scalar(key, kind.value(index));
    } else if (kind.visit) {
      Section(key, [&kind, index] { kind.visit(index); });
    } else {
      if (explained()) Comment(std::string(kind.doc));
      Line(std::string(kind.name));
    }
  }

  void Pair(const Key& key, const ListBinding& binding, const std::string& values) {
    const Binding element = binding.at(0);
    if (explained()) {
      Comment(std::string(key.doc) + " [" + element.type + ", " + element.range +
              ", or two: " + std::string(binding.pair) + (key.required ? "; required]" : "]"));
    }
    Line(std::string(key.name) + ": " + values);
  }

  // The keys of a list are explained at its first entry.
  bool explained() const { return !later_item_; }

  // Wraps a comment in front of a key.
  void Comment(const std::string& comment) {
    const std::size_t level = dash_ ? depth_ - 1 : depth_;
    const std::string margin = std::string(2 * level, ' ') + "#";
    std::string line = margin;
    for (std::size_t at = 0; at < comment.size();) {
      std::size_t end = comment.find(' ', at);
      if (end == std::string::npos) end = comment.size();
      if (line.size() + 1 + (end - at) > kColumns) {
        text_ += line + "\n";
        line = margin;
      }
      line += " " + comment.substr(at, end - at);
      at = end + 1;
    }
    text_ += line + "\n";
  }

  // A line that is an example gets its '#' where the outermost commented key starts.
  void Line(const std::string& line) {
    std::string indent(2 * depth_, ' ');
    if (std::exchange(dash_, false)) indent[indent.size() - 2] = '-';
    if (commented_) {
      const std::size_t at = std::min<std::size_t>(2, indent.size());
      indent.insert(at, "#");
    }
    text_ += indent + line + "\n";
  }

  std::size_t depth_ = 0;
  bool commented_ = false;
  bool later_item_ = false;
  bool dash_ = false;
  std::string text_;
};

}  // namespace

std::string NodeTemplate() {
  NodeConfig config = ExampleNode();
  TemplateWriter writer;
  VisitNode(writer, config);
  return writer.text();
}

}  // namespace covey::config
