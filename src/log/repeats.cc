#include "covey/log/repeats.h"

#include <algorithm>

namespace covey::log {
namespace {

// "10min": whole units, because a line for people needs no more.
std::string Roughly(Duration duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  if (seconds < std::chrono::seconds(120)) return std::to_string(seconds.count()) + "s";
  if (seconds < std::chrono::minutes(120)) return std::to_string(seconds.count() / 60) + "min";
  return std::to_string(seconds.count() / 3600) + "h";
}

}  // namespace

Repeats::Repeats(Duration window) : window_(window) {}

std::optional<std::string> Repeats::Admit(Time now, std::string_view key) {
  auto found = keys_.find(key);
  if (found == keys_.end()) {
    if (keys_.size() >= kMaxKeys) {
      keys_.erase(std::min_element(keys_.begin(), keys_.end(), [](const auto& a, const auto& b) {
        return a.second.written < b.second.written;
      }));
    }
    keys_.emplace(key, Entry{now, 0});
    return std::string();
  }
  Entry& entry = found->second;
  if (now - entry.written < window_) {
    ++entry.left_out;
    return std::nullopt;
  }
  std::string suffix;
  if (entry.left_out > 0) {
    suffix = " (repeated " + std::to_string(entry.left_out) + "x in " +
             Roughly(now - entry.written) + ")";
  }
  entry = Entry{now, 0};
  return suffix;
}

}  // namespace covey::log
