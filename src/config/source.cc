#include "config/source.h"

#include <algorithm>
#include <utility>

namespace covey::config {
namespace {

constexpr std::size_t kStored = 1000;  // messages; the rest is only counted
constexpr std::size_t kWidth = 160;    // bytes of a source line that are shown
constexpr std::size_t kLead = 60;      // of them before the fault, when the line is longer
constexpr std::size_t kShownValue = 60;

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::size_t CountCharacters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuation(c); }));
}

// Returns: the start of the character that byte `at` belongs to.
std::size_t CharacterStart(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  while (at > 0 && at < text.size() && IsContinuation(text[at])) --at;
  return at;
}

std::string WithoutTabs(std::string_view text) {
  std::string result(text);
  std::replace(result.begin(), result.end(), '\t', ' ');
  return result;
}

}  // namespace

SourceText::SourceText(std::string name, std::string_view text)
    : name_(std::move(name)), text_(text) {
  starts_.push_back(0);
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') starts_.push_back(i + 1);
  }
}

std::string_view SourceText::Line(std::size_t line) const {
  if (line >= starts_.size()) return {};
  const std::size_t begin = starts_[line];
  const std::size_t end = line + 1 < starts_.size() ? starts_[line + 1] - 1 : text_.size();
  return text_.substr(begin, end - begin);
}

Span SourceText::SpanOfScalar(std::size_t line, std::size_t column, std::string_view text) const {
  const std::string_view source = Line(line);
  if (column >= source.size()) return {line, column, 1};
  const std::string_view rest = source.substr(column);
  if (!text.empty() && rest.substr(0, text.size()) == text) return {line, column, text.size()};
  const char first = rest.front();
  if (first == '"' || first == '\'') {
    for (std::size_t i = 1; i < rest.size(); ++i) {
      if (first == '"' && rest[i] == '\\') {
        ++i;
      } else if (rest[i] == first) {
        return {line, column, i + 1};
      }
    }
  }
  return {line, column, 1};
}

void Diagnostics::Error(Span span, std::string message, std::string note) {
  ++errors_;
  if (kept_.size() >= kStored) return;
  kept_.push_back(Entry{span, std::move(message), std::move(note)});
}

void Diagnostics::Warning(Span span, std::string message, std::string note) {
  if (warnings_.size() >= kStored) return;
  warnings_.push_back(Entry{span, std::move(message), std::move(note)});
}

std::string Diagnostics::Render(const Entry& entry, std::string_view severity) const {
  const std::string_view line = source_.Line(entry.span.line);
  const std::size_t column = CharacterStart(line, entry.span.column);
  std::string text = source_.name() + ":" + std::to_string(entry.span.line + 1) + ":" +
                     std::to_string(CountCharacters(line.substr(0, column)) + 1) + ": " +
                     std::string(severity) + ": " + entry.message;
  const std::string number = std::to_string(entry.span.line + 1);
  const std::string margin(std::max<std::size_t>(5, number.size()), ' ');

  const bool long_line = line.size() > kWidth;
  const std::size_t from = long_line && column > kLead ? CharacterStart(line, column - kLead) : 0;
  const std::size_t to = CharacterStart(line, std::min(line.size(), from + kWidth));
  const std::string before =
      (from > 0 ? "..." : "") + WithoutTabs(line.substr(from, column - from));
  const std::size_t visible = to - std::min(to, column);
  const std::string_view marked = line.substr(column, std::min(entry.span.length, visible));

  text += "\n" + margin.substr(number.size()) + number + " | " + before +
          WithoutTabs(line.substr(column, visible)) + (to < line.size() ? "..." : "");
  text += "\n" + margin + " | " + std::string(CountCharacters(before), ' ') + "^";
  const std::size_t run = CountCharacters(marked);
  if (run > 1) text += std::string(run - 1, '~');
  if (!entry.note.empty()) text += " " + entry.note;
  return text;
}

std::string Diagnostics::Report() const {
  std::vector<const Entry*> order;
  for (const Entry& entry : kept_) order.push_back(&entry);
  std::stable_sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
    return std::pair(a->span.line, a->span.column) < std::pair(b->span.line, b->span.column);
  });
  std::string text;
  for (std::size_t i = 0; i < order.size() && i < kShown; ++i) {
    text += Render(*order[i], "error") + "\n";
  }
  if (errors_ > kShown) text += "... and " + std::to_string(errors_ - kShown) + " more\n";
  return text + std::to_string(errors_) + (errors_ == 1 ? " error" : " errors") +
         "; configuration not loaded.";
}

std::vector<std::string> Diagnostics::Warnings() const {
  std::vector<std::string> texts;
  for (const Entry& entry : warnings_) texts.push_back(Render(entry, "warning"));
  return texts;
}

std::string Shown(std::string_view text) {
  const bool cut = text.size() > kShownValue;
  std::string result(cut ? text.substr(0, CharacterStart(text, kShownValue)) : text);
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  if (cut) result += "...";
  return result;
}

std::string Quoted(std::string_view text) { return "'" + Shown(text) + "'"; }

}  // namespace covey::config
