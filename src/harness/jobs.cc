#include "covey/harness/jobs.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>

#include "covey/base/check.h"

namespace covey::harness {
namespace {

using Json = nlohmann::ordered_json;

tl::unexpected<Error> SystemFail(ErrorCode code, const std::string& path) {
  const int reason = errno;
  return Fail(reason == EACCES || reason == EPERM ? ErrorCode::kNoPermission : code, path,
              std::strerror(reason));
}

Result<std::string> ReadAll(int file, const std::string& path) {
  std::string text;
  std::string buffer(std::size_t{1} << 16, '\0');
  for (;;) {
    const ssize_t got = read(file, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemFail(ErrorCode::kIo, path);
    if (got == 0) return text;
    text.append(buffer, 0, static_cast<std::size_t>(got));
  }
}

// Returns: whether the line is a record; then `id` and `result` are set.
bool ParseLine(std::string_view line, std::string& id, std::string& result) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("job") || !json.contains("result")) return false;
  if (!json["job"].is_string()) return false;
  id = json["job"].get<std::string>();
  result = json["result"].dump();
  return true;
}

}  // namespace

Result<JobStore> JobStore::Open(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return SystemFail(ErrorCode::kCantCreate, path);
  JobStore store(file, path);
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    return Fail(ErrorCode::kTemporary, path, "another process is writing it",
                "wait until it is done, or name another folder");
  }
  const Result<std::string> text = ReadAll(file, path);
  if (!text) return tl::unexpected(text.error());
  const Result<std::size_t> whole = store.Take(*text);
  if (!whole) return tl::unexpected(whole.error());
  // What follows would otherwise become part of the torn line.
  if (*whole < text->size() && ftruncate(file, static_cast<off_t>(*whole)) != 0) {
    return SystemFail(ErrorCode::kIo, path);
  }
  return store;
}

JobStore::JobStore(JobStore&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      path_(std::move(other.path_)),
      results_(std::move(other.results_)) {}

JobStore::~JobStore() {
  if (file_ >= 0) close(file_);
}

Result<std::size_t> JobStore::Take(const std::string& text) {
  std::size_t at = 0;
  std::size_t number = 0;
  while (at < text.size()) {
    ++number;
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) break;
    std::string id;
    std::string result;
    if (!ParseLine(std::string_view(text).substr(at, end - at), id, result)) {
      if (end + 1 == text.size()) break;
      return Fail(ErrorCode::kData, path_ + ':' + std::to_string(number),
                  "is not a result of a job", "remove the line: its job will run again");
    }
    results_[id] = std::move(result);
    at = end + 1;
  }
  return at;
}

Status JobStore::Append(const std::string& job, const std::string& result) {
  const std::string line =
      "{\"job\":" + Json(job).dump(-1, ' ', false, Json::error_handler_t::replace) +
      ",\"result\":" + result + "}\n";
  COVEY_CHECK(result.find('\n') == std::string::npos, job);
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = write(file_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemFail(ErrorCode::kIo, path_);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (fdatasync(file_) != 0) return SystemFail(ErrorCode::kIo, path_);
  results_[job] = result;
  return {};
}

namespace {

// The threads of one RunJobs.
class Crew {
 public:
  Crew(const std::vector<Job>& jobs, const JobsOptions& options, JobStore& store,
       JobListener& listener)
      : jobs_(jobs), options_(options), store_(store), listener_(listener) {}

  Result<JobsEnd> Run() {
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (store_.results().contains(jobs_[i].id)) {
        ++end_.done;
        listener_.Skipped(i);
      } else {
        open_.push_back(i);
      }
    }
    std::vector<std::thread> threads;
    const std::size_t workers = std::min(options_.workers, open_.size());
    for (std::size_t i = 0; i < workers; ++i) threads.emplace_back([this] { Work(); });
    for (std::thread& thread : threads) thread.join();
    if (failure_) return tl::unexpected(*failure_);
    end_.interrupted = end_.done + end_.failed.size() < jobs_.size();
    std::sort(end_.failed.begin(), end_.failed.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    return std::move(end_);
  }

 private:
  bool Stopped() const {
    return halted_.load(std::memory_order_relaxed) || (options_.stopped && options_.stopped());
  }

  void Work() {
    for (;;) {
      std::size_t job = 0;
      {
        const std::lock_guard lock(mutex_);
        if (Stopped() || next_ == open_.size()) return;
        job = open_[next_++];
        listener_.Started(job);
      }
      const JobContext context{.stopped = [this] { return Stopped(); },
                               .progress =
                                   [this, job](double fraction) {
                                     const std::lock_guard lock(mutex_);
                                     listener_.Progress(job, fraction);
                                   }};
      const Result<std::optional<std::string>> result = jobs_[job].run(context);
      const std::lock_guard lock(mutex_);
      Take(job, result);
    }
  }

  // Requires the lock.
  void Take(std::size_t job, const Result<std::optional<std::string>>& result) {
    if (!result) {
      end_.failed.emplace_back(job, result.error());
      listener_.Failed(job, result.error());
      return;
    }
    if (!*result) return;
    if (Status stored = store_.Append(jobs_[job].id, **result); !stored) {
      failure_ = stored.error();
      halted_.store(true, std::memory_order_relaxed);
      return;
    }
    ++end_.done;
    listener_.Finished(job, **result);
  }

  const std::vector<Job>& jobs_;
  const JobsOptions& options_;
  JobStore& store_;
  JobListener& listener_;
  std::vector<std::size_t> open_;
  std::mutex mutex_;
  std::size_t next_ = 0;
  JobsEnd end_;
  std::optional<Error> failure_;
  std::atomic<bool> halted_{false};
};

}  // namespace

Result<JobsEnd> RunJobs(const std::vector<Job>& jobs, const JobsOptions& options, JobStore& store,
                        JobListener& listener) {
  COVEY_CHECK(options.workers >= 1);
  return Crew(jobs, options, store, listener).Run();
}

std::size_t WorkersOr(std::size_t wanted) {
  return wanted > 0 ? wanted : std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

}  // namespace covey::harness
