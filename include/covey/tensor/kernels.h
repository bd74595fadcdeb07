// Vector kernels over float32, compiled for several CPU levels and chosen at run time.
//
// Thread: free functions, safe to call at once on disjoint outputs.
// Determinism: same build, same level: same bits. Levels differ in rounding (fused multiply-add,
// order of sums).
#pragma once

#include <string_view>
#include <vector>

#include "covey/tensor/flat_vector.h"

namespace covey::tensor {

// Returns: the level in use: "v2" (x86-64-v2), "v3" (AVX2 and FMA), "v4" (AVX-512), "neon", "wasm"
// or "scalar".
std::string_view KernelLevel();

// Returns: every level that this binary has and this CPU runs, best first.
std::vector<std::string_view> KernelLevels();

// Makes every later kernel call use `level`; an empty level gives the best one back. For tests and
// benchmarks.
// Returns: false, and changes nothing, when `level` is not one of KernelLevels().
// Thread: not while kernels run.
bool SetKernelLevel(std::string_view level);

// y += a x. Requires: equal sizes.
void Axpy(float a, ConstVectorView x, VectorView y);

// Returns: sum of squares, summed in double; the same bits on every level, as is the next one's.
double SquaredNorm(ConstVectorView x);

// Returns: sum of (a - b)^2, the differences taken and summed in double. Requires: equal sizes.
double SquaredDistance(ConstVectorView a, ConstVectorView b);

// Returns: whether every element is finite and smaller than 2^64 in magnitude: beyond that, squares
// and sums of what a peer sent would overflow. Tests bits, so no compiler flag can remove it.
bool AllFinite(ConstVectorView x);

}  // namespace covey::tensor
