// Counts every allocation through operator new of the program. For one source of a program only.
// ThreadSanitizer brings an operator new of its own, so that nothing is counted there: tests ask
// kCountsAllocations and skip.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_THREAD__)
#define COVEY_TEST_OWN_NEW 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define COVEY_TEST_OWN_NEW 0
#endif
#endif
#ifndef COVEY_TEST_OWN_NEW
#define COVEY_TEST_OWN_NEW 1
#endif

namespace covey::test {

inline constexpr bool kCountsAllocations = COVEY_TEST_OWN_NEW != 0;
inline std::atomic<std::size_t> allocations{0};

}  // namespace covey::test

#if COVEY_TEST_OWN_NEW
// g++ pairs an inlined malloc with the operator delete below and calls it a mismatch.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

void* operator new(std::size_t size) {
  ++covey::test::allocations;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) std::abort();
  return memory;
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  ++covey::test::allocations;
  const auto unit = static_cast<std::size_t>(alignment);
  void* memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
  if (memory == nullptr) std::abort();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
#endif  // COVEY_TEST_OWN_NEW
