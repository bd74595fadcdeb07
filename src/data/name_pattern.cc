#include "data/name_pattern.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace covey::data {
namespace {

// One search. Cost: at most length of the pattern times length of the text, squared.
class Search {
 public:
  Search(std::string_view pattern, std::string_view text)
      : pattern_(pattern), text_(text), failed_((pattern.size() + 1) * (text.size() + 1)) {}

  // Whether what is left of the pattern fits what is left of the text.
  bool Fits(std::size_t of, std::size_t at) {
    const std::size_t here = of * (text_.size() + 1) + at;
    if (failed_[here]) return false;
    const bool fits = FitsHere(of, at);
    failed_[here] = !fits;
    return fits;
  }
  // Where parentheses stand in the text, one after the other.
  const std::vector<std::size_t>& marks() const { return marks_; }

 private:
  bool FitsHere(std::size_t of, std::size_t at) {
    if (of == pattern_.size()) return at == text_.size();
    const char c = pattern_[of];
    if (c == '(' || c == ')') {
      marks_.push_back(at);
      if (Fits(of + 1, at)) return true;
      marks_.pop_back();
      return false;
    }
    if (c != '*') return at < text_.size() && text_[at] == c && Fits(of + 1, at + 1);
    for (std::size_t end = at; true; ++end) {
      if (Fits(of + 1, end)) return true;
      if (end == text_.size() || text_[end] == '/') return false;
    }
  }

  std::string_view pattern_;
  std::string_view text_;
  std::vector<bool> failed_;
  std::vector<std::size_t> marks_;
};

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
  Search search(text_, name);
  if (!search.Fits(0, 0)) return std::nullopt;
  const std::vector<std::size_t>& marks = search.marks();
  std::string taken;
  for (std::size_t i = 0; i + 1 < marks.size(); i += 2) {
    taken += (i > 0 ? "_" : "") + std::string(name.substr(marks[i], marks[i + 1] - marks[i]));
  }
  return taken;
}

}  // namespace covey::data
