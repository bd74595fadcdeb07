// What a node file says about its optimizer: a value without state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "covey/base/result.h"
#include "covey/optim/schedule.h"

namespace covey::optim {

// Applied to the mean gradient of a batch, by norm first; weight decay comes after. 0: off.
struct Clip {
  float norm = 0;   // the gradient is scaled down to this Euclidean norm over all parameters
  float value = 0;  // each element is held within [-value, value]

  bool operator==(const Clip&) const = default;
};

struct Settings {
  enum class Kind : std::uint8_t {
    kSgd,
    kAdam,
    kAdamW,
    kRmsProp,
    kQuasiGlobal,
    kBackprop,
    kRpropMinus,
    kRpropPlus,
    kIrpropMinus,
    kIrpropPlus
  };
  Kind kind = Kind::kAdam;
  float learning_rate = 1e-3f;  // not for resilient propagation
  // Added to the gradient as weight_decay x (L2), for biases too; adamw: decoupled from it.
  float weight_decay = 0;
  float momentum = 0;      // sgd, rmsprop
  bool nesterov = false;   // sgd with momentum
  float beta1 = 0.9f;      // adam, adamw: the defaults of Keras
  float beta2 = 0.999f;    // adam, adamw
  float epsilon = 1e-7f;   // adam, adamw: added to the root; rmsprop: inside it
  float decay = 0.9f;      // rmsprop: of the mean square; as in Keras and TensorFlow.js
  float beta = 0.9f;       // quasi_global
  float mu = 0.9f;         // quasi_global
  float mixing_limit = 4;  // quasi_global: of mixing against training, in a round
  float correction = 0;    // quasi_global: share of mixing that corrects local steps; 0: off
  float correction_fade = 0.001f;  // quasi_global: of the correction that is forgotten in a round
  // sgd, adam, adamw, rmsprop: the moving averages are part of the exchanged vector.
  bool exchanged = false;
  float blend = 0.9f;      // backprop: share of the present gradient, (0.5, 1]
  float eta_minus = 0.5f;  // resilient propagation, as published and in PyTorch and FANN
  float eta_plus = 1.2f;
  float step_initial = 0.1f;  // Riedmiller & Braun, FANN; PyTorch: its learning rate, 0.01
  float step_min = 1e-6f;     // Riedmiller & Braun, PyTorch; FANN: 0
  float step_max = 50;        // all of them
  Schedule schedule = {};
  Clip clip = {};

  bool operator==(const Settings&) const = default;
};

std::string_view Name(Settings::Kind kind);  // "sgd", "irprop_plus", ...

// Returns: whether `kind` is of the Rprop family, which wants the gradient of the whole shard.
bool IsResilient(Settings::Kind kind);

// The floats that `settings` keep beside each parameter and exchange: 0 unless settings.exchanged,
// else 1 or 2. The exchanged vector is the parameters, then each of these vectors; each part starts
// at a multiple of kSliceAlignment, zeros between.
std::size_t ExchangedSlots(const Settings& settings);
inline constexpr std::size_t kSliceAlignment = 16;

// Returns: floats of the exchanged vector of a model with so many parameters.
std::size_t ExchangedSize(const Settings& settings, std::size_t parameters);

// Errors: kConfig; names the field ("train.optimizer.beta1", "train.clip.norm"), what was got and
// what is wanted. Fields of other optimizers are not looked at.
Status Validate(const Settings& settings);

}  // namespace covey::optim
