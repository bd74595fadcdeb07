// The levels that Covey compiles its kernels for. Every file that includes Highway includes this
// first, and a kernel file includes hwy/foreach_target.h before hwy/highway.h.
//
// x86-64: SSSE3 (the v2 baseline), AVX2 and AVX-512 (AVX3); SSE4 would gain nothing measurable over
// the baseline.
// arm64: NEON; SVE would double the compile time for machines that nobody has measured.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
