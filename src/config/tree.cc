#include "config/tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <sstream>
#include <utility>

namespace covey::config {
namespace {

// Thrown through yaml-cpp to end its work early; the fault has been reported.
struct Stop {};

Span SpanAt(const YAML::Mark& mark) {
  if (mark.is_null() || mark.line < 0 || mark.column < 0) return {};
  return {static_cast<std::size_t>(mark.line), static_cast<std::size_t>(mark.column), 1};
}

class Builder : public YAML::EventHandler {
 public:
  Builder(const SourceText& source, Diagnostics& diagnostics)
      : source_(source), diagnostics_(diagnostics) {}

  TreeNode Take() {
    while (!stack_.empty()) Close();  // what was open when the text went wrong
    return std::move(root_);
  }

  bool first_document_is_whole() const { return documents_ > 1; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ == 1) return;
    diagnostics_.Error(SpanAt(mark), "a second document starts here", "one document in a file");
    throw Stop{};
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    TreeNode node;
    // The mark of nothing is wherever the next token is; the key is a better place to point at.
    node.span = has_key() ? stack_.back().key_span : SpanAt(mark);
    Add(std::move(node));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    const Span span = SpanAt(mark);
    diagnostics_.Error(span, "aliases are not accepted", "write the value out");
    TreeNode node;
    node.kind = TreeNode::Kind::kBad;
    node.span = span;
    Add(std::move(node));
  }

  void OnAnchor(const YAML::Mark& mark, const std::string&) override {
    diagnostics_.Error(SpanAt(mark), "anchors are not accepted", "leave the & and its name out");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    TreeNode node;
    node.kind = TreeNode::Kind::kScalar;
    node.text = value;
    node.quoted = tag == "!";
    const Span at = SpanAt(mark);
    node.span = source_.SpanOfScalar(at.line, at.column, value);
    CheckTag(tag, node);
    Add(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    Open(TreeNode::Kind::kList, mark, tag);
  }
  void OnSequenceEnd() override { Close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    Open(TreeNode::Kind::kMap, mark, tag);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Level {
    TreeNode node;
    bool has_key = false;  // of a map: the key was read, its value comes next
    bool keep = false;     // whether that value counts: not for a duplicate or a bad key
    std::string key;
    Span key_span;
    std::map<std::string, Span> seen;
  };

  bool has_key() const { return !stack_.empty() && stack_.back().has_key; }

  void CheckTag(const std::string& tag, TreeNode& node) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    diagnostics_.Error(node.span, "tags such as " + Shown(tag) + " are not accepted",
                       "leave the tag out");
    node.kind = TreeNode::Kind::kBad;
  }

  void Open(TreeNode::Kind kind, const YAML::Mark& mark, const std::string& tag) {
    const Span span = SpanAt(mark);
    if (stack_.size() >= kMaxDepth) {
      diagnostics_.Error(span, "nested deeper than " + std::to_string(kMaxDepth) + " levels");
      throw Stop{};
    }
    Level level;
    level.node.kind = kind;
    level.node.span = span;
    CheckTag(tag, level.node);
    stack_.push_back(std::move(level));
  }

  void Close() {
    TreeNode node = std::move(stack_.back().node);
    stack_.pop_back();
    Add(std::move(node));
  }

  void Add(TreeNode node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Level& level = stack_.back();
    if (level.node.kind == TreeNode::Kind::kList) {
      level.node.items.push_back(std::move(node));
    } else if (level.node.kind == TreeNode::Kind::kMap) {
      if (!level.has_key) {
        AddKey(level, node);
        return;
      }
      level.has_key = false;
      if (!level.keep) return;
      level.node.entries.push_back(
          TreeEntry{std::move(level.key), level.key_span, std::move(node)});
    }
  }

  void AddKey(Level& level, const TreeNode& node) {
    level.has_key = true;
    level.keep = false;
    level.key = node.text;
    level.key_span = node.span;
    if (node.kind == TreeNode::Kind::kBad) return;
    if (node.kind != TreeNode::Kind::kScalar) {
      diagnostics_.Error(node.span, "a key must be a word");
    } else if (node.text == "<<" && !node.quoted) {
      diagnostics_.Error(node.span, "merge keys are not accepted", "write the keys out");
    } else if (const auto [first, fresh] = level.seen.emplace(node.text, node.span); !fresh) {
      diagnostics_.Error(node.span, "duplicate key '" + Shown(node.text) + "'",
                         "first given in line " + std::to_string(first->second.line + 1));
    } else {
      level.keep = true;
    }
  }

  const SourceText& source_;
  Diagnostics& diagnostics_;
  std::vector<Level> stack_;
  TreeNode root_;
  std::size_t documents_ = 0;
};

// yaml-cpp skips lines that start with '%', known directives or not.
bool HasDirective(const std::string& text, Diagnostics& diagnostics) {
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size(); ++line) {
    if (text[at] == '%') {
      diagnostics.Error({line, 0, 1}, "directives are not accepted", "leave the line out");
      return true;
    }
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) break;
    at = end + 1;
  }
  return false;
}

}  // namespace

TreeNode ParseTree(const std::string& text, const SourceText& source, Diagnostics& diagnostics,
                   bool& sound) {
  sound = false;
  if (HasDirective(text, diagnostics)) return {};
  Builder builder(source, diagnostics);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    sound = true;
  } catch (const Stop&) {
    sound = builder.first_document_is_whole();
  } catch (const YAML::Exception& failure) {
    diagnostics.Error(
        SpanAt(failure.mark), "not valid YAML: " + Shown(failure.msg),
        "look here and just before: indentation, brackets, quotes around text with ': '");
  } catch (const std::exception& failure) {
    diagnostics.Error({}, std::string("not valid YAML: ") + Shown(failure.what()));
  }
  return builder.Take();
}

std::string KindName(const TreeNode& node) {
  switch (node.kind) {
    case TreeNode::Kind::kNull:
      return "nothing";
    case TreeNode::Kind::kMap:
      return "a section";
    case TreeNode::Kind::kList:
      return "a list";
    default:
      return "'" + Shown(node.text) + "'";
  }
}

}  // namespace covey::config
