// A dense layer over one mini-batch, drawn at random, with its input in any of the forms that the
// kernels read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "covey/tensor/dense.h"
#include "covey/tensor/flat_vector.h"

namespace covey::test {

struct DenseCase {
  enum class Form : std::uint8_t { kFeatures, kSamples, kUint8, kInt16, kFloat32 };
  tensor::DenseShape shape;
  Form form = Form::kFeatures;

  std::string Name() const {
    static constexpr const char* kForms[] = {"by feature", "by sample", "uint8", "int16", "float"};
    return std::to_string(shape.inputs) + "-" + std::to_string(shape.units) + " x " +
           std::to_string(shape.batch) + " " + kForms[static_cast<int>(form)] + " " +
           std::string(tensor::Name(shape.numerics));
  }
};

// Odd shapes, around every edge of the blocking, in every form and both numerics.
inline std::vector<DenseCase> DenseCases() {
  using tensor::DenseShape;
  std::vector<DenseShape> shapes{{1, 1, 1},     {13, 1, 3},   {1, 13, 16},    {7, 12, 17},
                                 {16, 4, 32},   {112, 13, 5}, {113, 6, 33},   {130, 3, 48},
                                 {225, 14, 31}, {49, 29, 64}, {100, 10, 100}, {20, 70, 9}};
  Stream stream(11, 0, Purpose::kTest);
  for (int i = 0; i < 6; ++i) {
    shapes.push_back({.inputs = 1 + static_cast<std::size_t>(stream.Below(140)),
                      .units = 1 + static_cast<std::size_t>(stream.Below(30)),
                      .batch = 1 + static_cast<std::size_t>(stream.Below(70))});
  }
  std::vector<DenseCase> cases;
  for (DenseShape shape : shapes) {
    for (const auto numerics : {tensor::Numerics::kFast, tensor::Numerics::kPortable}) {
      shape.numerics = numerics;
      for (int form = 0; form < 5; ++form) {
        cases.push_back({.shape = shape, .form = static_cast<DenseCase::Form>(form)});
      }
    }
  }
  return cases;
}

// Everything that a layer needs. Value() is the input as an oracle sees it.
class DenseLayer {
 public:
  explicit DenseLayer(const DenseCase& drawn)
      : shape(drawn.shape),
        padded(tensor::PaddedBatch(shape.batch)),
        bias(shape.units),
        delta(shape.units * padded),
        scratch(tensor::DenseScratchSize(shape.batch)),
        weights_(shape.units * shape.inputs + 1),
        activations_(shape.inputs * padded),
        stride_((shape.inputs + 15) / 16 * 16),
        samples_(stride_ * shape.batch) {
    Stream stream(3, static_cast<std::uint32_t>(shape.inputs), Purpose::kTest);
    for (float& w : weights_.view()) w = stream.Uniform(-1.0f, 1.0f);
    for (float& b : bias.view()) b = stream.Uniform(-1.0f, 1.0f);
    for (float& a : activations_.view()) a = std::max(stream.Uniform(-1.0f, 1.0f), 0.0f);
    for (std::size_t u = 0; u < shape.units; ++u) {
      for (std::size_t b = 0; b < shape.batch; ++b) {
        delta[u * padded + b] = stream.Uniform(-1.0f, 1.0f);
      }
    }
    switch (drawn.form) {
      case DenseCase::Form::kUint8:
        DrawRows<std::uint8_t>(tensor::Element::kUint8, 1.0f / 255, stream);
        return;
      case DenseCase::Form::kInt16:
        DrawRows<std::int16_t>(tensor::Element::kInt16, 1.0f / 32768, stream);
        return;
      case DenseCase::Form::kFloat32:
        DrawRows<float>(tensor::Element::kFloat32, 0.5f, stream);
        return;
      case DenseCase::Form::kSamples:
        for (std::size_t k = 0; k < shape.inputs; ++k) {
          for (std::size_t b = 0; b < shape.batch; ++b) {
            samples_[b * stride_ + k] = activations_[k * padded + b];
          }
        }
        input.samples = samples_.data();
        input.sample_stride = stride_;
        break;
      case DenseCase::Form::kFeatures:
        break;
    }
    input.activations = activations_.data();
  }

  double Value(std::size_t k, std::size_t b) const {
    if (input.activations != nullptr) return static_cast<double>(activations_[k * padded + b]);
    return elements_[b * shape.inputs + k] * static_cast<double>(input.rows.scale) +
           static_cast<double>(input.rows.offset);
  }

  // At an odd address: rows of weights are not aligned in general.
  float* weights() { return weights_.data() + 1; }
  // By feature, zeros where a ReLU would be off.
  const tensor::FlatVector& activations() const { return activations_; }

  tensor::DenseShape shape;
  std::size_t padded;
  tensor::DenseInput input;
  tensor::FlatVector bias, delta, scratch;

 private:
  template <class T>
  void DrawRows(tensor::Element element, float scale, Stream& stream) {
    const std::size_t size = shape.inputs * sizeof(T);
    for (std::size_t b = 0; b < shape.batch; ++b) {
      // One allocation a row, which ends where the row ends, so that a sanitizer sees any read past
      // it; the row begins at an odd address.
      memory_.emplace_back(size + 1);
      for (std::size_t k = 0; k < shape.inputs; ++k) {
        T value;
        if constexpr (sizeof(T) == 4) {
          value = stream.Uniform(-2.0f, 2.0f);
        } else {
          value = static_cast<T>(stream.Next32());
        }
        elements_.push_back(static_cast<double>(value));
        std::memcpy(memory_.back().data() + 1 + k * sizeof(T), &value, sizeof(T));
      }
    }
    for (std::size_t b = 0; b < padded; ++b) {
      rows_.push_back(memory_[b < shape.batch ? b : 0].data() + 1);
    }
    input.rows = {.rows = rows_.data(), .element = element, .scale = scale, .offset = -0.25f};
  }

  tensor::FlatVector weights_, activations_;
  std::size_t stride_;
  tensor::FlatVector samples_;
  std::vector<std::vector<std::uint8_t>> memory_;
  std::vector<const std::uint8_t*> rows_;
  std::vector<double> elements_;  // [batch][inputs]
};

}  // namespace covey::test
