// Words and lists of YAML, as a node file has them.
#pragma once

#include <string>
#include <vector>

namespace covey {

// A plain scalar, in quotes where it could be taken for something else.
std::string Yaml(const std::string& text);

// A number that reads back as the same float.
std::string ExactFloat(float value);

// "[a, b]", each value as `word` writes it.
template <class T, class Word>
std::string YamlList(const std::vector<T>& values, Word word) {
  std::string text;
  for (const T& value : values) text += (text.empty() ? "" : ", ") + word(value);
  return '[' + text + ']';
}

}  // namespace covey
