// Back-propagation through time of an LSTM, with the gradient of its weights.
#include <algorithm>
#include <cstring>

#include "covey/base/check.h"
#include "covey/tensor/lstm.h"
#include "tensor/lstm_layout.h"

// clang-format off: Highway wants this order.
#include "tensor/simd.h"
#ifndef COVEY_KERNEL_GROUP
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/lstm_backward.cc"
#include "hwy/foreach_target.h"
#endif
#include "hwy/highway.h"
#include "tensor/lstm-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Rows of dz that one pass over the gradient of the weights reads: with the rows of the input they
// fill half of an L1 cache.
constexpr std::size_t kChunkRows = 64;

// One time step of the cells of a part, backwards.
struct CellBack {
  std::size_t samples;
  std::size_t units;
  float* z;  // s(z) and tanh(z), replaced by dz
  std::size_t z_row;
  const float* c_before;  // these at rows of unit_row
  const float* tanh_c;
  float* carry_c;  // gradient by c_t, then by c_{t-1}
  std::size_t unit_row;
  const float* carry;  // gradient by h_t from the next step
  std::size_t carry_row;
  const float* delta;  // and from the output, or null
  std::size_t delta_row;
};

template <class N, class Gates>
void RunCellsBack(const CellBack& step) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto one = hn::Set(d, 1.0f);
  for (std::size_t b = 0; b < step.samples; ++b) {
    float* HWY_RESTRICT z = step.z + b * step.z_row;
    const std::size_t row = b * step.unit_row;
    for (std::size_t u = 0; u < step.units; u += lanes) {
      const std::size_t count = std::min(lanes, step.units - u);
      float* zi = z + u;
      float* zf = zi + step.units;
      float* zg = zf + step.units;
      float* zo = zg + step.units;
      const auto i = hn::LoadU(d, zi);
      const auto f = hn::LoadU(d, zf);
      const auto g = hn::LoadU(d, zg);
      const auto o = hn::LoadU(d, zo);
      const auto tanh_c = hn::Load(d, step.tanh_c + row + u);
      auto dh = hn::Load(d, step.carry + b * step.carry_row + u);
      if (step.delta != nullptr) {
        dh = hn::Add(dh, LoadFirst(d, step.delta + b * step.delta_row + u, count));
      }
      const auto through = hn::Mul(dh, o);
      const auto slope = N::NegMulAdd(tanh_c, tanh_c, one);
      const auto dc = N::MulAdd(through, slope, hn::Load(d, step.carry_c + row + u));
      const auto c_before = hn::Load(d, step.c_before + row + u);
      StoreFirst(d, hn::Mul(hn::Mul(dc, g), Gates::template Derivative<N>(d, i)), count, zi);
      StoreFirst(d, hn::Mul(hn::Mul(dc, c_before), Gates::template Derivative<N>(d, f)), count, zf);
      StoreFirst(d, hn::Mul(hn::Mul(dc, i), N::NegMulAdd(g, g, one)), count, zg);
      StoreFirst(d, hn::Mul(hn::Mul(dh, tanh_c), Gates::template Derivative<N>(d, o)), count, zo);
      hn::Store(hn::Mul(dc, f), d, step.carry_c + row + u);
    }
  }
}

// Gradients by h_{t-1} and x_t in one panel of columns: dz times rows of W_hh beside rows of W_ih.
struct BackPanel {
  const float* dz = nullptr;
  std::size_t dz_row = 0;
  std::size_t depth = 0;
  const float* panel = nullptr;
  std::size_t width = 0;
  float* out = nullptr;
  std::size_t out_row = 0;

  template <class N, std::size_t R, std::size_t C>
  HWY_INLINE void Tile(std::size_t r0, std::size_t column) const {
    LstmSums<N, R, C> sums;
    sums.Clear();
    sums.Add(dz + r0 * dz_row, dz_row, 1, panel + column, width, depth);
    sums.Store(out + r0 * out_row + column, out_row);
  }
};

// gradient[k][j] += sum over steps and samples of rows[k] dz[j] in one panel of columns.
struct WeightPanel {
  std::size_t steps = 0;
  std::size_t samples = 0;
  const float* rows = nullptr;  // k of a sample stand side by side
  std::size_t row_step = 0;
  std::size_t row = 0;
  const float* dz = nullptr;
  std::size_t dz_step = 0;
  std::size_t dz_row = 0;
  float* gradient = nullptr;
  std::size_t width = 0;

  template <class N, std::size_t R, std::size_t C>
  HWY_INLINE void Tile(std::size_t k0, std::size_t column) const {
    LstmSums<N, R, C> sums;
    sums.Load(gradient + k0 * width + column, width);
    for (std::size_t t = 0; t < steps; ++t) {
      sums.Add(rows + t * row_step + k0, 1, row, dz + t * dz_step + column, dz_row, samples);
    }
    sums.Store(gradient + k0 * width + column, width);
  }
};

// What all steps of a part's backward pass share.
struct Back {
  const LstmShape& shape;
  const LstmLayout& layout;
  const LstmTape& tape;
  const LstmPart& part;
  const LstmDeltas& deltas;
};

// Adds the gradient of the weights by dz of the steps [first, first + steps).
template <class N>
void AddWeightGradient(const Back& back, std::size_t first, std::size_t steps) {
  const hn::ScalableTag<float> d;
  const LstmLayout& layout = back.layout;
  const float* dz = back.part.tape + back.tape.gates + first * back.tape.gate_step;
  WeightPanel panel{
      .samples = back.part.samples, .dz_step = back.tape.gate_step, .dz_row = layout.gate_row};
  const std::size_t skip = first == 0 ? 1 : 0;  // h_0 = 0
  for (std::size_t j = 0; j < layout.gates; j += kPanelColumns) {
    panel.width = layout.recurrent.width(j);
    panel.dz = dz + j;
    if (back.shape.input == LstmInputKind::kFloats) {
      panel.steps = steps;
      panel.rows = back.part.values + first * back.shape.inputs;
      panel.row_step = back.shape.inputs;
      panel.row = back.part.stride;
      panel.gradient = back.deltas.gradient + layout.input.panel(j);
      ForTiles<N>(back.shape.inputs, panel.width, panel);
    }
    panel.steps = steps - skip;
    panel.dz += skip * panel.dz_step;
    panel.rows = back.part.tape + back.tape.h + (first + skip - 1) * back.tape.unit_step;
    panel.row_step = back.tape.unit_step;
    panel.row = layout.unit_row;
    panel.gradient = back.deltas.gradient + layout.gradient_recurrent + layout.recurrent.panel(j);
    ForTiles<N>(back.shape.units, panel.width, panel);
  }
  float* bias = back.deltas.gradient + layout.gradient_bias;
  for (std::size_t j = 0; j < layout.gates; j += hn::Lanes(d)) {
    auto sum = hn::Load(d, bias + j);
    for (std::size_t t = 0; t < steps; ++t) {
      for (std::size_t b = 0; b < panel.samples; ++b) {
        sum = hn::Add(sum, hn::Load(d, dz + t * panel.dz_step + b * panel.dz_row + j));
      }
    }
    hn::Store(sum, d, bias + j);
  }
}

// carry <- gradients by h_{t-1} and x_t; the latter is written out where it is wanted.
template <class N>
void CarryBack(const Back& back, const float* packed, std::size_t t) {
  const PanelMatrix& matrix = back.layout.back;
  const bool wanted = back.deltas.before != nullptr;
  float* carry = back.part.tape + back.tape.carry;
  const std::size_t columns = wanted ? matrix.columns : RoundUp16(back.shape.units);
  BackPanel panel{.dz = back.part.tape + back.tape.gates + t * back.tape.gate_step,
                  .dz_row = back.layout.gate_row,
                  .depth = matrix.rows,
                  .out_row = matrix.columns};
  for (std::size_t first = 0; first < columns; first += kPanelColumns) {
    panel.panel = packed + back.layout.packed_back + matrix.panel(first);
    panel.width = matrix.width(first);
    panel.out = carry + first;
    ForTiles<N>(back.part.samples, std::min(panel.width, columns - first), panel);
  }
  if (!wanted) return;
  for (std::size_t b = 0; b < back.part.samples; ++b) {
    std::memcpy(back.deltas.before + b * back.deltas.before_stride + t * back.shape.inputs,
                carry + b * matrix.columns + back.shape.units, back.shape.inputs * sizeof(float));
  }
}

template <class N, class Gates>
void RunBack(const Back& back, const float* packed) {
  const LstmShape& shape = back.shape;
  const LstmTape& tape = back.tape;
  float* at = back.part.tape;
  const bool sequence = shape.output == LstmOutputKind::kSequence;
  const std::size_t chunk = std::max<std::size_t>(1, kChunkRows / back.part.samples);
  for (std::size_t t = shape.steps; t-- > 0;) {
    const bool given = sequence || t + 1 == shape.steps;
    RunCellsBack<N, Gates>(
        {.samples = back.part.samples,
         .units = shape.units,
         .z = at + tape.gates + t * tape.gate_step,
         .z_row = back.layout.gate_row,
         .c_before = at + tape.c + t * tape.unit_step,
         .tanh_c = at + tape.tanh_c + t * tape.unit_step,
         .carry_c = at + tape.carry_c,
         .unit_row = back.layout.unit_row,
         .carry = at + tape.carry,
         .carry_row = back.layout.back.columns,
         .delta = given ? back.deltas.delta + (sequence ? t * shape.units : 0) : nullptr,
         .delta_row = back.deltas.delta_stride});
    if (t > 0 || back.deltas.before != nullptr) CarryBack<N>(back, packed, t);
    // Chunks start at multiples of their length, so the last one done is the whole first one.
    if (t % chunk == 0) AddWeightGradient<N>(back, t, std::min(chunk, shape.steps - t));
  }
}

void Backward(const LstmShape& shape, Numerics numerics, const float* packed, const LstmPart& part,
              const LstmDeltas& deltas) {
  const LstmLayout layout(shape);
  const LstmTape tape(shape, layout, part.samples);
  // No gradient comes from beyond the last step.
  std::memset(part.tape + tape.carry, 0, (tape.size - tape.carry) * sizeof(float));
  std::memset(deltas.gradient, 0, layout.gradient * sizeof(float));
  const Back back{.shape = shape, .layout = layout, .tape = tape, .part = part, .deltas = deltas};
  WithLstmPolicies(numerics, shape.gates, [&](auto policy, auto gates) HWY_ATTR {
    RunBack<decltype(policy), decltype(gates)>(back, packed);
  });
}

// table[symbol][j] += dz[j] for the columns [first, first + width) of all samples and steps.
void Scatter(const LstmShape& shape, const LstmPart& part, std::size_t first, std::size_t width,
             float* table) {
  const hn::ScalableTag<float> d;
  const LstmLayout layout(shape);
  const LstmTape tape(shape, layout, part.samples);
  for (std::size_t t = 0; t < shape.steps; ++t) {
    for (std::size_t b = 0; b < part.samples; ++b) {
      const float* HWY_RESTRICT dz =
          part.tape + tape.gates + t * tape.gate_step + b * layout.gate_row + first;
      float* HWY_RESTRICT to = table + part.symbols[b * shape.steps + t] * layout.gates + first;
      for (std::size_t j = 0; j < width; j += hn::Lanes(d)) {
        hn::Store(hn::Add(hn::Load(d, to + j), hn::Load(d, dz + j)), d, to + j);
      }
    }
  }
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace covey::tensor {

HWY_EXPORT(Backward);
HWY_EXPORT(Scatter);

void LstmBackward(const LstmShape& shape, Numerics numerics, const float* packed,
                  const LstmPart& part, const LstmDeltas& deltas) {
  COVEY_CHECK(deltas.delta != nullptr && deltas.gradient != nullptr);
  COVEY_CHECK(deltas.before == nullptr || shape.input == LstmInputKind::kFloats);
  HWY_DYNAMIC_DISPATCH(Backward)(shape, numerics, packed, part, deltas);
}

void LstmScatter(const LstmShape& shape, const LstmPart* parts, std::size_t count,
                 std::size_t range, float* table) {
  COVEY_CHECK(range < kLstmRanges, range);
  const LstmLayout layout(shape);
  const std::size_t vectors = layout.gates / 16;
  const std::size_t first = vectors * range / kLstmRanges * 16;
  const std::size_t width = vectors * (range + 1) / kLstmRanges * 16 - first;
  for (std::size_t symbol = 0; symbol < shape.inputs; ++symbol) {
    std::memset(table + symbol * layout.gates + first, 0, width * sizeof(float));
  }
  for (std::size_t part = 0; part < count; ++part) {
    HWY_DYNAMIC_DISPATCH(Scatter)(shape, parts[part], first, width, table);
  }
}

}  // namespace covey::tensor
#endif  // HWY_ONCE
