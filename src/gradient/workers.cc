#include "covey/gradient/workers.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "covey/base/check.h"
#include "covey/tensor/flush_denormals.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace covey::gradient {
namespace {

// A spin takes 10 to 20 ns: together about what waking a thread costs.
constexpr int kSpins = 1000;
constexpr int kYields = 20;
constexpr std::size_t kCacheLine = 64;

void Pause() {
#if defined(__SSE2__)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Returns when `value` is no longer `old`.
void AwaitChange(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    Pause();
  }
  for (int i = 0; i < kYields; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    std::this_thread::yield();
  }
  value.wait(old, std::memory_order_acquire);
}

constexpr std::uint64_t Claims(std::uint64_t count, std::uint64_t next) {
  return count << 32 | next;
}

}  // namespace

// A part belongs to whoever moves claims_ past it. A thread that comes late to a Run, or between
// two, finds no part there or one of the present Run, never one of a Run that is over; and it reads
// task_ only once it holds a part, which keeps Run from returning.
struct Workers::Impl {
  explicit Impl(std::size_t threads) {
    for (std::size_t worker = 1; worker < threads; ++worker) {
      workers.emplace_back([this, worker] { Work(worker); });
    }
  }

  ~Impl() {
    stop.store(true, std::memory_order_relaxed);
    runs.fetch_add(1, std::memory_order_release);
    runs.notify_all();
    for (std::thread& thread : workers) thread.join();
  }

  void Work(std::size_t worker) {
    std::uint32_t seen = 0;
    for (;;) {
      AwaitChange(runs, seen);
      seen = runs.load(std::memory_order_acquire);
      if (stop.load(std::memory_order_relaxed)) return;
      if (Drain(worker) > 0) done.notify_one();
    }
  }

  // Claims and runs parts until none is left. Returns: how many.
  std::uint32_t Drain(std::size_t worker) {
    std::uint32_t mine = 0;
    std::uint64_t claim = claims.load(std::memory_order_acquire);
    for (;;) {
      const std::uint64_t part = claim & 0xffffffffu;
      if (part >= claim >> 32) return mine;
      if (!claims.compare_exchange_weak(claim, claim + 1, std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
        continue;
      }
      {
        const tensor::FlushDenormals as_the_caller(mode);
        (*task)(static_cast<std::size_t>(part), worker);
      }
      ++mine;
      done.fetch_add(1, std::memory_order_release);
      claim = claims.load(std::memory_order_acquire);
    }
  }

  void Run(std::size_t count, tensor::Task body) {
    task = body;
    mode = tensor::FlushDenormals::Current();
    done.store(0, std::memory_order_relaxed);
    claims.store(Claims(count, 0), std::memory_order_release);
    runs.fetch_add(1, std::memory_order_release);
    runs.notify_all();
    Drain(0);
    for (;;) {
      const std::uint32_t finished = done.load(std::memory_order_acquire);
      if (finished == count) return;
      AwaitChange(done, finished);
    }
  }

  std::vector<std::thread> workers;
  std::optional<tensor::Task> task;                 // of the present Run
  tensor::Numerics mode = tensor::Numerics::kFast;  // of the thread that called it
  Use use = Use::kAll;
  alignas(kCacheLine) std::atomic<std::uint64_t> claims{0};  // parts of the Run << 32 | next part
  alignas(kCacheLine) std::atomic<std::uint32_t> done{0};    // parts of the Run that are finished
  alignas(kCacheLine) std::atomic<std::uint32_t> runs{0};
  std::atomic<bool> stop{false};
};

Workers::Workers(std::size_t threads) {
  COVEY_CHECK(threads > 0 && threads <= kMost, threads);
  impl_ = std::make_unique<Impl>(threads);
}
Workers::~Workers() = default;

std::size_t Workers::width() const { return impl_->workers.size() + 1; }

void Workers::Run(std::size_t count, tensor::Task task) {
  COVEY_CHECK(count <= kMostParts, count);
  if (count <= 1 || impl_->use == Use::kOne || impl_->workers.empty()) {
    for (std::size_t part = 0; part < count; ++part) task(part, 0);
    return;
  }
  impl_->Run(count, task);
}

void Workers::use(Use use) { impl_->use = use; }
Workers::Use Workers::use() const { return impl_->use; }

}  // namespace covey::gradient
