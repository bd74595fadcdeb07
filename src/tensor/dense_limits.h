// Blocking of the dense kernels: what is worked on at once fits a 32 KiB L1 cache beside the
// weights that stream by.
#pragma once

#include <cstddef>

namespace covey::tensor {

// Forward: 112 features x 32 samples of input = 14 KiB.
inline constexpr std::size_t kPanelSamples = 32;
inline constexpr std::size_t kPanelFeatures = 112;

inline constexpr std::size_t kCacheLine = 64;  // bytes

// Weight gradient: features of one strip; seven vectors of AVX-512.
inline constexpr std::size_t kStripFeatures = 112;

}  // namespace covey::tensor
