// Makes the calling thread treat denormal numbers as zero for the life of the object.
//
// The moments of weights that get no gradient (dead units, pixels that are always black) decay into
// denormals and, rounded to nearest, stay there; every operation on them then costs some CPUs a
// hundred times the usual. No result that matters is that small.
//
// Thread: the mode belongs to the thread; nests; must end on the thread where it began.
// Determinism: the same on every x86-64 level and on arm64; elsewhere (WebAssembly) denormals stay.
#pragma once

#include <cstdint>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace covey::tensor {

class FlushDenormals {
 public:
  FlushDenormals() : before_(Read()) { Write(before_ | kFlush); }
  ~FlushDenormals() { Write(before_); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__SSE__)
  using Register = unsigned int;
  static constexpr Register kFlush = 0x8040;  // MXCSR: FTZ and DAZ
  static Register Read() { return _mm_getcsr(); }
  static void Write(Register value) { _mm_setcsr(value); }
#elif defined(__aarch64__)
  using Register = std::uint64_t;
  static constexpr Register kFlush = Register{1} << 24;  // FPCR: FZ
  static Register Read() {
    Register value;
    __asm__ volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static void Write(Register value) { __asm__ volatile("msr fpcr, %0" : : "r"(value)); }
#else
  using Register = unsigned int;
  static constexpr Register kFlush = 0;
  static Register Read() { return 0; }
  static void Write(Register) {}
#endif

  Register before_;
};

}  // namespace covey::tensor
