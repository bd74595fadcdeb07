// Weights and gradients of an LSTM between the order of the parameter vector and that of the
// kernels. Additions only, element by element: the same bits at any level.
#include <cstring>

#include "covey/base/check.h"
#include "covey/tensor/lstm.h"
#include "tensor/lstm_layout.h"

namespace covey::tensor {
namespace {

// Columns of a matrix that is transposed block by block, so that each cache line is used up.
constexpr std::size_t kTransposeBlock = 16;

// Calls body(row, column, count) for runs of `count` columns of a row that stand side by side.
template <class Body>
void ForRuns(const PanelMatrix& matrix, std::size_t columns, const Body& body) {
  for (std::size_t first = 0; first < columns; first += kTransposeBlock) {
    for (std::size_t row = 0; row < matrix.rows; ++row) {
      body(row, first, std::min(kTransposeBlock, columns - first));
    }
  }
}

// to[k][j] = weights[j][k]; the padding stays.
void PackTransposed(const PanelMatrix& matrix, std::size_t columns, const float* weights,
                    float* to) {
  ForRuns(matrix, columns, [&](std::size_t k, std::size_t first, std::size_t count) {
    float* run = to + matrix.at(k, first);
    for (std::size_t j = 0; j < count; ++j) run[j] = weights[(first + j) * matrix.rows + k];
  });
}

void UnpackTransposed(const PanelMatrix& matrix, std::size_t columns, const float* from,
                      float* weights) {
  ForRuns(matrix, columns, [&](std::size_t k, std::size_t first, std::size_t count) {
    const float* run = from + matrix.at(k, first);
    for (std::size_t j = 0; j < count; ++j) weights[(first + j) * matrix.rows + k] = run[j];
  });
}

// Writes `count` floats from column `column` of row `row` on.
void WriteRow(const PanelMatrix& matrix, std::size_t row, std::size_t column, const float* from,
              std::size_t count, float* to) {
  while (count > 0) {
    const std::size_t end = column / kPanelColumns * kPanelColumns + kPanelColumns;
    const std::size_t run = std::min(count, end - column);
    std::memcpy(to + matrix.at(row, column), from, run * sizeof(float));
    from += run;
    column += run;
    count -= run;
  }
}

}  // namespace

std::size_t LstmPackedSize(const LstmShape& shape) { return LstmLayout(shape).packed; }
std::size_t LstmPartGradientSize(const LstmShape& shape) { return LstmLayout(shape).gradient; }
std::size_t LstmTableSize(const LstmShape& shape) { return LstmLayout(shape).table; }

void LstmPack(const LstmShape& shape, const LstmWeights& weights, float* packed) {
  const LstmLayout layout(shape);
  const std::size_t gates = 4 * shape.units;
  PackTransposed(layout.input, gates, weights.weight_ih, packed);
  PackTransposed(layout.recurrent, gates, weights.weight_hh, packed + layout.packed_recurrent);
  for (std::size_t j = 0; j < gates; ++j) {
    float* back = packed + layout.packed_back;
    WriteRow(layout.back, j, 0, weights.weight_hh + j * shape.units, shape.units, back);
    if (layout.input.rows == 0) continue;
    WriteRow(layout.back, j, shape.units, weights.weight_ih + j * shape.inputs, shape.inputs, back);
  }
  std::memcpy(packed + layout.packed_bias, weights.bias, gates * sizeof(float));
  if (layout.table == 0) return;
  for (std::size_t first = 0; first < gates; first += kTransposeBlock) {
    const std::size_t count = std::min(kTransposeBlock, gates - first);
    for (std::size_t symbol = 0; symbol < shape.inputs; ++symbol) {
      float* run = packed + layout.packed_table + symbol * layout.gates + first;
      for (std::size_t j = 0; j < count; ++j) {
        run[j] = weights.weight_ih[(first + j) * shape.inputs + symbol] + weights.bias[first + j];
      }
    }
  }
}

void LstmGradient(const LstmShape& shape, float* gradients, std::size_t distance, std::size_t count,
                  const float* table, VectorView out) {
  const LstmLayout layout(shape);
  const std::size_t gates = 4 * shape.units;
  const std::size_t recurrent = gates * shape.inputs;
  const std::size_t bias = recurrent + gates * shape.units;
  COVEY_CHECK(count > 0, count);
  COVEY_CHECK(out.size() == bias + gates, out.size(), bias + gates);
  COVEY_CHECK((table != nullptr) == (layout.table != 0), layout.table);
  for (std::size_t part = 1; part < count; ++part) {
    const float* from = gradients + part * distance;
    for (std::size_t i = 0; i < layout.gradient; ++i) gradients[i] += from[i];
  }
  UnpackTransposed(layout.input, gates, gradients, out.data());
  UnpackTransposed(layout.recurrent, gates, gradients + layout.gradient_recurrent,
                   out.data() + recurrent);
  std::memcpy(out.data() + bias, gradients + layout.gradient_bias, gates * sizeof(float));
  if (layout.table == 0) return;
  for (std::size_t first = 0; first < gates; first += kTransposeBlock) {
    for (std::size_t symbol = 0; symbol < shape.inputs; ++symbol) {
      const float* run = table + symbol * layout.gates + first;
      for (std::size_t j = 0; j < std::min(kTransposeBlock, gates - first); ++j) {
        out[(first + j) * shape.inputs + symbol] = run[j];
      }
    }
  }
}

}  // namespace covey::tensor
