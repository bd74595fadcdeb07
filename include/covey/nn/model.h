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
#include "covey/nn/layers.h"
#include "covey/tensor/flat_vector.h"
#include "covey/tensor/numerics.h"

namespace covey::nn {

// Distribution of initial weights; biases start at zero (but for an LSTM's forget gate). fan_in and
// fan_out are a unit's inputs and the layer's units; of a convolution, times the kernel's area.
//   Glorot: variance 2 / (fan_in + fan_out). Source: Glorot & Bengio 2010, equation 16.
//   He:     variance 2 / fan_in.             Source: He et al. 2015, equation 10.
// Uniform: on [-sqrt(3 variance), sqrt(3 variance)). Normal: not truncated (Keras truncates at two
// deviations). Recurrent weights are orthogonal, gate by gate (Saxe et al. 2014), whatever `init`;
// embeddings are uniform on [-0.05, 0.05), as in Keras.
enum class Init : std::uint8_t { kGlorotUniform, kGlorotNormal, kHeUniform, kHeNormal };

// What training minimises: the mean over the samples of a batch of, y the outputs, t the target,
//   kSparseCategoricalCrossEntropy  -log softmax(y)[label]
//   kCategoricalCrossEntropy        -sum_c t_c log softmax(y)_c
//   kBinaryCrossEntropy             mean_c -(t_c log s(y_c) + (1 - t_c) log(1 - s(y_c))), s sigmoid
//   kMeanSquaredError               mean_c (y_c - t_c)^2
//   kHuber                          mean_c (e^2 / 2 where |e| <= delta, else
//                                   delta (|e| - delta / 2)), e = y_c - t_c
// The cross-entropies take logits: the last layer is linear, or its softmax (sigmoid) is folded
// into the loss.
enum class Loss : std::uint8_t {
  kSparseCategoricalCrossEntropy,
  kCategoricalCrossEntropy,
  kBinaryCrossEntropy,
  kMeanSquaredError,
  kHuber
};

struct ModelSpec {
  std::vector<std::size_t> input;  // shape of one sample
  std::vector<LayerSpec> layers;
  Loss loss = Loss::kSparseCategoricalCrossEntropy;
  float huber_delta = 1;
  Init init = Init::kGlorotUniform;
  tensor::Numerics numerics = tensor::Numerics::kFast;
};

// At most this many parameters, and values of a sample in any layer: 4 GiB of them.
inline constexpr std::size_t kMaxParameters = std::size_t{1} << 30;

// What a layer is once shapes are known.
struct LayerInfo {
  std::string name;  // "conv1": kind and number among its kind, as in the names of slices
  std::vector<std::size_t> input;  // shapes of one sample
  std::vector<std::size_t> output;
  std::size_t parameters = 0;
  std::uint64_t multiply_adds = 0;  // of one sample's forward pass
};

// Returns: the layers in order.
// Errors: kConfig; names the layer ("model.layers[1] (dense2).units"), what was got and wanted.
Result<std::vector<LayerInfo>> Infer(const ModelSpec& spec);

// Errors: as Infer; a model without parameters.
Status Validate(const ModelSpec& spec);

// The rest requires a valid spec.

std::size_t Features(const ModelSpec& spec);  // product of the input's extents
std::size_t Outputs(const ModelSpec& spec);   // values that the loss compares with the target

// Whether samples carry a class label; otherwise Outputs() target values.
bool HasLabels(const ModelSpec& spec);
// Whether the loss is a cross-entropy, so that answers are right or wrong; otherwise regression.
bool IsClassification(const ModelSpec& spec);
// Symbols that elements of a sample may name; 0 when the first layer reads numbers.
std::size_t Symbols(const ModelSpec& spec);

// Returns: "dense1.weight" [units, inputs], "dense1.bias" [units], "conv1.weight", ... in order.
tensor::Layout LayoutOf(const ModelSpec& spec);

// Returns: what two nodes must have in common to average their parameters, one fact a line: input
// shape, slices, layers with their settings, loss. Not the initialiser, dropout or numerics.
std::string Describe(const ModelSpec& spec);

// Returns: SHA-256 of Describe(spec).
Digest FingerprintOf(const ModelSpec& spec);

// Returns: "mlp 784-72-10", or "conv2d 16, max_pool2d, ..., dense 10".
std::string Summary(const ModelSpec& spec);

// Fills x. Requires: x.size() == LayoutOf(spec).size().
// Determinism: the same stream position gives the same numbers on every machine for the uniform
// kinds; normal and orthogonal ones go through the C library's log and cos.
void Initialise(const ModelSpec& spec, Stream& stream, tensor::VectorView x);

std::string_view Name(Init init);  // "glorot_uniform", ...
std::string_view Name(Loss loss);  // "sparse_categorical_crossentropy", ...

}  // namespace covey::nn
