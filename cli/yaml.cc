#include "yaml.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace covey {

std::string Yaml(const std::string& text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '/' ||
           c == '.' || (c >= '0' && c <= '9');
  });
  const bool letter = plain && ((text[0] >= 'a' && text[0] <= 'z') ||
                                (text[0] >= 'A' && text[0] <= 'Z') || text[0] == '/');
  std::string lower = text;
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const bool word = lower == "yes" || lower == "no" || lower == "on" || lower == "off" ||
                    lower == "true" || lower == "false" || lower == "null" || lower == "y" ||
                    lower == "n";
  if (letter && !word) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + '\'';
}

std::string ExactFloat(float value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.9g", static_cast<double>(value));
  return text.data();
}

}  // namespace covey
