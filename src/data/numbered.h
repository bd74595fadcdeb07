// Names that become numbers while a table is read, and get their final ones at its end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "covey/base/result.h"
#include "covey/data/normalization.h"
#include "data/table_file.h"

namespace covey::data {

// Names in the order of their first appearance.
class Numbered {
 public:
  // Returns: the number of a name, new or known.
  std::uint32_t Of(std::string_view name) {
    if (last_name_ == name && !names_.empty()) return last_;
    last_name_ = name;
    const auto [found, fresh] =
        numbers_.try_emplace(last_name_, static_cast<std::uint32_t>(names_.size()));
    if (fresh) names_.push_back(last_name_);
    last_ = found->second;
    return last_;
  }
  std::optional<std::uint32_t> Known(std::string_view name) {
    if (last_name_ == name && !names_.empty()) return last_;
    const auto found = numbers_.find(std::string(name));
    if (found == numbers_.end()) return std::nullopt;
    last_name_ = name;
    last_ = found->second;
    return last_;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> names_;
  std::string last_name_;
  std::uint32_t last_ = 0;
};

// Numbers of classes: those of the names that are given, or else of all that are met.
class ClassNumbers {
 public:
  explicit ClassNumbers(const LabelNames& given);
  // Errors, without a place: kData for a class that is not given, or the 257th.
  Result<std::uint32_t> Of(std::string_view name);
  // Writes the table's end: names met are numbered by their value or in alphabetical order.
  Status Finish(TableWriter& table) const;

 private:
  const LabelNames given_;
  Numbered numbers_;
};

// Keys of a table get their final numbers: those that they are, or their places in alphabetical
// order.
void FinishKeys(const Numbered& keys, TableWriter& table);

}  // namespace covey::data
