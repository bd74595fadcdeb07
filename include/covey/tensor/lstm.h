// Kernels of a layer of long short-term memory: forward, back-propagation through time, gradient of
// the weights.
//
// Equation, s the sigmoid of the gates, * element by element:
//   z = W_ih x_t + W_hh h_{t-1} + b, the rows of W_ih, W_hh and b in the order i, f, g, o
//   c_t = s(z_f) * c_{t-1} + s(z_i) * tanh(z_g);   h_t = s(z_o) * tanh(c_t);   h_0 = c_0 = 0
// A step of the input is a vector of floats or a symbol; a symbol stands for its one-hot vector, so
// W_ih x_t is a column of W_ih: gathered forward, scattered backward.
//
// How it is used: a batch is cut into parts of LstmPartSamples(batch) samples. Once a step
// LstmPack; then LstmForward for each part, LstmBackward for each part, LstmScatter for each range
// of columns when the input is symbols, and LstmGradient. Parts and ranges may run at once.
//
// Thread: free functions, safe at once on disjoint outputs.  Cost: no allocation.
// Determinism: every sum runs in one order that depends neither on the number of threads nor (with
// portable numerics) on the level. A sample's outputs don't depend on the rest of its batch.
// Source: Hochreiter & Schmidhuber 1997; Gers, Schmidhuber & Cummins 2000. Where we differ: one
// bias, where PyTorch has two that are only ever added.
#pragma once

#include <cstddef>
#include <cstdint>

#include "covey/tensor/flat_vector.h"
#include "covey/tensor/numerics.h"

namespace covey::tensor {

enum class LstmGates : std::uint8_t { kSigmoid, kHardSigmoid };  // hard: clip(0.2 z + 0.5, 0, 1)
enum class LstmInputKind : std::uint8_t { kFloats, kSymbols };
enum class LstmOutputKind : std::uint8_t { kLast, kSequence };  // h_T, or h_1 ... h_T

struct LstmShape {
  std::size_t inputs = 0;  // floats of a time step, or symbols of the alphabet
  std::size_t units = 0;
  std::size_t steps = 0;
  LstmGates gates = LstmGates::kSigmoid;
  LstmInputKind input = LstmInputKind::kFloats;
  LstmOutputKind output = LstmOutputKind::kLast;
};

// Returns: samples of each part but the last, a multiple of 16; at most 8 parts.
constexpr std::size_t LstmPartSamples(std::size_t batch) {
  return batch <= 128 ? 16 : (batch + 127) / 128 * 16;
}
constexpr std::size_t LstmParts(std::size_t batch) {
  return (batch + LstmPartSamples(batch) - 1) / LstmPartSamples(batch);
}

// Floats of the memory that the functions below ask for; all of it 64-byte aligned and followed by
// 64 readable bytes.
std::size_t LstmPackedSize(const LstmShape& shape);
std::size_t LstmTapeSize(const LstmShape& shape, std::size_t samples);
std::size_t LstmPartGradientSize(const LstmShape& shape);
std::size_t LstmTableSize(const LstmShape& shape);  // 0 when the input is floats

// Shapes: weight_ih [4 units][inputs], weight_hh [4 units][units], bias [4 units]; any alignment.
struct LstmWeights {
  const float* weight_ih = nullptr;
  const float* weight_hh = nullptr;
  const float* bias = nullptr;
};

// packed <- the weights in the order in which the kernels read them.
void LstmPack(const LstmShape& shape, const LstmWeights& weights, float* packed);

// Some samples of a batch: their input and what the forward pass leaves for the backward pass.
// Shapes: values [samples][stride], of a sample [steps][inputs]; symbols [samples][steps]; tape
// LstmTapeSize.
struct LstmPart {
  std::size_t samples = 0;
  const float* values = nullptr;
  std::size_t stride = 0;
  const std::uint32_t* symbols = nullptr;
  float* tape = nullptr;
};

// Shapes: output [samples][stride], of a sample [units] or [steps][units]; what lies behind them is
// not touched.
// Requires: symbols < inputs.
void LstmForward(const LstmShape& shape, Numerics numerics, const float* packed,
                 const LstmPart& part, std::size_t stride, float* output);

// What a part's backward pass reads and writes beside its tape.
// Shapes: delta as the output of LstmForward; before as `values`, null when nobody wants it;
// gradient LstmPartGradientSize.
struct LstmDeltas {
  const float* delta = nullptr;  // gradient of the loss by the output
  std::size_t delta_stride = 0;
  float* before = nullptr;  // receives the gradient by the input
  std::size_t before_stride = 0;
  float* gradient = nullptr;  // receives the gradient by the weights, but for those of symbols
};

// After LstmForward of the same part with the same packed weights; consumes its tape.
void LstmBackward(const LstmShape& shape, Numerics numerics, const float* packed,
                  const LstmPart& part, const LstmDeltas& deltas);

// The gradient by the weights of symbols, in kLstmRanges independent ranges of columns. The first
// part clears what is in the table, so parts come in order.
// Shapes: table LstmTableSize.
inline constexpr std::size_t kLstmRanges = 4;
void LstmScatter(const LstmShape& shape, const LstmPart* parts, std::size_t count,
                 std::size_t range, float* table);

// out <- weight_ih, weight_hh and bias, one behind the other, of the gradients of `count` parts
// added in their order.
// Shapes: gradients [count] at a distance of `distance` floats; table as LstmScatter left it, or
// null; the gradients are overwritten.
void LstmGradient(const LstmShape& shape, float* gradients, std::size_t distance, std::size_t count,
                  const float* table, VectorView out);

}  // namespace covey::tensor
