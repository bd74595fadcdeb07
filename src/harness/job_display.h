// Tells on standard error how far many jobs are: a line for each that ends, and what runs.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "covey/harness/jobs.h"
#include "harness/status_line.h"

namespace covey::harness {

// Thread: as JobListener.
class JobDisplay final : public JobListener {
 public:
  // `summary` puts a result into a few words. The jobs and it outlive the display.
  JobDisplay(const std::vector<Job>& jobs, StatusLine::Kind kind, int fd,
             std::function<std::string(const std::string& result)> summary);

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

  void Say(const std::string& line);
  void Show();

  const std::vector<Job>& jobs_;
  const std::function<std::string(const std::string&)> summary_;
  StatusLine line_;
  std::map<std::size_t, Running> running_;
  std::size_t done_ = 0;
  std::size_t skipped_ = 0;
};

}  // namespace covey::harness
