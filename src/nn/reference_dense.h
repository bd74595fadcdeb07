// Layers of ReferenceNetwork that don't care where a value stands: dense, activation, dropout,
// flatten, one-hot, embedding.
#pragma once

#include "nn/reference_layer.h"

namespace covey::nn::reference {

template <class T>
struct Layer<T, Dense> {
  const Dense& spec;

  Values<T> Forward(const Place<T>& at) const {
    const std::size_t inputs = at.input.size();
    const T* bias = at.parameters + spec.units * inputs;
    Values<T> output(bias, bias + spec.units);
    for (std::size_t u = 0; u < spec.units; ++u) {
      for (std::size_t k = 0; k < inputs; ++k) {
        output[u] += at.parameters[u * inputs + k] * at.input[k];
      }
    }
    Activated(spec.activation, output);
    return output;
  }

  Values<T> Backward(const Place<T>& at, Return<T> back) const {
    ThroughActivation(spec.activation, back.output, back.delta);
    const std::size_t inputs = at.input.size();
    Values<T> before(inputs);
    for (std::size_t u = 0; u < spec.units; ++u) {
      const T delta = back.delta[u];
      for (std::size_t k = 0; k < inputs; ++k) {
        back.gradient[u * inputs + k] += delta * at.input[k];
        before[k] += delta * at.parameters[u * inputs + k];
      }
      back.gradient[spec.units * inputs + u] += delta;
    }
    return before;
  }
};

template <class T>
struct Layer<T, Activate> {
  const Activate& spec;

  Values<T> Forward(const Place<T>& at) const {
    Values<T> output = at.input;
    Activated(spec.activation, output);
    return output;
  }
  Values<T> Backward(const Place<T>&, Return<T> back) const {
    ThroughActivation(spec.activation, back.output, back.delta);
    return std::move(back.delta);
  }
};

template <class T>
struct Layer<T, Dropout> {
  const Dropout& spec;

  static Values<T> Multiplied(Values<T> values, const T* factors) {
    for (std::size_t i = 0; factors != nullptr && i < values.size(); ++i) values[i] *= factors[i];
    return values;
  }
  Values<T> Forward(const Place<T>& at) const { return Multiplied(at.input, at.dropout); }
  Values<T> Backward(const Place<T>& at, Return<T> back) const {
    return Multiplied(std::move(back.delta), at.dropout);
  }
};

template <class T>
struct Layer<T, Flatten> {
  const Flatten& spec;

  Values<T> Forward(const Place<T>& at) const { return at.input; }
  Values<T> Backward(const Place<T>&, Return<T> back) const { return std::move(back.delta); }
};

template <class T>
struct Layer<T, OneHot> {
  const OneHot& spec;

  Values<T> Forward(const Place<T>& at) const {
    Values<T> output(at.input.size() * spec.symbols);
    for (std::size_t t = 0; t < at.input.size(); ++t) {
      output[t * spec.symbols + static_cast<std::size_t>(at.input[t])] = 1;
    }
    return output;
  }
  Values<T> Backward(const Place<T>& at, Return<T>) const {
    return Values<T>(at.input.size());  // symbols have no gradient
  }
};

template <class T>
struct Layer<T, Embedding> {
  const Embedding& spec;

  Values<T> Forward(const Place<T>& at) const {
    Values<T> output;
    for (const T symbol : at.input) {
      const T* vector = at.parameters + static_cast<std::size_t>(symbol) * spec.size;
      output.insert(output.end(), vector, vector + spec.size);
    }
    return output;
  }
  Values<T> Backward(const Place<T>& at, Return<T> back) const {
    for (std::size_t t = 0; t < at.input.size(); ++t) {
      T* vector = back.gradient + static_cast<std::size_t>(at.input[t]) * spec.size;
      for (std::size_t i = 0; i < spec.size; ++i) vector[i] += back.delta[t * spec.size + i];
    }
    return Values<T>(at.input.size());
  }
};

}  // namespace covey::nn::reference
