// What the layers of ReferenceNetwork have in common, and activations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "covey/nn/model.h"

namespace covey::nn::reference {

template <class T>
using Values = std::vector<T>;

// A layer on one sample's way through the network.
template <class T>
struct Place {
  const LayerInfo& info;
  const T* parameters = nullptr;  // the layer's
  const Values<T>& input;
  const T* dropout = nullptr;  // factors; null: all 1
};

// The way back.
template <class T>
struct Return {
  const Values<T>& output;
  Values<T> delta;        // gradient of the loss by the output
  T* gradient = nullptr;  // by the layer's parameters: added to
};

// A layer of kind Spec:
//   Values<T> Forward(const Place<T>&) const                 its output
//   Values<T> Backward(const Place<T>&, Return<T>) const     the gradient of the loss by its input
template <class T, class Spec>
struct Layer;

// y <- f(y).
template <class T>
void Activated(Activation activation, Values<T>& y) {
  switch (activation) {
    case Activation::kLinear:
      return;
    case Activation::kRelu:
      for (T& v : y) v = v < T{0} ? T{0} : v;
      return;
    case Activation::kLeakyRelu:
      for (T& v : y) v = v < T{0} ? static_cast<T>(0.01f) * v : v;
      return;
    case Activation::kTanh:
      for (T& v : y) v = std::tanh(v);
      return;
    case Activation::kSigmoid:
      for (T& v : y) v = T{1} / (T{1} + std::exp(-v));
      return;
    case Activation::kHardSigmoid:
      for (T& v : y) v = std::clamp(static_cast<T>(0.2f) * v + T{0.5}, T{0}, T{1});
      return;
    case Activation::kSoftmax: {
      const T greatest = *std::max_element(y.begin(), y.end());
      T sum = 0;
      for (T& v : y) sum += v = std::exp(v - greatest);
      for (T& v : y) v /= sum;
      return;
    }
  }
}

// delta <- the gradient by y, given that by z = f(y).
template <class T>
void ThroughActivation(Activation activation, const Values<T>& z, Values<T>& delta) {
  T mean = 0;  // of delta under softmax
  if (activation == Activation::kSoftmax) {
    for (std::size_t i = 0; i < z.size(); ++i) mean += z[i] * delta[i];
  }
  for (std::size_t i = 0; i < z.size(); ++i) {
    switch (activation) {
      case Activation::kLinear:
        break;
      case Activation::kRelu:
        if (!(z[i] > T{0})) delta[i] = 0;
        break;
      case Activation::kLeakyRelu:
        if (!(z[i] > T{0})) delta[i] *= static_cast<T>(0.01f);
        break;
      case Activation::kTanh:
        delta[i] *= T{1} - z[i] * z[i];
        break;
      case Activation::kSigmoid:
        delta[i] *= z[i] * (T{1} - z[i]);
        break;
      case Activation::kHardSigmoid:
        delta[i] *= z[i] > T{0} && z[i] < T{1} ? static_cast<T>(0.2f) : T{0};
        break;
      case Activation::kSoftmax:
        delta[i] = z[i] * (delta[i] - mean);
        break;
    }
  }
}

}  // namespace covey::nn::reference
