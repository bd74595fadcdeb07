// A model's parameters and one mini-batch, drawn from a seed: as floats and as scalars for the
// plain network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "covey/base/random.h"
#include "covey/nn/model.h"
#include "covey/nn/reference.h"
#include "covey/tensor/flat_vector.h"

namespace covey::test {

// Everything is a float, so that float and double networks see the same numbers.
class DrawnModel {
 public:
  struct Options {
    std::size_t batch = 1;
    std::uint64_t seed = 1;
    float spread = 0.5f;  // of parameters
    bool weighted = false;
  };

  DrawnModel(const nn::ModelSpec& spec, Options options)
      : x(nn::LayoutOf(spec).size()), batch(options.batch), spec_(spec) {
    Stream stream(options.seed, 0, Purpose::kTest);
    const std::size_t symbols = nn::Symbols(spec), outputs = nn::Outputs(spec);
    for (float& value : x.view()) value = stream.Uniform(-options.spread, options.spread);
    for (std::size_t i = 0; i < batch * nn::Features(spec); ++i) {
      samples.push_back(symbols > 0 ? static_cast<float>(stream.Below(symbols))
                                    : stream.Uniform(-1.0f, 1.0f));
    }
    for (std::size_t b = 0; b < batch; ++b) {
      if (options.weighted) weights.push_back(stream.Uniform(0.0f, 2.0f));
      if (nn::HasLabels(spec)) {
        labels.push_back(static_cast<std::uint32_t>(stream.Below(outputs)));
      } else {
        DrawTargets(stream, outputs);
      }
    }
  }

  DrawnModel Copy() const {
    DrawnModel copy(spec_, {.batch = batch});
    copy.x = x.Clone();
    copy.samples = samples;
    copy.labels = labels;
    copy.targets = targets;
    copy.weights = weights;
    copy.dropout = dropout;
    return copy;
  }

  template <class T>
  static std::vector<T> As(const std::vector<float>& values) {
    return std::vector<T>(values.begin(), values.end());
  }
  template <class T>
  std::vector<T> Parameters() const {
    return std::vector<T>(x.data(), x.data() + x.size());
  }

  // What the plain network makes of it.
  template <class T>
  nn::ReferenceResult<T> Run(nn::WithGradient with_gradient) const {
    const std::vector<T> s = As<T>(samples), t = As<T>(targets), w = As<T>(weights);
    return nn::ReferenceNetwork<T>(spec_).Run(Parameters<T>(), Plain<T>(s, t, w), with_gradient);
  }

  nn::GradientCheck Check(double h, double floor) const {
    const auto s = As<double>(samples), t = As<double>(targets), w = As<double>(weights);
    return nn::CheckGradient(spec_, Parameters<double>(), Plain<double>(s, t, w), h, floor);
  }

  tensor::FlatVector x;
  std::size_t batch;
  std::vector<float> samples;
  std::vector<std::uint32_t> labels;
  std::vector<float> targets;
  std::vector<float> weights;
  std::vector<std::vector<float>> dropout;  // factors by layer, as in ReferenceBatch

 private:
  // Probabilities for the cross-entropies, anything around the outputs for the others.
  void DrawTargets(Stream& stream, std::size_t outputs) {
    float sum = 0;
    const std::size_t first = targets.size();
    const bool any = spec_.loss == nn::Loss::kMeanSquaredError || spec_.loss == nn::Loss::kHuber;
    for (std::size_t c = 0; c < outputs; ++c) {
      targets.push_back(stream.Uniform(any ? -2.0f : 0.0f, any ? 2.0f : 1.0f));
      sum += targets.back();
    }
    if (spec_.loss != nn::Loss::kCategoricalCrossEntropy) return;
    for (std::size_t c = 0; c < outputs; ++c) targets[first + c] /= sum;
  }

  template <class T>
  nn::ReferenceBatch<T> Plain(const std::vector<T>& s, const std::vector<T>& t,
                              const std::vector<T>& w) const {
    nn::ReferenceBatch<T> plain{
        .size = batch, .samples = s, .labels = labels, .targets = t, .weights = w};
    for (const auto& factors : dropout) plain.dropout.push_back(As<T>(factors));
    return plain;
  }

  nn::ModelSpec spec_;
};

}  // namespace covey::test
