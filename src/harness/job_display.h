// Tells on standard error how far many jobs are: a line for each that ends, and what runs.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "covey/harness/jobs.h"

namespace covey::harness {

// Thread: as JobListener.
class JobDisplay final : public JobListener {
 public:
  enum class Kind : std::uint8_t { kNone, kLines, kTerminal };

  // `summary` puts a result into a few words. The jobs and it outlive the display.
  JobDisplay(const std::vector<Job>& jobs, Kind kind, int fd,
             std::function<std::string(const std::string& result)> summary);
  ~JobDisplay() override;
  JobDisplay(const JobDisplay&) = delete;
  JobDisplay& operator=(const JobDisplay&) = delete;

  void Skipped(std::size_t job) override;
  void Started(std::size_t job) override;
  void Progress(std::size_t job, double fraction) override;
  void Finished(std::size_t job, const std::string& result) override;
  void Failed(std::size_t job, const Error& error) override;

  // Returns: what runs now, in one line: "3 of 20 done; M = 1 62 %, M = 2 4 %; ETA 2 min 10 s".
  std::string Status() const;

 private:
  struct Running {
    double fraction = 0;
    std::chrono::steady_clock::time_point start;
  };

  double Seconds() const;
  void Say(const std::string& line);
  void Redraw(bool now);

  const std::vector<Job>& jobs_;
  const Kind kind_;
  const int fd_;
  const std::function<std::string(const std::string&)> summary_;
  const std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point drawn_;
  std::map<std::size_t, Running> running_;
  std::size_t done_ = 0;
  std::size_t skipped_ = 0;
  bool line_open_ = false;  // a status line without its end stands on the terminal
};

// Returns: kNone when quiet, kTerminal when `fd` is a terminal that can move its cursor.
JobDisplay::Kind HowToShowJobs(bool quiet, int fd);

}  // namespace covey::harness
