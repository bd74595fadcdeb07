// Losses of ReferenceNetwork, of one sample.
#pragma once

#include "nn/reference_layer.h"

namespace covey::nn::reference {

template <class T>
struct SampleLoss {
  T loss = 0;
  bool correct = false;
  Values<T> delta;  // gradient of the loss by the outputs
};

// The first of the greatest.
template <class T>
std::size_t GreatestOf(const T* values, std::size_t count) {
  return static_cast<std::size_t>(std::max_element(values, values + count) - values);
}

// -sum_c t_c log softmax(y)_c.
template <class T>
SampleLoss<T> CategoricalCrossEntropy(const Values<T>& y, const T* t) {
  const std::size_t greatest = GreatestOf(y.data(), y.size());
  T sum = 0, mass = 0;
  for (std::size_t c = 0; c < y.size(); ++c) {
    sum += std::exp(y[c] - y[greatest]);
    mass += t[c];
  }
  SampleLoss<T> result{.correct = GreatestOf(t, y.size()) == greatest,
                       .delta = Values<T>(y.size())};
  for (std::size_t c = 0; c < y.size(); ++c) {
    result.loss += t[c] == T{0} ? T{0} : t[c] * (std::log(sum) + y[greatest] - y[c]);
    result.delta[c] = mass * std::exp(y[c] - y[greatest]) / sum - t[c];
  }
  return result;
}

template <class T>
SampleLoss<T> BinaryCrossEntropy(const Values<T>& y, const T* t) {
  const auto n = static_cast<T>(y.size());
  SampleLoss<T> result{.correct = true, .delta = Values<T>(y.size())};
  for (std::size_t c = 0; c < y.size(); ++c) {
    // Without overflow: log s(y) = min(y, 0) - log(1 + e^-|y|).
    const T rest = std::log1p(std::exp(-std::abs(y[c])));
    result.loss += (std::max(y[c], T{0}) - y[c] * t[c] + rest) / n;
    result.correct = result.correct && (y[c] > T{0}) == (t[c] > T{0.5});
    result.delta[c] = (T{1} / (T{1} + std::exp(-y[c])) - t[c]) / n;
  }
  return result;
}

template <class T>
SampleLoss<T> MeanSquaredError(const Values<T>& y, const T* t) {
  const auto n = static_cast<T>(y.size());
  SampleLoss<T> result{.delta = Values<T>(y.size())};
  for (std::size_t c = 0; c < y.size(); ++c) {
    result.loss += (y[c] - t[c]) * (y[c] - t[c]) / n;
    result.delta[c] = T{2} * (y[c] - t[c]) / n;
  }
  return result;
}

template <class T>
SampleLoss<T> Huber(const Values<T>& y, const T* t, T limit) {
  const auto n = static_cast<T>(y.size());
  SampleLoss<T> result{.delta = Values<T>(y.size())};
  for (std::size_t c = 0; c < y.size(); ++c) {
    const T e = y[c] - t[c];
    const bool near = std::abs(e) <= limit;
    result.loss += (near ? e * e / T{2} : limit * (std::abs(e) - limit / T{2})) / n;
    result.delta[c] = std::clamp(e, -limit, limit) / n;
  }
  return result;
}

}  // namespace covey::nn::reference
