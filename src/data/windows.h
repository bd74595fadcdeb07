// Cuts rows that follow one another into windows.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace covey::data {

class WindowCutter {
 public:
  struct Settings {
    std::size_t length = 0;  // rows of a window
    std::size_t step = 0;    // rows from the start of one to that of the next
    std::size_t columns = 0;
    double agree = 0;  // least share of its rows that must have the window's class
  };
  // bytes: valid until the next call. label: the class that most rows have, the earlier of equals.
  struct Window {
    std::span<const std::uint8_t> bytes;
    std::uint32_t label = 0;
  };
  explicit WindowCutter(const Settings& settings) : s_(settings) {}

  // The next row does not follow the last one.
  void Break() {
    values_.clear();
    labels_.clear();
    skip_ = 0;
  }
  // Requires: a label below 256. Returns: the window that this row ends.
  std::optional<Window> Add(std::span<const float> row, std::uint32_t label) {
    if (labels_.size() == s_.length) Advance();
    if (skip_ > 0) {
      --skip_;
      return std::nullopt;
    }
    values_.insert(values_.end(), row.begin(), row.end());
    labels_.push_back(label);
    if (labels_.size() < s_.length) return std::nullopt;
    std::array<std::size_t, 256> rows{};
    for (const std::uint32_t one : labels_) ++rows[one];
    std::uint32_t best = labels_[0];
    for (const std::uint32_t one : labels_) {
      if (rows[one] > rows[best]) best = one;
    }
    if (static_cast<double>(rows[best]) < s_.agree * static_cast<double>(s_.length))
      return std::nullopt;
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(values_.data());
    return Window{{bytes, values_.size() * sizeof(float)}, best};
  }

 private:
  // Leaves the rows that the next window begins with.
  void Advance() {
    const std::size_t gone = std::min(s_.step, s_.length);
    skip_ = s_.step - gone;
    values_.erase(values_.begin(),
                  values_.begin() + static_cast<std::ptrdiff_t>(gone * s_.columns));
    labels_.erase(labels_.begin(), labels_.begin() + static_cast<std::ptrdiff_t>(gone));
  }

  Settings s_;
  std::vector<float> values_;
  std::vector<std::uint32_t> labels_;
  std::size_t skip_ = 0;
};

}  // namespace covey::data
