// Persistent threads behind tensor::Tasks: parts of one step on all of them.
//
// Parts are claimed one by one through a counter, by the caller too, so a thread that the system
// holds back has no part that others wait for: only one that it has begun. An idle worker spins for
// a few microseconds, then yields, then sleeps in the kernel; so does the caller when all that is
// left is with others, which leaves its processor to them.
// Thread: one thread calls; Run is not reentrant. Workers flush denormals, as training does
// (tensor/flush_denormals.h), and inherit the signal mask of the thread that makes them.
// Cost: Run allocates nothing and costs about a microsecond while the workers are awake; some ten,
// when they sleep, which the caller spends working.
#pragma once

#include <cstddef>
#include <memory>

#include "covey/tensor/tasks.h"

namespace covey::gradient {

class Workers final : public tensor::Tasks {
 public:
  enum class Use { kOne, kAll };

  // threads: with the caller's; 1 starts none.  Requires: 0 < threads <= kMost.
  explicit Workers(std::size_t threads);
  ~Workers() override;

  static constexpr std::size_t kMost = 256;
  static constexpr std::size_t kMostParts = (std::size_t{1} << 31) - 1;  // of one Run

  std::size_t width() const override;
  // Worker 0 is the caller. Requires: count <= kMostParts.
  void Run(std::size_t count, tensor::Task task) override;

  // kOne: later Runs stay on the calling thread and the workers sleep. At first kAll.
  void use(Use use);
  Use use() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace covey::gradient
