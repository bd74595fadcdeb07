// Loss and gradient of a small multi-layer perceptron over many samples: what batch
// back-propagation and resilient propagation spend their time on.
//
// Equation: a_0 = the sample; a_l = f_l(W_l a_{l-1} + b_l); per sample, y = a_L, t its target or
// label:
//   kMeanSquaredError:     loss = mean_c (y_c - t_c)^2
//   kSoftmaxCrossEntropy:  loss = -log softmax(y)[label]; the last layer is linear
// Gradient of the mean loss over the samples, by back-propagation.
// Shapes: x and gradient: for each layer in order weights [units][inputs], then bias [units].
//
// How: blocks of 32 samples go through all layers and back while they stay in the L1 cache; units
// stand in lanes, sums in registers. The samples are cut into parts by their number alone, each
// part has a gradient of its own, and these are added in part order.
// Thread: one thread calls; parts run on `tasks`.
// Determinism: the same bits for any number of threads; kPortable: on every level too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "covey/tensor/flat_vector.h"
#include "covey/tensor/loss.h"
#include "covey/tensor/numerics.h"
#include "covey/tensor/rows.h"
#include "covey/tensor/tasks.h"

namespace covey::tensor {

// f(y): y; max(y, 0); y or 0.01 y below 0; tanh y; 1 / (1 + e^-y); clip(0.2 y + 0.5, 0, 1). The
// derivative at a kink is the one from the left.
enum class Curve : std::uint8_t { kLinear, kRelu, kLeakyRelu, kTanh, kSigmoid, kHardSigmoid };

struct SmallMlpShape {
  enum class Loss : std::uint8_t { kMeanSquaredError, kSoftmaxCrossEntropy };
  struct Layer {
    std::size_t units = 0;
    Curve curve = Curve::kLinear;
  };
  std::size_t inputs = 0;
  std::vector<Layer> layers = {};
  Loss loss = Loss::kMeanSquaredError;
  Numerics numerics = Numerics::kFast;
};

// Limits: beyond these, gradients of parts would take more memory and more cache than they save.
inline constexpr std::size_t kSmallMlpLayers = 8;
inline constexpr std::size_t kSmallMlpWidth = 512;         // inputs or units of a layer
inline constexpr std::size_t kSmallMlpParameters = 32768;  // weights and biases

// Returns: whether a SmallMlp may be made of `shape`: within the limits, no extent 0, and under
// cross-entropy a linear last layer.
bool IsSmallMlp(const SmallMlpShape& shape);

// Samples that lie one behind the other, whole or picked by an index list.
// Equation: value of feature f of sample i = values[place][f] * scale + offset, place = index[i],
// or i without an index; its target or label stands at the same place.
struct SampleSet {
  const void* values = nullptr;  // [.][inputs] of `element`
  Element element = Element::kFloat32;
  float scale = 1;
  float offset = 0;
  const float* targets = nullptr;         // [.][outputs]; kMeanSquaredError
  const std::uint32_t* labels = nullptr;  // [.], each below the outputs; kSoftmaxCrossEntropy ...
  const std::uint8_t* byte_labels = nullptr;  // ... or these
  const std::uint32_t* index = nullptr;       // [count], or null: the samples 0, 1, ...
  std::size_t count = 0;
};

class SmallMlp {
 public:
  // Requires: IsSmallMlp(shape); width as that of the tasks to come.
  // Cost: at most 64 gradients; allocated here, Gradient and Loss allocate nothing.
  SmallMlp(const SmallMlpShape& shape, std::size_t width);
  SmallMlp(SmallMlp&&) noexcept;
  SmallMlp& operator=(SmallMlp&&) noexcept;
  ~SmallMlp();

  std::size_t parameters() const;

  // gradient <- gradient of the mean loss at x. Requires: sizes as parameters(); samples.count > 0;
  // tasks.width() <= width.
  LossSum Gradient(ConstVectorView x, const SampleSet& samples, Tasks& tasks, VectorView gradient);

  // The loss alone. Requires: as Gradient; any count.
  LossSum Loss(ConstVectorView x, const SampleSet& samples, Tasks& tasks);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace covey::tensor
