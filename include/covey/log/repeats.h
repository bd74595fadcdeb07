// Decides which of many equal log lines are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "covey/base/time.h"

namespace covey::log {

// The first line of a key passes; lines within `window` of the last one that passed are counted;
// the next one passes with the count. Keys may come from peers, so at most kMaxKeys are remembered:
// the one that was written longest ago is forgotten first, and its next line passes as a first one.
// Thread: none; the caller locks.
class Repeats {
 public:
  static constexpr std::size_t kMaxKeys = 256;

  explicit Repeats(Duration window);

  // Returns: nothing when the line is to be left out; else what to append to it: "" or
  // " (repeated 120x in 10min)".  Requires: `now` never goes back.
  std::optional<std::string> Admit(Time now, std::string_view key);

  std::size_t size() const { return keys_.size(); }

 private:
  struct Entry {
    Time written{};
    std::uint64_t left_out = 0;
  };
  Duration window_;
  std::map<std::string, Entry, std::less<>> keys_;
};

}  // namespace covey::log
