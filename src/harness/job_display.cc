#include "harness/job_display.h"

#include <string_view>
#include <utility>

#include "harness/text.h"

namespace covey::harness {
JobDisplay::JobDisplay(const std::vector<Job>& jobs, StatusLine::Kind kind, int fd,
                       std::function<std::string(const std::string&)> summary)
    : jobs_(jobs), summary_(std::move(summary)), line_(kind, fd) {}

void JobDisplay::Skipped(std::size_t job) {
  ++done_;
  ++skipped_;
  Say(PadRight(jobs_[job].title, 28) + " kept from before");
}

void JobDisplay::Started(std::size_t job) {
  running_[job] = Running{.fraction = 0, .start = std::chrono::steady_clock::now()};
  if (line_.kind() == StatusLine::Kind::kTerminal) Show();
}

void JobDisplay::Progress(std::size_t job, double fraction) {
  running_[job].fraction = fraction;
  if (line_.Due()) Show();
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
  if (worked > 0.05 && left > 0) line += "; ETA " + Span(line_.Seconds() / worked * left);
  return line;
}

void JobDisplay::Say(const std::string& line) {
  line_.Say(line);
  if (line_.kind() == StatusLine::Kind::kTerminal) Show();
}

void JobDisplay::Show() { line_.Show(Status()); }

}  // namespace covey::harness
