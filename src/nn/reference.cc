#include "covey/nn/reference.h"

namespace covey::nn {

GradientCheck CheckGradient(const ModelSpec& spec, std::span<const double> x,
                            std::span<const double> samples, std::span<const std::uint32_t> labels,
                            double h, double floor) {
  const ReferenceNetwork<double> network(spec);
  const auto analytic = network.Run(x, samples, labels, WithGradient::kYes).gradient;
  std::vector<double> moved(x.begin(), x.end());
  GradientCheck result;
  for (std::size_t i = 0; i < x.size(); ++i) {
    moved[i] = x[i] + h;
    const double above = network.Run(moved, samples, labels, WithGradient::kNo).loss;
    moved[i] = x[i] - h;
    const double below = network.Run(moved, samples, labels, WithGradient::kNo).loss;
    moved[i] = x[i];
    const double numeric = (above - below) / (2 * h);
    const double scale = std::max({std::abs(analytic[i]), std::abs(numeric), floor});
    const double error = std::abs(analytic[i] - numeric) / scale;
    if (error > result.worst) result = {.worst = error, .at = i};
  }
  return result;
}

}  // namespace covey::nn
