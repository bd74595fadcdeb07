// Forward pass of an LSTM: all steps of some samples, units in lanes.
#include <cstring>

#include "covey/base/check.h"
#include "covey/tensor/lstm.h"
#include "tensor/lstm_layout.h"

// clang-format off: Highway wants this order.
#include "tensor/simd.h"
#ifndef COVEY_KERNEL_GROUP
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/lstm_forward.cc"
#include "hwy/foreach_target.h"
#endif
#include "hwy/highway.h"
#include "tensor/lstm-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A factor of z: rows of floats, one a sample, and the panel that they are multiplied with.
struct GateOperand {
  const float* rows = nullptr;
  std::size_t row = 0;
  std::size_t depth = 0;
  const float* panel = nullptr;
};

// z of one time step in one panel of columns.
struct GatePanel {
  const float* bias = nullptr;   // of the panel's columns, or
  const float* table = nullptr;  // column 0 of the panel of the first symbol,
  std::size_t table_row = 0;
  const std::uint32_t* symbols = nullptr;  // and each sample's symbol
  std::size_t symbol_row = 0;
  GateOperand x = {};
  GateOperand h = {};
  std::size_t width = 0;
  float* z = nullptr;
  std::size_t z_row = 0;

  template <class N, std::size_t R, std::size_t C>
  HWY_INLINE void Tile(std::size_t r0, std::size_t column) const {
    const hn::ScalableTag<float> d;
    LstmSums<N, R, C> sums;
#pragma GCC unroll 16
    for (std::size_t r = 0; r < R; ++r) {
      const float* from =
          (symbols == nullptr ? bias : table + symbols[(r0 + r) * symbol_row] * table_row) + column;
#pragma GCC unroll 16
      for (std::size_t c = 0; c < C; ++c) sums.acc[r][c] = hn::Load(d, from + c * hn::Lanes(d));
    }
    sums.Add(x.rows + r0 * x.row, x.row, 1, x.panel + column, width, x.depth);
    sums.Add(h.rows + r0 * h.row, h.row, 1, h.panel + column, width, h.depth);
    sums.Store(z + r0 * z_row + column, z_row);
  }
};

// One time step of the cells of a part.
struct CellStep {
  std::size_t samples;
  std::size_t units;
  float* z;  // z, replaced by s(z) and tanh(z)
  std::size_t z_row;
  const float* c_before;  // these at rows of unit_row
  float* c;
  float* tanh_c;
  float* h;
  std::size_t unit_row;
  float* output;  // h again, for the next layer, or null
  std::size_t output_row;
};

template <class N, class Gates>
void RunCells(const CellStep& step) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t b = 0; b < step.samples; ++b) {
    float* HWY_RESTRICT z = step.z + b * step.z_row;
    const std::size_t row = b * step.unit_row;
    for (std::size_t u = 0; u < step.units; u += lanes) {
      const std::size_t count = std::min(lanes, step.units - u);
      float* zi = z + u;
      float* zf = zi + step.units;
      float* zg = zf + step.units;
      float* zo = zg + step.units;
      const auto i = Gates::template Value<N>(d, hn::LoadU(d, zi));
      const auto f = Gates::template Value<N>(d, hn::LoadU(d, zf));
      const auto g = Tanh<N>(d, hn::LoadU(d, zg));
      const auto o = Gates::template Value<N>(d, hn::LoadU(d, zo));
      const auto c = N::MulAdd(f, hn::Load(d, step.c_before + row + u), hn::Mul(i, g));
      const auto tanh_c = Tanh<N>(d, c);
      const auto h = hn::Mul(o, tanh_c);
      StoreFirst(d, i, count, zi);
      StoreFirst(d, f, count, zf);
      StoreFirst(d, g, count, zg);
      StoreFirst(d, o, count, zo);
      hn::Store(c, d, step.c + row + u);
      hn::Store(tanh_c, d, step.tanh_c + row + u);
      hn::Store(h, d, step.h + row + u);
      if (step.output != nullptr) StoreFirst(d, h, count, step.output + b * step.output_row + u);
    }
  }
}

template <class N>
void RunGates(const LstmShape& shape, const LstmLayout& layout, const LstmTape& tape,
              const float* packed, const LstmPart& part, std::size_t t) {
  GatePanel panel{.table_row = layout.gates,
                  .symbols = part.symbols == nullptr ? nullptr : part.symbols + t,
                  .symbol_row = shape.steps,
                  .z_row = layout.gate_row};
  if (part.symbols == nullptr) {
    panel.x = {.rows = part.values + t * shape.inputs, .row = part.stride, .depth = shape.inputs};
  }
  if (t > 0) {
    panel.h = {.rows = part.tape + tape.h + (t - 1) * tape.unit_step,
               .row = layout.unit_row,
               .depth = shape.units};
  }
  for (std::size_t first = 0; first < layout.gates; first += kPanelColumns) {
    panel.bias = packed + layout.packed_bias + first;
    panel.table = packed + layout.packed_table + first;
    panel.x.panel = packed + layout.input.panel(first);
    panel.h.panel = packed + layout.packed_recurrent + layout.recurrent.panel(first);
    panel.width = layout.recurrent.width(first);
    panel.z = part.tape + tape.gates + t * tape.gate_step + first;
    ForTiles<N>(part.samples, panel.width, panel);
  }
}

void Forward(const LstmShape& shape, Numerics numerics, const float* packed, const LstmPart& part,
             std::size_t stride, float* output) {
  const LstmLayout layout(shape);
  const LstmTape tape(shape, layout, part.samples);
  const bool sequence = shape.output == LstmOutputKind::kSequence;
  std::memset(part.tape + tape.c, 0, tape.unit_step * sizeof(float));  // c_0
  WithLstmPolicies(numerics, shape.gates, [&](auto policy, auto gates) HWY_ATTR {
    using N = decltype(policy);
    for (std::size_t t = 0; t < shape.steps; ++t) {
      RunGates<N>(shape, layout, tape, packed, part, t);
      const bool wanted = sequence || t + 1 == shape.steps;
      RunCells<N, decltype(gates)>(
          {.samples = part.samples,
           .units = shape.units,
           .z = part.tape + tape.gates + t * tape.gate_step,
           .z_row = layout.gate_row,
           .c_before = part.tape + tape.c + t * tape.unit_step,
           .c = part.tape + tape.c + (t + 1) * tape.unit_step,
           .tanh_c = part.tape + tape.tanh_c + t * tape.unit_step,
           .h = part.tape + tape.h + t * tape.unit_step,
           .unit_row = layout.unit_row,
           .output = wanted ? output + (sequence ? t * shape.units : 0) : nullptr,
           .output_row = stride});
    }
  });
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace covey::tensor {

HWY_EXPORT(Forward);

std::size_t LstmTapeSize(const LstmShape& shape, std::size_t samples) {
  return LstmTape(shape, LstmLayout(shape), samples).size;
}

void LstmForward(const LstmShape& shape, Numerics numerics, const float* packed,
                 const LstmPart& part, std::size_t stride, float* output) {
  const bool symbols = shape.input == LstmInputKind::kSymbols;
  COVEY_CHECK((symbols ? part.symbols != nullptr : part.values != nullptr), symbols);
  if (symbols) {
    for (std::size_t i = 0; i < part.samples * shape.steps; ++i) {
      COVEY_CHECK(part.symbols[i] < shape.inputs, part.symbols[i], shape.inputs);
    }
  }
  HWY_DYNAMIC_DISPATCH(Forward)(shape, numerics, packed, part, stride, output);
}

}  // namespace covey::tensor
#endif  // HWY_ONCE
