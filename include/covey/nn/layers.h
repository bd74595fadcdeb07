// The layers that a model can be made of, as values.
//
// A layer reads the shape that the layer before it writes. Shapes are those of one sample: images
// [height, width, channels], sequences [time, features], anything else one extent.
//
// There is no batch normalisation: its running statistics belong to a node's own data, and
// averaging them between nodes breaks the model that the parameters describe. GroupNorm and
// LayerNorm need none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

namespace covey::nn {

// Equation:
//   kLinear y; kRelu max(y, 0); kLeakyRelu y or 0.01 y below 0; kTanh; kSigmoid 1 / (1 + e^-y);
//   kHardSigmoid clip(0.2 y + 0.5, 0, 1), as in Keras; kSoftmax e^y_c / sum over all units (its
//   input has one extent).
// At their kinks the derivative is the one from the left (ReLU: 0 at 0), but at the upper one of
// the hard sigmoid it is 0.
enum class Activation : std::uint8_t {
  kLinear,
  kRelu,
  kLeakyRelu,
  kTanh,
  kSigmoid,
  kHardSigmoid,
  kSoftmax
};

std::string_view Name(Activation activation);  // "linear", "relu", "leaky_relu", ...

// y = f(W x + b). Sees its input flattened, whatever its shape.
// Parameters: weight [units, inputs], bias [units].
struct Dense {
  std::size_t units = 0;
  Activation activation = Activation::kLinear;
};

struct Extent {
  std::size_t height = 0;
  std::size_t width = 0;
  bool operator==(const Extent&) const = default;
};

// kValid: only places where the kernel lies inside the image, (n - k) / stride + 1 of them.
// kSame: zeros around the image, ceil(n / stride) places; where an odd zero is left it stands
// behind, as in Keras.
enum class Padding : std::uint8_t { kValid, kSame };

std::string_view Name(Padding padding);  // "valid", "same"

// Cross-correlation over [height, width, channels], as every framework means it.
// Parameters: weight [filters, kernel.height, kernel.width, channels], bias [filters].
struct Conv2d {
  std::size_t filters = 0;
  Extent kernel{3, 3};
  Extent stride{1, 1};
  Padding padding = Padding::kValid;
  Activation activation = Activation::kLinear;
};

// Maximum or mean of each window; windows lie inside the image (valid padding).
struct Pool2d {
  enum class Kind : std::uint8_t { kMax, kAverage };
  Kind kind = Kind::kMax;
  Extent size{2, 2};
  Extent stride{0, 0};  // 0: as size
};

// Mean over height and width: [height, width, channels] -> [channels].
struct GlobalAveragePool {};

struct Flatten {};

// While training each value is 0 with probability rate, otherwise divided by (1 - rate).
struct Dropout {
  float rate = 0.5f;
};

struct Activate {
  Activation activation = Activation::kRelu;
};

// First layer only. Each element of the sample is a symbol, a whole number below `symbols` that
// normalisation leaves alone: [time] -> [time, symbols].
struct OneHot {
  std::size_t symbols = 0;
};

// As OneHot followed by a matrix: [time] -> [time, size].
// Parameters: weight [symbols, size].
struct Embedding {
  std::size_t symbols = 0;
  std::size_t size = 0;
};

// Long short-term memory over [time, features].
// Equation, s the gates' sigmoid or hard sigmoid, * element by element:
//   (i, f, g, o) = W_ih x_t + W_hh h_{t-1} + b
//   c_t = s(f) * c_{t-1} + s(i) * tanh(g);   h_t = s(o) * tanh(c_t);   h_0 = c_0 = 0
// Parameters: weight_ih [4 units, features], weight_hh [4 units, units], bias [4 units], rows in
// the order i, f, g, o; the forget gate's bias starts at 1.
// Source: Hochreiter & Schmidhuber 1997; forget gate and its bias: Gers, Schmidhuber & Cummins
// 2000, Jozefowicz et al. 2015.
struct Lstm {
  enum class Output : std::uint8_t { kLast, kSequence };  // h_T, or all h_t
  std::size_t units = 0;
  Output output = Output::kLast;
  Activation gates = Activation::kSigmoid;  // or kHardSigmoid
};

// Equation: y = (x - mean) / sqrt(variance + epsilon) * weight + bias, mean and variance (biased)
// over the values of a sample that share a group of neighbouring channels.
// Parameters: weight [channels], bias [channels].
// Source: Wu & He 2018, equation 7.
struct GroupNorm {
  std::size_t groups = 1;
  float epsilon = 1e-5f;
};

// The same over the last extent alone: for each place or time step by itself.
// Parameters: weight [last extent], bias [last extent].
// Source: Ba, Kiros & Hinton 2016.
struct LayerNorm {
  float epsilon = 1e-5f;
};

using LayerSpec = std::variant<Dense, Conv2d, Pool2d, GlobalAveragePool, Flatten, Dropout, Activate,
                               OneHot, Embedding, Lstm, GroupNorm, LayerNorm>;

// Returns: the word of configuration files: "dense", "conv2d", "max_pool2d", "average_pool2d", ...
std::string_view KindOf(const LayerSpec& layer);

}  // namespace covey::nn
