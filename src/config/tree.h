// A YAML document as a tree of our own, with the position of everything in it.
//
// yaml-cpp's nodes hide what strictness needs (duplicate keys, quotes, aliases, further documents),
// so its events are taken instead.
#pragma once

#include <string>
#include <vector>

#include "config/source.h"

namespace covey::config {

struct TreeEntry;

struct TreeNode {
  enum class Kind {
    kNull,  // nothing, ~ or null
    kScalar,
    kMap,
    kList,
    kBad,  // reported already: an alias, a key that is no word
  };
  Kind kind = Kind::kNull;
  std::string text;     // of a scalar
  bool quoted = false;  // or a block scalar
  Span span;
  std::vector<TreeEntry> entries;  // of a map, in the order of the file, duplicates left out
  std::vector<TreeNode> items;     // of a list
};

struct TreeEntry {
  std::string key;
  Span key_span;
  TreeNode value;
};

// Returns: what a node is, for messages: "nothing", "a section", "a list", "'text'".
std::string KindName(const TreeNode& node);

inline constexpr std::size_t kMaxDepth = 16;
inline constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;

// Errors: reported to `diagnostics`: text that is no YAML, too deep, several documents, anchors,
// aliases, tags, merge keys, duplicate keys. What was read before a fault of syntax is returned
// nevertheless.
// Returns: the root; kNull for an empty document. `sound` becomes false when the text is no YAML.
TreeNode ParseTree(const std::string& text, const SourceText& source, Diagnostics& diagnostics,
                   bool& sound);

}  // namespace covey::config
