// Kernels of two-dimensional convolution over single samples: general, and fused with bias, ReLU
// and 2 x 2 max pooling.
//
// Equation (valid convolution of the padded image, out[i][j] for every i, j that fit):
//   out[i][j][f] = bias[f] + sum_{a,b,c} weights[f][a][b][c] in[i s_h + a][j s_w + b][c]
// where in[..] beyond the image is 0.
//
// Shapes: images by sample, HWC (channels fastest): sample n stands at n * SampleStride(features).
// Weights [filters][kernel_height][kernel_width][channels]. Kernels read them from a packed copy
// (PackConvWeights), which is made once a step.
// Thread: free functions, safe at once on disjoint outputs and scratch.  Cost: no allocation.
// Determinism: same build, same level: same bits; a sample's results do not depend on the others of
// its call, but for the sums over samples, which go on in order. Portable: output channels (in
// gradients of weights: the weights of one filter) stand in lanes and every sum runs over ascending
// (row, column, channel), or filters, positions, samples, so that all levels give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "covey/tensor/dense.h"
#include "covey/tensor/numerics.h"

namespace covey::tensor {

// Floats from one sample to the next in buffers by sample. The floats between are zero.
constexpr std::size_t SampleStride(std::size_t features) { return (features + 15) / 16 * 16; }

struct ConvShape {
  std::size_t height = 1;  // of the image, without padding
  std::size_t width = 1;
  std::size_t channels = 1;
  std::size_t filters = 1;
  std::size_t kernel_height = 1;
  std::size_t kernel_width = 1;
  std::size_t stride_height = 1;
  std::size_t stride_width = 1;
  std::size_t pad_top = 0;
  std::size_t pad_bottom = 0;
  std::size_t pad_left = 0;
  std::size_t pad_right = 0;

  // Requires, here and everywhere below: no extent or stride is 0 and the kernel fits into the
  // padded image.
  constexpr std::size_t out_height() const {
    return (height + pad_top + pad_bottom - kernel_height) / stride_height + 1;
  }
  constexpr std::size_t out_width() const {
    return (width + pad_left + pad_right - kernel_width) / stride_width + 1;
  }
  constexpr std::size_t features() const { return height * width * channels; }
  constexpr std::size_t outputs() const { return out_height() * out_width() * filters; }
  constexpr std::size_t weights() const {
    return filters * kernel_height * kernel_width * channels;
  }
  // After pooling 2 x 2 with stride 2; an odd last row or column is not looked at.
  constexpr std::size_t pooled_height() const { return out_height() / 2; }
  constexpr std::size_t pooled_width() const { return out_width() / 2; }
  constexpr std::size_t pooled() const { return pooled_height() * pooled_width() * filters; }
};

// Sets the padding of `shape` to "same": out = ceil(in / stride), the smaller half of the padding
// in front. Source: the convention of TensorFlow and Keras.
void PadSame(ConvShape& shape);

// Floats of a packed copy of the weights.
std::size_t PackedConvSize(const ConvShape& shape);

// Lays weights out for the functions below. Requires: packed is 64-byte aligned.
void PackConvWeights(const ConvShape& shape, const float* weights, float* packed);

// Floats of scratch, 64-byte aligned, that one call of any function below needs; content undefined.
std::size_t ConvScratchSize(const ConvShape& shape);

// Floats of the sums of gradients that the backward functions add to: weights, then bias, with the
// rows of a kernel padded.
std::size_t ConvGradientSize(const ConvShape& shape);

// The samples of one call.
struct ConvInput {
  const float* images = nullptr;  // [samples][SampleStride(features)]; 64 bytes behind the last
                                  // sample are readable
  std::size_t samples = 0;
};

// output[n] = f(convolution of image n).
// Shapes: packed and bias as made from the parameters; output [samples][SampleStride(outputs)].
void ConvForward(Numerics numerics, const ConvShape& shape, const ConvInput& input,
                 const float* packed, const float* bias, Epilogue epilogue, float* scratch,
                 float* output);

// Adds to `sums` (zeroed by the caller before the first call) the gradients of weights and bias
// summed over the samples, and sets input_gradient to the gradient of the images.
// delta: the gradient of the convolution before any activation, [samples][SampleStride(outputs)].
// input_gradient: [samples][SampleStride(features)], or null when it is not wanted.
void ConvBackward(Numerics numerics, const ConvShape& shape, const ConvInput& input,
                  const float* packed, const float* delta, float* scratch, float* sums,
                  float* input_gradient);

// Which position of a pooling window passed: row * 2 + column, or kNoChoice where ReLU made it 0.
inline constexpr std::uint8_t kNoChoice = 4;

// output[n] = max pool 2 x 2 of max(0, convolution of image n). What is not pooled is not computed;
// of equal values the first passes. A NaN passes.
// Shapes: output, choice [samples][SampleStride(pooled)].
void ConvPoolForward(Numerics numerics, const ConvShape& shape, const ConvInput& input,
                     const float* packed, const float* bias, float* scratch, float* output,
                     std::uint8_t* choice);

// As ConvBackward, through the positions that passed.
// delta: the gradient of the pooled output, [samples][SampleStride(pooled)].
void ConvPoolBackward(Numerics numerics, const ConvShape& shape, const ConvInput& input,
                      const float* packed, const float* delta, const std::uint8_t* choice,
                      float* scratch, float* sums, float* input_gradient);

// The gradients that `parts` calls left, each ConvGradientSize(shape) behind the one before, added
// in order.
// Shapes: weights as in the parameters; bias [filters].
void AddConvGradients(const ConvShape& shape, std::size_t parts, const float* sums, float* weights,
                      float* bias);

}  // namespace covey::tensor
