// Parts that the pages of reports share. Text parameters named `html` are HTML, all others are
// escaped here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace covey::harness::html {

// Returns: a page up to its first heading: self-contained, without scripts, in the reader's light
// or dark scheme, light when printed.
std::string Head(std::string_view title, std::string_view eyebrow);
// Returns: its end, with a line of small print.
std::string Foot(std::string_view text);

// A figure in large letters and what it means.
std::string Card(std::string_view value, std::string_view meaning, std::string_view style = "");

std::string Figure(const std::string& drawing_html, std::string_view caption);

// Builds a table row by row. Text columns are aligned left, figures right.
class Table {
 public:
  struct Column {
    std::string name;
    bool text = false;
  };

  explicit Table(std::vector<Column> columns, std::string_view style = "");
  // Cells are HTML. Fewer cells than columns leave the last ones empty.
  void Row(const std::vector<std::string>& cells_html);
  std::string Finish();

 private:
  std::vector<Column> columns_;
  std::string html_;
};

}  // namespace covey::harness::html
