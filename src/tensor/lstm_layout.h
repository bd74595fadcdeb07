// Where the LSTM kernels keep what is theirs.
//
// A matrix whose columns go to lanes is cut into panels of 48 columns, three vectors of the widest
// level; each panel is [rows][its width], so that a register tile reads memory in order.
#pragma once

#include <algorithm>
#include <cstddef>

#include "covey/tensor/lstm.h"

namespace covey::tensor {

inline constexpr std::size_t kPanelColumns = 48;

constexpr std::size_t RoundUp16(std::size_t n) { return (n + 15) / 16 * 16; }

struct PanelMatrix {
  std::size_t rows = 0;
  std::size_t columns = 0;  // a multiple of 16

  constexpr std::size_t size() const { return rows * columns; }
  constexpr std::size_t width(std::size_t first) const {
    return std::min(kPanelColumns, columns - first);
  }
  // Of element (row, column), column at the front of a panel.
  constexpr std::size_t panel(std::size_t first) const { return first * rows; }
  constexpr std::size_t at(std::size_t row, std::size_t column) const {
    const std::size_t first = column / kPanelColumns * kPanelColumns;
    return panel(first) + row * width(first) + (column - first);
  }
};

struct LstmLayout {
  explicit LstmLayout(const LstmShape& shape)
      : gates(RoundUp16(4 * shape.units)),
        // An odd number of cache lines: rows of a tall, narrow block don't fall into the same sets.
        gate_row(gates % 32 == 0 ? gates + 16 : gates),
        unit_row(RoundUp16(shape.units)) {
    const bool floats = shape.input == LstmInputKind::kFloats;
    input = {floats ? shape.inputs : 0, gates};
    recurrent = {shape.units, gates};
    back = {4 * shape.units, RoundUp16(shape.units + (floats ? shape.inputs : 0))};
    table = floats ? 0 : shape.inputs * gates;
    // Packed weights.
    packed_recurrent = input.size();
    packed_back = packed_recurrent + recurrent.size();
    packed_bias = packed_back + back.size();
    packed_table = packed_bias + gates;
    packed = packed_table + table;
    // Gradient of a part.
    gradient_recurrent = input.size();
    gradient_bias = gradient_recurrent + recurrent.size();
    gradient = gradient_bias + gates;
  }

  std::size_t gates;     // columns of z
  std::size_t gate_row;  // floats from one row of z to the next
  std::size_t unit_row;  // of c, tanh(c), h
  PanelMatrix input;     // W_ih transposed: rows are inputs; none when they are symbols
  PanelMatrix recurrent;
  PanelMatrix back;   // rows of W_hh beside rows of W_ih
  std::size_t table;  // [symbols][gates], bias included
  std::size_t packed_recurrent, packed_back, packed_bias, packed_table, packed;
  std::size_t gradient_recurrent, gradient_bias, gradient;
};

// What a part keeps from its forward pass, step by step, then the scratch of its backward pass.
struct LstmTape {
  LstmTape(const LstmShape& shape, const LstmLayout& layout, std::size_t samples)
      : gate_step(samples * layout.gate_row), unit_step(samples * layout.unit_row) {
    c = shape.steps * gate_step;
    tanh_c = c + (shape.steps + 1) * unit_step;
    h = tanh_c + shape.steps * unit_step;
    carry = h + shape.steps * unit_step;
    carry_c = carry + samples * layout.back.columns;
    size = carry_c + unit_step;
  }

  std::size_t gate_step;  // floats of one time step
  std::size_t unit_step;
  std::size_t gates = 0;  // [steps][samples][gate_row]: s(z) or tanh(z); dz after the way back
  std::size_t c;          // [1 + steps][samples][unit_row]: c_0 = 0, then c_t
  std::size_t tanh_c;     // [steps][samples][unit_row]
  std::size_t h;          // [steps][samples][unit_row]
  std::size_t carry;      // [samples][back.columns]: gradient by h_{t-1}, then by x_t
  std::size_t carry_c;    // [samples][unit_row]
  std::size_t size;
};

}  // namespace covey::tensor
