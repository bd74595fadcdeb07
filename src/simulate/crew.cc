#include "simulate/crew.h"

#include <utility>

namespace covey::simulate {
namespace {

// A training batch takes some 50 us: as long as this it is cheaper to look than to sleep.
constexpr int kLooks = 2000;

}  // namespace

Crew::Crew(std::size_t threads) {
  for (std::size_t lane = 1; lane < threads; ++lane) {
    workers_.emplace_back([this, lane] { Labour(lane); });
  }
}

Crew::~Crew() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  more_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

bool Crew::Job::Try(std::size_t lane) {
  int expected = kNew;
  if (!state_.compare_exchange_strong(expected, kTaken)) return false;
  work_(lane);
  work_ = nullptr;
  state_.store(kDone);
  state_.notify_all();
  return true;
}

std::shared_ptr<Crew::Job> Crew::Start(Work work) {
  auto job = std::make_shared<Job>(std::move(work));
  if (workers_.empty()) return job;
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(job);
  }
  more_.notify_one();
  return job;
}

void Crew::Wait(Job& job) {
  if (job.Try(0)) return;
  for (int look = 0; look < kLooks; ++look) {
    if (Done(job)) return;
  }
  for (int state = job.state_.load(); state != Job::kDone; state = job.state_.load()) {
    job.state_.wait(state);
  }
}

bool Crew::Done(const Job& job) { return job.state_.load() == Job::kDone; }

void Crew::Labour(std::size_t lane) {
  for (;;) {
    std::shared_ptr<Job> job;
    {
      std::unique_lock lock(mutex_);
      more_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job->Try(lane);
  }
}

}  // namespace covey::simulate
