// Worker threads that run ahead: work that touches one node only starts when it is known and is
// waited for when the virtual clock needs its result.
//
// Whoever waits for work that no worker has taken yet does it himself, so a crew of no workers is a
// plain call at the time of Wait.
// Thread: Start and Wait from one thread.  Determinism: the results' alone; which thread does what
// is left open.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace covey::simulate {

class Crew {
 public:
  // `lane` is the caller's number below lanes(): memory of that lane is the work's alone.
  using Work = std::function<void(std::size_t lane)>;

  // `threads` in all, that of the caller included.
  explicit Crew(std::size_t threads);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  class Job;
  std::shared_ptr<Job> Start(Work work);
  void Wait(Job& job);
  static bool Done(const Job& job);

  std::size_t lanes() const { return workers_.size() + 1; }

 private:
  void Labour(std::size_t lane);

  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::shared_ptr<Job>> jobs_;
  bool ending_ = false;
  std::vector<std::thread> workers_;
};

class Crew::Job {
 public:
  explicit Job(Work work) : work_(std::move(work)) {}

 private:
  friend class Crew;
  enum State : int { kNew, kTaken, kDone };
  // Returns: whether it was done here.
  bool Try(std::size_t lane);

  Work work_;
  std::atomic<int> state_{kNew};
};

}  // namespace covey::simulate
