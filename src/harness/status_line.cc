#include "harness/status_line.h"

#include "covey/harness/display.h"

namespace covey::harness {
namespace {

constexpr auto kTerminalEvery = std::chrono::milliseconds(200);
constexpr auto kLineEvery = std::chrono::seconds(10);

}  // namespace

StatusLine::StatusLine(Kind kind, int fd)
    : kind_(kind), fd_(fd), start_(std::chrono::steady_clock::now()), shown_(start_) {}

StatusLine::~StatusLine() {
  if (open_) WriteText(fd_, "\r\x1b[K");
}

double StatusLine::Seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void StatusLine::Say(const std::string& line) {
  if (kind_ == Kind::kNone) return;
  WriteText(fd_, (open_ ? "\r\x1b[K" : "") + line + '\n');
  open_ = false;
}

bool StatusLine::Due() const {
  if (kind_ == Kind::kNone) return false;
  const auto since = std::chrono::steady_clock::now() - shown_;
  return kind_ == Kind::kTerminal ? since >= kTerminalEvery : since >= kLineEvery;
}

void StatusLine::Show(const std::string& status) {
  if (kind_ == Kind::kNone) return;
  shown_ = std::chrono::steady_clock::now();
  open_ = kind_ == Kind::kTerminal;
  WriteText(fd_, open_ ? "\r" + status + "\x1b[K" : status + '\n');
}

StatusLine::Kind HowToShowStatus(bool quiet, int fd) {
  if (quiet) return StatusLine::Kind::kNone;
  const bool terminal = DetectDisplay(fd).kind == DisplayOptions::Kind::kTerminal;
  return terminal ? StatusLine::Kind::kTerminal : StatusLine::Kind::kLines;
}

}  // namespace covey::harness
