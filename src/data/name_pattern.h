// What the name of a file says: "s(*)_*_(*).csv" of s01_02_sp.csv is "01_sp".
#pragma once

#include <optional>
#include <string>

#include "covey/base/result.h"

namespace covey::data {

// * stands for any characters but /, what stands in parentheses is taken. A pattern with slashes
// is held against as many folders in front of the name: "(*)/*.csv" takes the folder.
class NamePattern {
 public:
  // key: where the pattern was written.
  // Errors: kConfig: nothing in parentheses, parentheses that don't fit, more than 8 stars.
  static Result<NamePattern> Of(const std::string& text, const std::string& key);
  // Returns: what is taken, parts joined by '_'; nothing when the path does not fit.
  std::optional<std::string> Take(const std::string& path) const;

 private:
  std::string text_;
};

}  // namespace covey::data
