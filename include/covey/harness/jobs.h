// Many independent runs on a few threads, whose results outlive an interruption.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "covey/base/result.h"

namespace covey::harness {

// The results of finished jobs, in a file of one line for each: {"job":"<id>","result":{...}}.
//
// A line is written whole and reaches the disk before Append returns. What a power cut tore off the
// end of the file is cut away by the next Open; the job of that line runs again.
// Thread: one at a time.
class JobStore {
 public:
  // Makes the file when missing, and claims it until the store is destroyed.
  // Errors: kCantCreate, kNoPermission, kIo from the system; kTemporary when another process has
  // it; kData when a line other than the last is not such a record (the line is named).
  static Result<JobStore> Open(const std::string& path);

  JobStore(JobStore&& other) noexcept;
  JobStore& operator=(JobStore&&) = delete;
  JobStore(const JobStore&) = delete;
  JobStore& operator=(const JobStore&) = delete;
  ~JobStore();

  // JSON texts by job; of two lines of one job the later counts.
  const std::map<std::string, std::string>& results() const { return results_; }

  // Requires: `result` is the text of a JSON value without newlines.
  // Errors: kIo. The file may end in a torn line then.
  Status Append(const std::string& job, const std::string& result);

 private:
  explicit JobStore(int file, std::string path) : file_(file), path_(std::move(path)) {}
  // Reads the lines of `text`. Returns: the length of what is whole.
  Result<std::size_t> Take(const std::string& text);

  int file_ = -1;
  std::string path_;
  std::map<std::string, std::string> results_;
};

// What a running job asks and tells. Thread: that of the job.
struct JobContext {
  std::function<bool()> stopped;         // true: return soon, without a result
  std::function<void(double)> progress;  // fraction done, [0, 1]
};

struct Job {
  std::string id;            // the same for the same work in another process; names its result
  std::string title;         // for people
  std::uint64_t memory = 0;  // bytes that it needs, about; 0: unknown
  // Returns: the JSON text of its result, or nothing when it was stopped.
  std::function<Result<std::optional<std::string>>(const JobContext&)> run;
};

// Hears what becomes of jobs, by their index. Thread: any, but one at a time.
class JobListener {
 public:
  virtual ~JobListener() = default;
  virtual void Skipped(std::size_t job) = 0;  // its result was there already
  virtual void Started(std::size_t job) = 0;
  virtual void Progress(std::size_t job, double fraction) = 0;
  virtual void Finished(std::size_t job, const std::string& result) = 0;
  virtual void Failed(std::size_t job, const Error& error) = 0;
};

struct JobsEnd {
  std::size_t done = 0;                               // skipped ones included
  std::vector<std::pair<std::size_t, Error>> failed;  // by index; not stored: they run again
  bool interrupted = false;                           // some have not run
};

struct JobsOptions {
  std::size_t workers = 1;        // at least 1
  std::function<bool()> stopped;  // true once the user wants the run to end
};

// Runs the jobs that have no result in `store`, in their order, `workers` at a time, each on one
// thread. A job that fails doesn't keep others from running.
// Requires: ids are unique.
// Errors: kIo when a result can't be stored; no further job is started then.
Result<JobsEnd> RunJobs(const std::vector<Job>& jobs, const JobsOptions& options, JobStore& store,
                        JobListener& listener);

// Returns: `wanted`, or as many as there are processors when it is 0.
std::size_t WorkersOr(std::size_t wanted);

}  // namespace covey::harness
