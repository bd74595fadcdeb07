#include "nn/transpose.h"

#include <algorithm>
#include <cstring>

namespace covey::nn {
namespace {

constexpr std::size_t kBlock = 16;  // floats of a cache line

// Calls take(feature, value) for the values of a row of elements of type T.
template <class T, class Take>
void ForValues(const tensor::RowInput& rows, std::size_t b, std::size_t features, Take take) {
  for (std::size_t f = 0; f < features; ++f) {
    T value;
    std::memcpy(&value, rows.rows[b] + f * sizeof(T), sizeof(T));
    take(f, static_cast<float>(value) * rows.scale + rows.offset);
  }
}

template <class Take>
void ForRow(const tensor::RowInput& rows, std::size_t b, std::size_t features, Take take) {
  switch (rows.element) {
    case tensor::Element::kUint8:
      return ForValues<std::uint8_t>(rows, b, features, take);
    case tensor::Element::kInt16:
      return ForValues<std::int16_t>(rows, b, features, take);
    case tensor::Element::kFloat32:
      return ForValues<float>(rows, b, features, take);
  }
}

}  // namespace

void ToSamples(const float* in, std::size_t features, std::size_t batch, float* out) {
  const std::size_t padded = tensor::PaddedBatch(batch);
  const std::size_t stride = SampleStride(features);
  for (std::size_t f0 = 0; f0 < stride; f0 += kBlock) {
    const std::size_t f1 = std::min(f0 + kBlock, features);
    for (std::size_t b = 0; b < batch; ++b) {
      float* to = out + b * stride;
      for (std::size_t f = f0; f < f1; ++f) to[f] = in[f * padded + b];
      for (std::size_t f = std::max(f0, f1); f < f0 + kBlock; ++f) to[f] = 0;
    }
  }
}

void ToFeatures(const float* in, std::size_t features, std::size_t batch, float* out) {
  const std::size_t padded = tensor::PaddedBatch(batch);
  const std::size_t stride = SampleStride(features);
  for (std::size_t b0 = 0; b0 < padded; b0 += kBlock) {
    const std::size_t b1 = std::min(b0 + kBlock, batch);
    for (std::size_t f = 0; f < features; ++f) {
      float* to = out + f * padded;
      for (std::size_t b = b0; b < b1; ++b) to[b] = in[b * stride + f];
      for (std::size_t b = std::max(b0, b1); b < b0 + kBlock; ++b) to[b] = 0;
    }
  }
}

void LoadRows(const tensor::RowInput& rows, std::size_t features, std::size_t batch, float* out) {
  const std::size_t stride = SampleStride(features);
  for (std::size_t b = 0; b < batch; ++b) {
    float* to = out + b * stride;
    ForRow(rows, b, features, [&](std::size_t f, float value) { to[f] = value; });
    std::fill(to + features, to + stride, 0.0f);
  }
}

void SquaresOfRows(const tensor::RowInput& rows, std::size_t features, std::size_t batch,
                   double* sums) {
  for (std::size_t b = 0; b < batch; ++b) {
    double sum = 0;
    ForRow(rows, b, features, [&](std::size_t, float value) {
      sum += static_cast<double>(value) * static_cast<double>(value);
    });
    sums[b] = sum;
  }
}

}  // namespace covey::nn
