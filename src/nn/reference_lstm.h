// Long short-term memory of ReferenceNetwork.
#pragma once

#include "nn/reference_layer.h"

namespace covey::nn::reference {

template <class T>
struct Layer<T, Lstm> {
  const Lstm& spec;

  // A time step: gates after their functions, and the state that it leaves.
  struct Step {
    Values<T> i, f, g, o, c, h;
  };

  bool IsSequence() const { return spec.output == Lstm::Output::kSequence; }

  // Returns: the values of gate 0, 1, 2 or 3 (i, f, g, o) at step t.
  Values<T> Gate(const Place<T>& at, std::size_t t, const Step& last, std::size_t gate) const {
    const std::size_t units = spec.units, features = at.info.input[1];
    const T* recurrent = at.parameters + 4 * units * features;
    const T* bias = recurrent + 4 * units * units;
    Values<T> sums(units);
    for (std::size_t u = 0; u < units; ++u) {
      const std::size_t row = gate * units + u;
      T sum = bias[row];
      for (std::size_t k = 0; k < features; ++k) {
        sum += at.parameters[row * features + k] * at.input[t * features + k];
      }
      for (std::size_t k = 0; k < units; ++k) sum += recurrent[row * units + k] * last.h[k];
      sums[u] = sum;
    }
    Activated(gate == 2 ? Activation::kTanh : spec.gates, sums);
    return sums;
  }

  Step Next(const Place<T>& at, std::size_t t, const Step& last) const {
    Step step{.i = Gate(at, t, last, 0),
              .f = Gate(at, t, last, 1),
              .g = Gate(at, t, last, 2),
              .o = Gate(at, t, last, 3),
              .c = Values<T>(spec.units),
              .h = Values<T>(spec.units)};
    for (std::size_t u = 0; u < spec.units; ++u) {
      step.c[u] = step.f[u] * last.c[u] + step.i[u] * step.g[u];
      step.h[u] = step.o[u] * std::tanh(step.c[u]);
    }
    return step;
  }

  // Returns: the state before the first step (only c and h), then each step.
  std::vector<Step> Steps(const Place<T>& at) const {
    Step state;
    state.c.assign(spec.units, T{0});
    state.h.assign(spec.units, T{0});
    std::vector<Step> steps{state};
    for (std::size_t t = 0; t < at.info.input[0]; ++t) {
      state = Next(at, t, state);
      steps.push_back(state);
    }
    return steps;
  }

  Values<T> Forward(const Place<T>& at) const {
    const std::vector<Step> steps = Steps(at);
    if (!IsSequence()) return steps.back().h;
    Values<T> output((steps.size() - 1) * spec.units);
    for (std::size_t i = 0; i < output.size(); ++i) {
      output[i] = steps[1 + i / spec.units].h[i % spec.units];
    }
    return output;
  }

  // Returns: the gradient by the sums of all gates, [4 units]. dh: by h_t. dc: by c_t along later
  // steps; becomes that by c_{t-1}.
  Values<T> ThroughStep(const Step& step, const Step& last, const Values<T>& dh,
                        Values<T>& dc) const {
    const std::size_t units = spec.units;
    Values<T> di(units), df(units), dg(units), d_o(units);
    for (std::size_t u = 0; u < units; ++u) {
      const T tanh_c = std::tanh(step.c[u]);
      d_o[u] = dh[u] * tanh_c;
      dc[u] += dh[u] * step.o[u] * (T{1} - tanh_c * tanh_c);
      df[u] = dc[u] * last.c[u];
      di[u] = dc[u] * step.g[u];
      dg[u] = dc[u] * step.i[u];
      dc[u] *= step.f[u];
    }
    ThroughActivation(spec.gates, step.i, di);
    ThroughActivation(spec.gates, step.f, df);
    ThroughActivation(Activation::kTanh, step.g, dg);
    ThroughActivation(spec.gates, step.o, d_o);
    Values<T> sums(4 * units);
    for (std::size_t u = 0; u < units; ++u) {
      sums[u] = di[u];
      sums[units + u] = df[u];
      sums[2 * units + u] = dg[u];
      sums[3 * units + u] = d_o[u];
    }
    return sums;
  }

  Values<T> Backward(const Place<T>& at, Return<T> back) const {
    const std::size_t units = spec.units, features = at.info.input[1];
    const std::size_t recurrent = 4 * units * features, bias = recurrent + 4 * units * units;
    const std::vector<Step> steps = Steps(at);
    Values<T> before(at.input.size()), dh(units), dc(units);
    for (std::size_t t = at.info.input[0]; t-- > 0;) {
      for (std::size_t u = 0; u < units; ++u) {
        if (IsSequence()) dh[u] += back.delta[t * units + u];
        if (!IsSequence() && t + 1 == at.info.input[0]) dh[u] += back.delta[u];
      }
      const Values<T> sums = ThroughStep(steps[t + 1], steps[t], dh, dc);
      dh.assign(units, T{0});
      for (std::size_t row = 0; row < 4 * units; ++row) {
        for (std::size_t k = 0; k < features; ++k) {
          back.gradient[row * features + k] += sums[row] * at.input[t * features + k];
          before[t * features + k] += sums[row] * at.parameters[row * features + k];
        }
        for (std::size_t k = 0; k < units; ++k) {
          back.gradient[recurrent + row * units + k] += sums[row] * steps[t].h[k];
          dh[k] += sums[row] * at.parameters[recurrent + row * units + k];
        }
        back.gradient[bias + row] += sums[row];
      }
    }
    return before;
  }
};

}  // namespace covey::nn::reference
