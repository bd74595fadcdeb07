#include "harness/html.h"

#include <utility>

#include "harness/report_style.h"
#include "harness/text.h"

namespace covey::harness::html {

std::string Head(std::string_view title, std::string_view eyebrow) {
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
         EscapeHtml(title) + " · Covey</title>\n<style>" + std::string(kReportStyle) +
         "</style>\n</head>\n<body>\n<main>\n<p class=\"eyebrow\">" + EscapeHtml(eyebrow) +
         "</p>\n<h1>" + EscapeHtml(title) + "</h1>\n";
}

std::string Foot(std::string_view text) {
  return "<footer>" + EscapeHtml(text) + "</footer>\n</main>\n</body>\n</html>\n";
}

std::string Card(std::string_view value, std::string_view meaning, std::string_view style) {
  return "<div class=\"card " + std::string(style) + "\"><b>" + EscapeHtml(value) + "</b><span>" +
         EscapeHtml(meaning) + "</span></div>\n";
}

std::string Figure(const std::string& drawing_html, std::string_view caption) {
  if (drawing_html.empty()) return "";
  return "<figure>\n" + drawing_html + "<figcaption>" + EscapeHtml(caption) +
         "</figcaption>\n</figure>\n";
}

Table::Table(std::vector<Column> columns, std::string_view style) : columns_(std::move(columns)) {
  html_ = "<div class=\"scroll\"><table class=\"" + std::string(style) + "\">\n<thead><tr>";
  for (const Column& column : columns_) {
    html_ += std::string("<th") + (column.text ? " class=\"text\"" : "") + " scope=\"col\">" +
             EscapeHtml(column.name) + "</th>";
  }
  html_ += "</tr></thead>\n<tbody>\n";
}

void Table::Row(const std::vector<std::string>& cells_html) {
  html_ += "<tr>";
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    html_ += std::string("<td") + (columns_[i].text ? " class=\"text\"" : "") + '>' +
             (i < cells_html.size() ? cells_html[i] : "") + "</td>";
  }
  html_ += "</tr>\n";
}

std::string Table::Finish() { return html_ + "</tbody></table></div>\n"; }

}  // namespace covey::harness::html
