// Group and layer normalisation of ReferenceNetwork.
#pragma once

#include "nn/reference_layer.h"

namespace covey::nn::reference {

// Values that share a mean and a variance, as their indices.
using Group = std::vector<std::size_t>;

template <class T>
struct Normalisation {
  const Place<T>& at;
  T epsilon;

  std::size_t Channels() const { return at.info.input.back(); }
  T Weight(std::size_t i) const { return at.parameters[i % Channels()]; }
  T Bias(std::size_t i) const { return at.parameters[Channels() + i % Channels()]; }

  struct Moments {
    T mean = 0;
    T inverse = 0;  // 1 / sqrt(variance + epsilon)
  };
  Moments Of(const Group& group) const {
    const auto n = static_cast<T>(group.size());
    T mean = 0, variance = 0;
    for (const std::size_t i : group) mean += at.input[i] / n;
    for (const std::size_t i : group) {
      variance += (at.input[i] - mean) * (at.input[i] - mean) / n;
    }
    return {.mean = mean, .inverse = T{1} / std::sqrt(variance + epsilon)};
  }

  void Forward(const Group& group, Values<T>& output) const {
    const Moments moments = Of(group);
    for (const std::size_t i : group) {
      output[i] = (at.input[i] - moments.mean) * moments.inverse * Weight(i) + Bias(i);
    }
  }

  // With z the normalised input and e = delta * weight, both over the n values of the group:
  // before = (e - mean(e) - z mean(e z)) / sqrt(variance + epsilon).
  void Backward(const Group& group, const Values<T>& delta, T* gradient, Values<T>& before) const {
    const Moments moments = Of(group);
    const auto n = static_cast<T>(group.size());
    T mean = 0, slope = 0;
    for (const std::size_t i : group) {
      const T z = (at.input[i] - moments.mean) * moments.inverse;
      mean += delta[i] * Weight(i) / n;
      slope += delta[i] * Weight(i) * z / n;
      gradient[i % Channels()] += delta[i] * z;
      gradient[Channels() + i % Channels()] += delta[i];
    }
    for (const std::size_t i : group) {
      const T z = (at.input[i] - moments.mean) * moments.inverse;
      before[i] = (delta[i] * Weight(i) - mean - z * slope) * moments.inverse;
    }
  }
};

template <class T>
Values<T> NormForward(const Place<T>& at, const std::vector<Group>& groups, float epsilon) {
  Values<T> output(at.input.size());
  const Normalisation<T> norm{at, static_cast<T>(epsilon)};
  for (const Group& group : groups) norm.Forward(group, output);
  return output;
}

template <class T>
Values<T> NormBackward(const Place<T>& at, const Return<T>& back, const std::vector<Group>& groups,
                       float epsilon) {
  Values<T> before(at.input.size());
  const Normalisation<T> norm{at, static_cast<T>(epsilon)};
  for (const Group& group : groups) norm.Backward(group, back.delta, back.gradient, before);
  return before;
}

template <class T>
struct Layer<T, GroupNorm> {
  const GroupNorm& spec;

  std::vector<Group> Groups(const Place<T>& at) const {
    const std::size_t channels = at.info.input.back();
    std::vector<Group> groups(spec.groups);
    for (std::size_t i = 0; i < at.input.size(); ++i) {
      groups[i % channels / (channels / spec.groups)].push_back(i);
    }
    return groups;
  }
  Values<T> Forward(const Place<T>& at) const { return NormForward(at, Groups(at), spec.epsilon); }
  Values<T> Backward(const Place<T>& at, Return<T> back) const {
    return NormBackward(at, back, Groups(at), spec.epsilon);
  }
};

template <class T>
struct Layer<T, LayerNorm> {
  const LayerNorm& spec;

  std::vector<Group> Groups(const Place<T>& at) const {
    const std::size_t channels = at.info.input.back();
    std::vector<Group> groups(at.input.size() / channels);
    for (std::size_t i = 0; i < at.input.size(); ++i) groups[i / channels].push_back(i);
    return groups;
  }
  Values<T> Forward(const Place<T>& at) const { return NormForward(at, Groups(at), spec.epsilon); }
  Values<T> Backward(const Place<T>& at, Return<T> back) const {
    return NormBackward(at, back, Groups(at), spec.epsilon);
  }
};

}  // namespace covey::nn::reference
