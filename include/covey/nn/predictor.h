// Answers of a model to samples that are not in a data set: the forward pass alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "covey/nn/model.h"
#include "covey/nn/network.h"
#include "covey/tensor/flat_vector.h"

namespace covey::nn {

// Equation: a_0[f] = (raw[f] - mean[f mod n]) * scale[f mod n], n = mean.size(); outputs = the
// model's function of a_0, and where the loss takes logits their softmax (categorical
// cross-entropies) or sigmoid (the binary one).
// Cost: workspace for one batch, allocated in the constructor; Run allocates nothing.
// Thread: one at a time.
class Predictor {
 public:
  // Samples that pass through the model at once: small enough to stay in the cache.
  static constexpr std::size_t kBatch = 64;

  // mean, scale: of the normalisation that the model was trained with; not applied to symbols.
  // Requires: a valid spec; as many means as scales, a divisor of Features(spec).
  Predictor(const ModelSpec& spec, std::vector<float> mean, std::vector<float> scale);

  std::size_t features() const { return single_.features(); }
  std::size_t outputs() const { return single_.outputs(); }

  // Why a sample can't be answered.
  enum class Flaw : std::uint8_t {
    kNone,
    kNotFinite,  // a number that is infinite or not a number
    kNoSymbol    // the model reads symbols, and this is none
  };
  struct Checked {
    Flaw flaw = Flaw::kNone;
    std::size_t at = 0;  // element of `raw`
  };
  // Requires: raw.size() is a multiple of features().
  Checked Check(std::span<const float> raw) const;

  // Shapes: raw [samples][features()], outputs [samples][outputs()].
  // Requires: Check(raw) found nothing; x has the model's parameters.
  void Run(tensor::ConstVectorView x, std::span<const float> raw, std::span<float> outputs);

 private:
  void RunBatch(tensor::ConstVectorView x, std::span<const float> raw, std::span<float> outputs);
  void Finish(std::span<float> answer) const;

  ModelSpec spec_;
  std::size_t symbols_;
  std::vector<float> mean_;
  std::vector<float> scale_;
  Network single_;
  Network batch_;
  std::vector<float> values_;
  std::vector<const std::uint8_t*> rows_;
  std::vector<std::uint32_t> labels_;
  std::vector<float> target_;
  std::vector<const float*> targets_;
};

// Returns: the `count` largest values by descending value, then ascending index.
std::vector<std::size_t> Largest(std::span<const float> values, std::size_t count);

}  // namespace covey::nn
