// The text of a configuration file, and messages that point into it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace covey::config {

// A run of bytes within one line; line and column count from 0.
struct Span {
  std::size_t line = 0;
  std::size_t column = 0;
  std::size_t length = 1;
};

class SourceText {
 public:
  // `text`: UTF-8 without a byte order mark, lines end with '\n'.
  SourceText(std::string name, std::string_view text);

  const std::string& name() const { return name_; }
  // Returns: the line without its end; empty beyond the last one.
  std::string_view Line(std::size_t line) const;
  // Returns: the span of the scalar that starts at (line, column) and, when plain, reads `text`.
  Span SpanOfScalar(std::size_t line, std::size_t column, std::string_view text) const;

 private:
  std::string name_;
  std::string_view text_;
  std::vector<std::size_t> starts_;
};

// Collects the errors and warnings of one file.
class Diagnostics {
 public:
  explicit Diagnostics(const SourceText& source) : source_(source) {}

  // `note` stands behind the caret run: what to do about it. May be empty.
  void Error(Span span, std::string message, std::string note = {});
  void Warning(Span span, std::string message, std::string note = {});

  std::size_t errors() const { return errors_; }
  // Returns: every error in the order of the lines (at most kShown of them) and the closing line.
  std::string Report() const;
  std::vector<std::string> Warnings() const;

  static constexpr std::size_t kShown = 40;

 private:
  struct Entry {
    Span span;
    std::string message;
    std::string note;
  };
  std::string Render(const Entry& entry, std::string_view severity) const;

  const SourceText& source_;
  std::vector<Entry> kept_;      // of the errors; bounded
  std::vector<Entry> warnings_;  // bounded
  std::size_t errors_ = 0;
};

// Returns: `text` for a message: control characters replaced, cut to a sensible length.
std::string Shown(std::string_view text);

// Returns: Shown(text) in quotation marks.
std::string Quoted(std::string_view text);

}  // namespace covey::config
