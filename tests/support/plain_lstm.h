// One LSTM layer in plain loops over doubles, sample by sample: the oracle of the kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "covey/tensor/lstm.h"

namespace covey::test {

class PlainLstm {
 public:
  explicit PlainLstm(const tensor::LstmShape& shape) : s_(shape) {}

  std::size_t parameters() const { return 4 * s_.units * (s_.inputs + s_.units + 1); }
  std::size_t outputs() const {
    return s_.output == tensor::LstmOutputKind::kSequence ? s_.steps * s_.units : s_.units;
  }

  // Shapes: w [parameters()] (weight_ih, weight_hh, bias), x [steps][inputs] of one sample.
  // Returns: [outputs()].
  std::vector<double> Forward(const std::vector<double>& w, const std::vector<double>& x) {
    const std::size_t n = s_.units;
    steps_.assign(s_.steps, Step(n));
    std::vector<double> h(n), c(n), out;
    for (std::size_t t = 0; t < s_.steps; ++t) {
      Step& step = steps_[t];
      for (std::size_t j = 0; j < 4 * n; ++j) {
        double z = w[Bias() + j];
        for (std::size_t k = 0; k < s_.inputs; ++k) {
          z += w[j * s_.inputs + k] * x[t * s_.inputs + k];
        }
        for (std::size_t k = 0; k < n; ++k) z += w[Recurrent() + j * n + k] * h[k];
        step.gate[j] = j / n == 2 ? std::tanh(z) : Gate(z);
      }
      for (std::size_t u = 0; u < n; ++u) {
        c[u] = step.gate[n + u] * c[u] + step.gate[u] * step.gate[2 * n + u];
        h[u] = step.gate[3 * n + u] * std::tanh(c[u]);
      }
      step.c = c;
      step.h = h;
      if (s_.output == tensor::LstmOutputKind::kSequence || t + 1 == s_.steps) {
        out.insert(out.end(), h.begin(), h.end());
      }
    }
    return out;
  }

  // After Forward of the same sample: adds the gradients of sum(delta * output) to dw and dx.
  void Backward(const std::vector<double>& w, const std::vector<double>& x,
                const std::vector<double>& delta, std::vector<double>& dw,
                std::vector<double>& dx) const {
    const std::size_t n = s_.units;
    const bool sequence = s_.output == tensor::LstmOutputKind::kSequence;
    std::vector<double> dh(n), dc(n), dz(4 * n);
    const std::vector<double> zero(n);
    for (std::size_t t = s_.steps; t-- > 0;) {
      const Step& step = steps_[t];
      const std::vector<double>& c_before = t == 0 ? zero : steps_[t - 1].c;
      const std::vector<double>& h_before = t == 0 ? zero : steps_[t - 1].h;
      for (std::size_t u = 0; u < n; ++u) {
        if (sequence || t + 1 == s_.steps) dh[u] += delta[(sequence ? t * n : 0) + u];
        const double i = step.gate[u], f = step.gate[n + u];
        const double g = step.gate[2 * n + u], o = step.gate[3 * n + u];
        const double tanh_c = std::tanh(step.c[u]);
        dc[u] += dh[u] * o * (1 - tanh_c * tanh_c);
        dz[u] = dc[u] * g * Slope(i);
        dz[n + u] = dc[u] * c_before[u] * Slope(f);
        dz[2 * n + u] = dc[u] * i * (1 - g * g);
        dz[3 * n + u] = dh[u] * tanh_c * Slope(o);
        dc[u] *= f;
        dh[u] = 0;
      }
      for (std::size_t j = 0; j < 4 * n; ++j) {
        dw[Bias() + j] += dz[j];
        for (std::size_t k = 0; k < s_.inputs; ++k) {
          dw[j * s_.inputs + k] += dz[j] * x[t * s_.inputs + k];
          dx[t * s_.inputs + k] += dz[j] * w[j * s_.inputs + k];
        }
        for (std::size_t k = 0; k < n; ++k) {
          dw[Recurrent() + j * n + k] += dz[j] * h_before[k];
          dh[k] += dz[j] * w[Recurrent() + j * n + k];
        }
      }
    }
  }

 private:
  struct Step {
    explicit Step(std::size_t n) : gate(4 * n), c(n), h(n) {}
    std::vector<double> gate, c, h;  // gate: s(z) or tanh(z), in the order i, f, g, o
  };

  std::size_t Recurrent() const { return 4 * s_.units * s_.inputs; }
  std::size_t Bias() const { return Recurrent() + 4 * s_.units * s_.units; }
  double Gate(double z) const {
    if (s_.gates == tensor::LstmGates::kSigmoid) return 1 / (1 + std::exp(-z));
    return std::clamp(0.2 * z + 0.5, 0.0, 1.0);
  }
  double Slope(double s) const {
    if (s_.gates == tensor::LstmGates::kSigmoid) return s * (1 - s);
    return s > 0 && s < 1 ? 0.2 : 0.0;
  }

  tensor::LstmShape s_;
  std::vector<Step> steps_;
};

}  // namespace covey::test
