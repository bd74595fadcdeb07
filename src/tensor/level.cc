#include <cstdint>

#include "covey/tensor/kernels.h"

// clang-format off: the levels are chosen before Highway is read.
#include "tensor/simd.h"
#include "hwy/highway.h"
// clang-format on

namespace covey::tensor {
namespace {

std::string_view NameOf(std::int64_t target) {
  switch (target) {
    case HWY_AVX3:
    case HWY_AVX3_DL:
      return "v4";
    case HWY_AVX2:
      return "v3";
    case HWY_SSE4:
    case HWY_SSSE3:
      return "v2";
    case HWY_NEON:
      return "neon";
    case HWY_WASM:
    case HWY_WASM_EMU256:
      return "wasm";
    default:
      return "scalar";
  }
}

// Better targets have lower bits.
std::int64_t Best(std::int64_t targets) { return targets & -targets; }

#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0
// One level only (arm64, WebAssembly): calls are not dispatched, and Highway's library, which asks
// the CPU, need not exist.
std::int64_t Supported() { return HWY_TARGETS; }
void Choose(std::int64_t) {}
#else
std::int64_t Supported() { return hwy::SupportedTargets() & HWY_TARGETS; }
void Choose(std::int64_t target) {
  hwy::SetSupportedTargetsForTest(target);
  hwy::GetChosenTarget().Update(target);
}
#endif

// What this binary has and this CPU runs, read before any test narrows it.
std::int64_t Available() {
  static const std::int64_t available = Supported();
  return available;
}

}  // namespace

std::string_view KernelLevel() {
  Available();
  return NameOf(Best(Supported()));
}

std::vector<std::string_view> KernelLevels() {
  std::vector<std::string_view> levels;
  for (std::int64_t rest = Available(); rest != 0; rest &= rest - 1) {
    levels.push_back(NameOf(Best(rest)));
  }
  return levels;
}

bool SetKernelLevel(std::string_view level) {
  std::int64_t chosen = level.empty() ? Available() : 0;
  for (std::int64_t rest = Available(); rest != 0; rest &= rest - 1) {
    if (NameOf(Best(rest)) == level) chosen = Best(rest);
  }
  if (chosen == 0) return false;
  Choose(chosen);
  return true;
}

}  // namespace covey::tensor
