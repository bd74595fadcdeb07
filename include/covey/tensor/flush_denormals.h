// Makes the calling thread treat denormal numbers as zero for the life of the object; or, for
// portable numerics, keep them as every machine can.
//
// The moments of weights that get no gradient (dead units, pixels that are always black) decay into
// denormals and, rounded to nearest, stay there; every operation on them then costs some CPUs a
// hundred times the usual. No result that matters is that small.
//
// Thread: the mode belongs to the thread; nests; must end on the thread where it began.
// Determinism: WebAssembly always keeps denormals, and arm64 tells them before rounding, x86-64
// after: so portable numerics keep them, and update rules set state that became denormal to zero.
#pragma once

#include <cstdint>

#include "covey/tensor/numerics.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace covey::tensor {

class FlushDenormals {
 public:
  explicit FlushDenormals(Numerics numerics = Numerics::kFast) : before_(Read()) {
    Write(numerics == Numerics::kFast ? before_ | kFlush : before_ & ~kFlush);
  }
  ~FlushDenormals() { Write(before_); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

  // Returns: the numerics whose mode the calling thread is in, for another thread to follow.
  static Numerics Current() {
    return (Read() & kFlush) == kFlush ? Numerics::kFast : Numerics::kPortable;
  }

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
