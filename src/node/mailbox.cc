#include "node/mailbox.h"

#include <utility>

namespace covey::node {

std::vector<consensus::Message> Mailbox::Deliver(consensus::Message message) {
  std::vector<consensus::Message> evicted;
  {
    const std::lock_guard lock(mutex_);
    evicted = fifo_.Push(std::move(message));
  }
  changed_.notify_one();
  return evicted;
}

void Mailbox::Notice(consensus::Event event) {
  {
    const std::lock_guard lock(mutex_);
    notices_.push_back(std::move(event));
    has_notices_.store(true, std::memory_order_release);
  }
  changed_.notify_one();
}

std::optional<consensus::Message> Mailbox::Take() {
  const std::lock_guard lock(mutex_);
  return fifo_.Pop();
}

std::vector<consensus::Event> Mailbox::TakeNotices() {
  const std::lock_guard lock(mutex_);
  has_notices_.store(false, std::memory_order_release);
  return std::exchange(notices_, {});
}

void Mailbox::Replace(Data data) {
  {
    const std::lock_guard lock(mutex_);
    data_ = std::move(data);
  }
  changed_.notify_one();
}

std::optional<Mailbox::Data> Mailbox::TakeData() {
  const std::lock_guard lock(mutex_);
  return std::exchange(data_, std::nullopt);
}

bool Mailbox::HasMail() const {
  const std::lock_guard lock(mutex_);
  return !fifo_.empty();
}

void Mailbox::Wait(Time until) {
  std::unique_lock lock(mutex_);
  const auto ready = [this] { return !notices_.empty() || !fifo_.empty() || data_; };
  if (until == kNever) {
    changed_.wait(lock, ready);
  } else {
    changed_.wait_until(lock, clock_.At(until), ready);
  }
}

void Mailbox::WaitForNotice(Time until) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, clock_.At(until), [this] { return !notices_.empty(); });
}

FifoReport Mailbox::report() const {
  const std::lock_guard lock(mutex_);
  return {fifo_.size(), fifo_.bytes(), fifo_.counters()};
}

}  // namespace covey::node
