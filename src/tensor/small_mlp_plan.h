// What SmallMlp and its kernels share: where everything of a model lies once it is packed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "covey/tensor/small_mlp.h"

namespace covey::tensor {

inline constexpr std::size_t kBlock = 32;    // samples that go through all layers together
inline constexpr std::size_t kPadding = 16;  // floats of the widest vector

constexpr std::size_t Padded(std::size_t n) { return (n + kPadding - 1) / kPadding * kPadding; }

// Rows of a weight gradient are computed four at a time; the surplus is rubbish.
constexpr std::size_t GradientRows(std::size_t units) { return (units + 3) / 4 * 4; }

// Offsets are in floats; those of a block into the scratch of a worker.
struct PlanLayer {
  std::size_t inputs = 0, units = 0;
  std::size_t in_stride = 0, out_stride = 0;  // Padded(inputs), Padded(units)
  Curve curve = Curve::kLinear;
  std::size_t x = 0;              // weights in the flat vector; the bias follows
  std::size_t across = 0;         // packed: weights [inputs][out_stride], for the way forward
  std::size_t along = 0;          // packed: weights [units][in_stride], for the way back
  std::size_t bias = 0;           // packed: [out_stride]
  std::size_t input = 0;          // block: [kBlock][in_stride]
  std::size_t output = 0;         // block: [kBlock][out_stride]
  std::size_t delta = 0;          // block: [kBlock][out_stride]
  std::size_t gradient = 0;       // part: [GradientRows(units)][in_stride]
  std::size_t bias_gradient = 0;  // part: [out_stride]
};

struct SmallMlpPlan {
  std::vector<PlanLayer> layers;
  SmallMlpShape::Loss loss = SmallMlpShape::Loss::kMeanSquaredError;
  Numerics numerics = Numerics::kFast;
  std::size_t packed_size = 0;
  std::size_t scratch_size = 0;  // of one worker
  std::size_t part_size = 0;     // gradient of one part
  std::size_t transposed = 0;    // scratch: [outputs][kBlock], softmax
  std::size_t targets = 0;       // scratch: [kBlock][out_stride]
  std::size_t loss_lanes = 0;    // scratch: [out_stride]
};

// One part: samples [begin, end). scale multiplies each sample's gradient. gradient: that of the
// part, or null for the loss alone.
struct SmallMlpPart {
  const SampleSet* samples = nullptr;
  std::size_t begin = 0, end = 0;
  float scale = 0;
  const float* packed = nullptr;
  float* scratch = nullptr;
  float* gradient = nullptr;
};

LossSum RunSmallMlpPart(const SmallMlpPlan& plan, const SmallMlpPart& part);

}  // namespace covey::tensor
