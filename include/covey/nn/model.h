// The architecture of a network as a value: what is configured, validated, laid out, fingerprinted
// and initialised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/ids.h"
#include "covey/base/random.h"
#include "covey/base/result.h"
#include "covey/tensor/flat_vector.h"

namespace covey::nn {

enum class Activation : std::uint8_t { kLinear, kRelu };

// Distribution of initial weights; biases start at zero. fan_in and fan_out are a unit's inputs and
// the layer's units.
//   Glorot: variance 2 / (fan_in + fan_out). Source: Glorot & Bengio 2010, equation 16.
//   He:     variance 2 / fan_in.             Source: He et al. 2015, equation 10.
// Uniform: on [-sqrt(3 variance), sqrt(3 variance)). Normal: not truncated (Keras truncates at two
// deviations).
enum class Init : std::uint8_t { kGlorotUniform, kGlorotNormal, kHeUniform, kHeNormal };

struct LayerSpec {
  enum class Kind : std::uint8_t { kDense };
  Kind kind = Kind::kDense;
  std::size_t units = 0;
  Activation activation = Activation::kLinear;
};

// The loss is softmax + sparse categorical cross-entropy on the last layer, which is linear (its
// logits).
struct ModelSpec {
  std::vector<std::size_t> input;  // shape of one sample; dense layers see it flattened
  std::vector<LayerSpec> layers;
  Init init = Init::kGlorotUniform;
};

// At most this many parameters: 4 GiB of them.
inline constexpr std::size_t kMaxParameters = std::size_t{1} << 30;

// Errors: kConfig; names the layer ("model.layers[1].units"), what was got and what is wanted.
Status Validate(const ModelSpec& spec);

// The rest requires a valid spec.

std::size_t Features(const ModelSpec& spec);  // product of the input's extents
std::size_t Classes(const ModelSpec& spec);   // units of the last layer

// Returns: "dense1.weight" [units, inputs], "dense1.bias" [units], "dense2.weight", ...
tensor::Layout LayoutOf(const ModelSpec& spec);

// Returns: what two nodes must have in common to average their parameters, one fact a line: input
// shape, slices, activations, loss. Not the initialiser.
std::string Describe(const ModelSpec& spec);

// Returns: SHA-256 of Describe(spec).
Digest FingerprintOf(const ModelSpec& spec);

// Returns: "mlp 784-72-10".
std::string Summary(const ModelSpec& spec);

// Fills x. Requires: x.size() == LayoutOf(spec).size().
// Determinism: the same stream position gives the same numbers on every machine for the uniform
// kinds; the normal ones go through the C library's log and cos.
void Initialise(const ModelSpec& spec, Stream& stream, tensor::VectorView x);

std::string_view Name(Activation activation);  // "linear", "relu"
std::string_view Name(Init init);              // "glorot_uniform", ...

}  // namespace covey::nn
