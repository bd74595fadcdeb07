#include "data/name_pattern.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace covey::data {
namespace {

// Where parentheses stand in a text that fits, one after the other.
bool Fits(std::string_view pattern, std::string_view text, std::size_t at,
          std::vector<std::size_t>& marks) {
  if (pattern.empty()) return at == text.size();
  const std::string_view rest = pattern.substr(1);
  if (pattern[0] == '(' || pattern[0] == ')') {
    marks.push_back(at);
    if (Fits(rest, text, at, marks)) return true;
    marks.pop_back();
    return false;
  }
  if (pattern[0] != '*') {
    return at < text.size() && text[at] == pattern[0] && Fits(rest, text, at + 1, marks);
  }
  for (std::size_t end = at; true; ++end) {
    if (Fits(rest, text, end, marks)) return true;
    if (end == text.size() || text[end] == '/') return false;
  }
}

}  // namespace

Result<NamePattern> NamePattern::Of(const std::string& text, const std::string& key) {
  constexpr std::ptrdiff_t kMostStars = 8;
  std::size_t takes = 0;
  bool open = false, fits = true;
  for (const char c : text) {
    if (c != '(' && c != ')') continue;
    fits = fits && open == (c == ')');
    open = c == '(';
    if (open) ++takes;
  }
  if (!fits || open || takes == 0 || std::count(text.begin(), text.end(), '*') > kMostStars) {
    return Fail(ErrorCode::kConfig, key, "got '" + text + "'",
                "wanted the name of a file with * for what differs, at most 8, and in parentheses "
                "what is taken: 's(*)_*.csv'");
  }
  NamePattern pattern;
  pattern.text_ = text;
  return pattern;
}

std::optional<std::string> NamePattern::Take(const std::string& path) const {
  std::size_t start = path.size();
  for (auto folders = std::count(text_.begin(), text_.end(), '/'); folders >= 0 && start > 0;
       --folders) {
    start = path.rfind('/', start - 1);
    if (start == std::string::npos) start = 0;
  }
  std::string_view name = std::string_view(path).substr(start);
  if (name.starts_with('/') && !text_.starts_with('/')) name.remove_prefix(1);
  std::vector<std::size_t> marks;
  if (!Fits(text_, name, 0, marks)) return std::nullopt;
  std::string taken;
  for (std::size_t i = 0; i + 1 < marks.size(); i += 2) {
    taken += (i > 0 ? "_" : "") + std::string(name.substr(marks[i], marks[i + 1] - marks[i]));
  }
  return taken;
}

}  // namespace covey::data
