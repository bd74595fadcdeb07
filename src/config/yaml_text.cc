#include "config/yaml_text.h"

#include <string_view>
#include <vector>

#include "covey/config/suggest.h"

namespace covey::config {
namespace {

bool IsPlain(const std::string& text) {
  if (text.empty()) return false;
  for (const std::string_view reserved : {"null", "Null", "NULL"}) {
    if (text == reserved) return false;
  }
  const auto harmless = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
           c == '.' || c == '_';
  };
  if (!harmless(text.front()) || text == "..." || text.back() == ':') return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool inner_colon = c == ':' && i + 1 < text.size() && text[i + 1] != ' ';
    if (!harmless(c) && c != '-' && c != '%' && c != '+' && !inner_colon) return false;
  }
  return true;
}

std::string QuotedText(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace

std::string ScalarText(const Binding& binding) {
  const std::string value = binding.write();
  return !binding.text || IsPlain(value) ? value : QuotedText(value);
}

std::string ListText(const ListBinding& binding) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < binding.size(); ++i) values.push_back(ScalarText(binding.at(i)));
  if (!binding.pair.empty() && values[0] == values[1]) return values[0];
  return "[" + Joined(values) + "]";
}

std::string ChoiceText(const ChoiceBinding& binding) {
  const std::string selected = binding.selected();
  for (const ChoiceBinding::Option& option : binding.options) {
    if (option.name == selected) return "{" + selected + ": " + option.binding.write() + "}";
  }
  return selected;
}

std::string ChoiceForms(const ChoiceBinding& binding) {
  std::vector<std::string> forms = binding.words;
  for (const ChoiceBinding::Option& option : binding.options) {
    forms.push_back("{" + std::string(option.name) + ": ...}");
  }
  return "want one of " + Joined(forms);
}

}  // namespace covey::config
