// Pooling of single samples over windows that lie inside the image.
//
// Equation, over the window of each output place (i, j), c the channel:
//   max:      out[i][j][c] = max over a < size_h, b < size_w of in[i s_h + a][j s_w + b][c]
//   average:  out[i][j][c] = the sum of the same / (size_h size_w)
//
// Shapes: images by sample, HWC, SampleStride(features) apart, as in tensor/conv.h.
// Thread: free functions, safe at once on disjoint outputs.  Cost: no allocation.
// Determinism: the same bits at every level: channels in lanes, sums over ascending rows and
// columns; no products but by 1 / (size_h size_w).
#pragma once

#include <cstddef>
#include <cstdint>

namespace covey::tensor {

struct PoolShape {
  std::size_t height = 1;
  std::size_t width = 1;
  std::size_t channels = 1;
  std::size_t size_height = 1;
  std::size_t size_width = 1;
  std::size_t stride_height = 1;
  std::size_t stride_width = 1;

  // Requires, here and below: no extent or stride is 0, the window fits into the image, and the
  // image has fewer than 2^31 places.
  constexpr std::size_t out_height() const { return (height - size_height) / stride_height + 1; }
  constexpr std::size_t out_width() const { return (width - size_width) / stride_width + 1; }
  constexpr std::size_t features() const { return height * width * channels; }
  constexpr std::size_t outputs() const { return out_height() * out_width() * channels; }
};

// Also keeps in `choice` the place (row * width + column) that each output came from, the first of
// equal ones. A NaN passes.
// Shapes: input [samples][SampleStride(features)]; output, choice [samples][SampleStride(outputs)].
void MaxPoolForward(const PoolShape& shape, std::size_t samples, const float* input, float* output,
                    std::int32_t* choice);

// input_gradient = the gradient of the images; delta that of the output.
void MaxPoolBackward(const PoolShape& shape, std::size_t samples, const float* delta,
                     const std::int32_t* choice, float* input_gradient);

void AveragePoolForward(const PoolShape& shape, std::size_t samples, const float* input,
                        float* output);

void AveragePoolBackward(const PoolShape& shape, std::size_t samples, const float* delta,
                         float* input_gradient);

}  // namespace covey::tensor
