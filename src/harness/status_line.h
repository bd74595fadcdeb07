// What a long command tells on standard error: lines that stay, and how far it is.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace covey::harness {

// On a terminal the status is the last line, which is written over; elsewhere a plain line, rarely.
// Thread: one.
class StatusLine {
 public:
  enum class Kind : std::uint8_t { kNone, kLines, kTerminal };

  StatusLine(Kind kind, int fd);
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  Kind kind() const { return kind_; }
  double Seconds() const;  // since it was made
  // Writes a line that stays; on a terminal the status goes, until it is shown again.
  void Say(const std::string& line);
  // Whether the last status is old enough for another.
  bool Due() const;
  void Show(const std::string& status);

 private:
  const Kind kind_;
  const int fd_;
  const std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point shown_;
  bool open_ = false;  // a status without its end stands on the terminal
};

// Returns: kNone when quiet, kTerminal when `fd` is a terminal that can move its cursor.
StatusLine::Kind HowToShowStatus(bool quiet, int fd);

}  // namespace covey::harness
