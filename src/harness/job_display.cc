#include "harness/job_display.h"

#include <string_view>
#include <utility>

#include "covey/harness/display.h"
#include "harness/text.h"

namespace covey::harness {
namespace {

constexpr auto kTerminalEvery = std::chrono::milliseconds(200);
constexpr auto kLineEvery = std::chrono::seconds(10);

}  // namespace

JobDisplay::JobDisplay(const std::vector<Job>& jobs, Kind kind, int fd,
                       std::function<std::string(const std::string&)> summary)
    : jobs_(jobs),
      kind_(kind),
      fd_(fd),
      summary_(std::move(summary)),
      start_(std::chrono::steady_clock::now()),
      drawn_(start_) {}

JobDisplay::~JobDisplay() {
  if (line_open_) WriteText(fd_, "\r\x1b[K");
}

void JobDisplay::Skipped(std::size_t job) {
  ++done_;
  ++skipped_;
  Say(PadRight(jobs_[job].title, 28) + " kept from before");
}

void JobDisplay::Started(std::size_t job) {
  running_[job] = Running{.fraction = 0, .start = std::chrono::steady_clock::now()};
  if (kind_ == Kind::kTerminal) Redraw(true);
}

void JobDisplay::Progress(std::size_t job, double fraction) {
  running_[job].fraction = fraction;
  Redraw(false);
}

void JobDisplay::Finished(std::size_t job, const std::string& result) {
  const auto took = std::chrono::steady_clock::now() - running_[job].start;
  running_.erase(job);
  ++done_;
  Say(PadRight(jobs_[job].title, 28) + ' ' + summary_(result) + "  took " +
      Span(std::chrono::duration<double>(took).count()));
}

void JobDisplay::Failed(std::size_t job, const Error& error) {
  running_.erase(job);
  Say(PadRight(jobs_[job].title, 28) + " failed: " + error.Format());
}

double JobDisplay::Seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

std::string JobDisplay::Status() const {
  std::string line = std::to_string(done_) + " of " + std::to_string(jobs_.size()) + " done";
  double worked = static_cast<double>(done_ - skipped_);
  std::string_view separator = "; ";
  for (const auto& [job, running] : running_) {
    line += std::string(separator) + jobs_[job].title + ' ' + Percent(running.fraction, 0);
    worked += running.fraction;
    separator = ", ";
  }
  const double left = static_cast<double>(jobs_.size() - skipped_) - worked;
  if (worked > 0.05 && left > 0) line += "; ETA " + Span(Seconds() / worked * left);
  return line;
}

void JobDisplay::Say(const std::string& line) {
  if (kind_ == Kind::kNone) return;
  WriteText(fd_, (line_open_ ? "\r\x1b[K" : "") + line + '\n');
  line_open_ = false;
  if (kind_ == Kind::kTerminal) Redraw(true);
}

void JobDisplay::Redraw(bool now) {
  if (kind_ == Kind::kNone) return;
  const auto time = std::chrono::steady_clock::now();
  const bool terminal = kind_ == Kind::kTerminal;
  const auto every = terminal ? std::chrono::steady_clock::duration(kTerminalEvery) : kLineEvery;
  if (!now && time - drawn_ < every) return;
  drawn_ = time;
  WriteText(fd_, terminal ? "\r" + Status() + "\x1b[K" : Status() + '\n');
  line_open_ = terminal;
}

JobDisplay::Kind HowToShowJobs(bool quiet, int fd) {
  if (quiet) return JobDisplay::Kind::kNone;
  const bool terminal = DetectDisplay(fd).kind == DisplayOptions::Kind::kTerminal;
  return terminal ? JobDisplay::Kind::kTerminal : JobDisplay::Kind::kLines;
}

}  // namespace covey::harness
