// The LSTM kernels against plain loops in double, and against themselves.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "covey/tensor/lstm.h"
#include "support/levels.h"
#include "support/plain_lstm.h"

namespace covey::tensor::lstm_test {
namespace {

using test::AtEveryLevel;
using test::PlainLstm;

// What no kernel may read before it is written.
FlatVector Rubbish(std::size_t size) {
  FlatVector memory(size);
  for (float& value : memory.view()) value = std::numeric_limits<float>::quiet_NaN();
  return memory;
}

// A layer with drawn weights, input and gradient of its output, on memory as a stage keeps it.
class Layer {
 public:
  Layer(const LstmShape& shape, std::size_t batch, std::uint64_t seed)
      : shape_(shape),
        batch_(batch),
        outputs_(PlainLstm(shape).outputs()),
        stride_((shape.steps * shape.inputs + 15) / 16 * 16),
        out_stride_((outputs_ + 15) / 16 * 16),
        w_(PlainLstm(shape).parameters()),
        delta_(batch * out_stride_),
        packed_(Rubbish(LstmPackedSize(shape))),
        table_(Rubbish(LstmTableSize(shape))) {
    Stream stream(seed, 0, Purpose::kTest);
    // Large enough for hard gates to reach their ends now and then.
    for (std::size_t i = 0; i < w_.size(); ++i) w_[i] = stream.Uniform(-1.0f, 1.0f);
    for (std::size_t i = 0; i < delta_.size(); ++i) delta_[i] = stream.Uniform(-1.0f, 1.0f);
    if (Symbols()) {
      symbols_.resize(batch * shape.steps);
      for (auto& symbol : symbols_) symbol = static_cast<std::uint32_t>(stream.Below(shape.inputs));
    } else {
      x_ = FlatVector(batch * stride_);
      for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = stream.Uniform(-2.0f, 2.0f);
    }
  }

  struct Result {
    std::vector<float> output, gradient, before;
    bool operator==(const Result&) const = default;
  };

  // backwards: parts in another order, as threads might come to them.
  Result Run(Numerics numerics, bool backwards = false) {
    Result result{.output = std::vector<float>(batch_ * out_stride_, 7.0f),
                  .gradient = std::vector<float>(w_.size()),
                  .before = std::vector<float>(x_.size(), 7.0f)};
    const std::size_t recurrent = 4 * shape_.units * shape_.inputs;
    const std::size_t bias = recurrent + 4 * shape_.units * shape_.units;
    LstmPack(shape_, {w_.data(), w_.data() + recurrent, w_.data() + bias}, packed_.data());
    const std::size_t most = LstmPartSamples(batch_);
    const std::size_t count = LstmParts(batch_);
    const std::size_t distance = (LstmPartGradientSize(shape_) + 15) / 16 * 16;
    FlatVector gradients = Rubbish(count * distance);
    std::vector<FlatVector> tapes;
    std::vector<LstmPart> parts;
    for (std::size_t p = 0; p < count; ++p) {
      const std::size_t samples = std::min(most, batch_ - p * most);
      tapes.push_back(Rubbish(LstmTapeSize(shape_, samples)));
      parts.push_back({.samples = samples, .tape = tapes.back().data()});
      if (Symbols()) {
        parts.back().symbols = symbols_.data() + p * most * shape_.steps;
      } else {
        parts.back().values = x_.data() + p * most * stride_;
        parts.back().stride = stride_;
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t p = backwards ? count - 1 - i : i;
      LstmForward(shape_, numerics, packed_.data(), parts[p], out_stride_,
                  result.output.data() + p * most * out_stride_);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t p = backwards ? count - 1 - i : i;
      LstmBackward(shape_, numerics, packed_.data(), parts[p],
                   {.delta = delta_.data() + p * most * out_stride_,
                    .delta_stride = out_stride_,
                    .before = Symbols() ? nullptr : result.before.data() + p * most * stride_,
                    .before_stride = stride_,
                    .gradient = gradients.data() + p * distance});
    }
    for (std::size_t i = 0; Symbols() && i < kLstmRanges; ++i) {
      const std::size_t range = backwards ? kLstmRanges - 1 - i : i;
      LstmScatter(shape_, parts.data(), count, range, table_.data());
    }
    LstmGradient(shape_, gradients.data(), distance, count, Symbols() ? table_.data() : nullptr,
                 result.gradient);
    return result;
  }

  Result Plain() const {
    PlainLstm plain(shape_);
    const std::vector<double> w(w_.data(), w_.data() + w_.size());
    std::vector<double> dw(w.size());
    Result result{.output = std::vector<float>(batch_ * out_stride_, 7.0f),
                  .gradient = {},
                  .before = std::vector<float>(x_.size(), 7.0f)};
    for (std::size_t b = 0; b < batch_; ++b) {
      const std::vector<double> x = Sample(b);
      const auto out = plain.Forward(w, x);
      const float* from = delta_.data() + b * out_stride_;
      const std::vector<double> delta(from, from + outputs_);
      std::vector<double> dx(x.size());
      plain.Backward(w, x, delta, dw, dx);
      for (std::size_t i = 0; i < out.size(); ++i) {
        result.output[b * out_stride_ + i] = static_cast<float>(out[i]);
      }
      for (std::size_t i = 0; !Symbols() && i < dx.size(); ++i) {
        result.before[b * stride_ + i] = static_cast<float>(dx[i]);
      }
    }
    result.gradient.assign(dw.begin(), dw.end());
    return result;
  }

  FlatVector& x() { return x_; }
  std::size_t out_stride() const { return out_stride_; }

 private:
  bool Symbols() const { return shape_.input == LstmInputKind::kSymbols; }

  std::vector<double> Sample(std::size_t b) const {
    std::vector<double> x(shape_.steps * shape_.inputs);
    for (std::size_t t = 0; t < shape_.steps; ++t) {
      if (Symbols()) {
        x[t * shape_.inputs + symbols_[b * shape_.steps + t]] = 1;
        continue;
      }
      for (std::size_t k = 0; k < shape_.inputs; ++k) {
        x[t * shape_.inputs + k] = static_cast<double>(x_[b * stride_ + t * shape_.inputs + k]);
      }
    }
    return x;
  }

  LstmShape shape_;
  std::size_t batch_, outputs_, stride_, out_stride_;
  FlatVector w_, x_, delta_, packed_, table_;
  std::vector<std::uint32_t> symbols_;
};

std::vector<LstmShape> Shapes() {
  std::vector<LstmShape> shapes;
  for (const auto gates : {LstmGates::kSigmoid, LstmGates::kHardSigmoid}) {
    for (const auto output : {LstmOutputKind::kLast, LstmOutputKind::kSequence}) {
      for (const auto input : {LstmInputKind::kFloats, LstmInputKind::kSymbols}) {
        shapes.push_back({.inputs = 6,
                          .units = 5,
                          .steps = 9,
                          .gates = gates,
                          .input = input,
                          .output = output});
        shapes.push_back({.inputs = 19,
                          .units = 17,
                          .steps = 3,
                          .gates = gates,
                          .input = input,
                          .output = output});
      }
    }
  }
  shapes.push_back({.inputs = 1, .units = 1, .steps = 1});
  shapes.push_back({.inputs = 50, .units = 16, .steps = 4});
  shapes.push_back({.inputs = 3, .units = 50, .steps = 12, .output = LstmOutputKind::kSequence});
  shapes.push_back({.inputs = 33, .units = 64, .steps = 2});
  return shapes;
}

std::string Show(const LstmShape& shape, std::size_t batch) {
  return std::to_string(shape.inputs) + "-" + std::to_string(shape.units) + " steps " +
         std::to_string(shape.steps) + " gates " + std::to_string(static_cast<int>(shape.gates)) +
         " input " + std::to_string(static_cast<int>(shape.input)) + " output " +
         std::to_string(static_cast<int>(shape.output)) + " batch " + std::to_string(batch);
}

void ExpectNear(const std::vector<float>& got, const std::vector<float>& wanted, float tolerance) {
  ASSERT_EQ(got.size(), wanted.size());
  float greatest = 1e-6f;
  for (const float value : wanted) greatest = std::max(greatest, std::abs(value));
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], wanted[i], tolerance * greatest) << i;
  }
}

template <class Body>
void ForEachCase(const Body& body) {
  for (const LstmShape& shape : Shapes()) {
    for (const std::size_t batch : {1u, 7u, 8u, 33u}) body(shape, batch);
  }
  body({.inputs = 4, .units = 7, .steps = 5, .output = LstmOutputKind::kSequence}, 128);
  body({.inputs = 4, .units = 7, .steps = 2, .input = LstmInputKind::kSymbols}, 300);
}

TEST(LstmProperty, KernelsEqualPlainLoopsInDouble) {
  AtEveryLevel([] {
    ForEachCase([](const LstmShape& shape, std::size_t batch) {
      SCOPED_TRACE(Show(shape, batch));
      Layer layer(shape, batch, 3);
      const auto wanted = layer.Plain();
      for (const Numerics numerics : {Numerics::kFast, Numerics::kPortable}) {
        SCOPED_TRACE(Name(numerics));
        const auto got = layer.Run(numerics);
        ExpectNear(got.output, wanted.output, 1e-5f);
        ExpectNear(got.gradient, wanted.gradient, 3e-5f);
        ExpectNear(got.before, wanted.before, 3e-5f);
      }
    });
  });
}

// What tells the plain loops from a common misunderstanding.
TEST(LstmProperty, PlainLoopsEqualCentralDifferences) {
  for (const LstmShape& shape : Shapes()) {
    if (shape.inputs > 10 || shape.units > 20 || shape.input == LstmInputKind::kSymbols) continue;
    SCOPED_TRACE(Show(shape, 1));
    PlainLstm plain(shape);
    Stream stream(4, 0, Purpose::kTest);
    const auto drawn = [&stream](std::size_t n) {
      std::vector<double> values(n);
      for (double& value : values) value = stream.Uniform() - 0.5;
      return values;
    };
    auto w = drawn(plain.parameters());
    auto x = drawn(shape.steps * shape.inputs);
    const auto delta = drawn(plain.outputs());
    std::vector<double> dw(w.size()), dx(x.size());
    plain.Forward(w, x);
    plain.Backward(w, x, delta, dw, dx);
    const auto loss = [&] {
      const auto out = plain.Forward(w, x);
      double sum = 0;
      for (std::size_t i = 0; i < out.size(); ++i) sum += out[i] * delta[i];
      return sum;
    };
    const auto check = [&](std::vector<double>& values, const std::vector<double>& gradient) {
      constexpr double kStep = 1e-5;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double at = values[i];
        values[i] = at + kStep;
        const double above = loss();
        values[i] = at - kStep;
        const double below = loss();
        values[i] = at;
        ASSERT_NEAR((above - below) / (2 * kStep), gradient[i], 1e-8) << i;
      }
    };
    check(w, dw);
    check(x, dx);
  }
}

TEST(LstmProperty, PortableNumericsGiveTheSameBitsAtEveryLevel) {
  ForEachCase([](const LstmShape& shape, std::size_t batch) {
    SCOPED_TRACE(Show(shape, batch));
    Layer layer(shape, batch, 5);
    const auto first = layer.Run(Numerics::kPortable);
    AtEveryLevel([&] { EXPECT_EQ(layer.Run(Numerics::kPortable), first); });
  });
}

TEST(LstmProperty, TheOrderInWhichPartsRunChangesNoBit) {
  AtEveryLevel([] {
    for (const auto input : {LstmInputKind::kFloats, LstmInputKind::kSymbols}) {
      Layer layer({.inputs = 4, .units = 7, .steps = 5, .input = input}, 70, 6);
      for (const Numerics numerics : {Numerics::kFast, Numerics::kPortable}) {
        EXPECT_EQ(layer.Run(numerics, true), layer.Run(numerics, false));
      }
    }
  });
}

TEST(LstmProperty, ASamplesOutputDoesNotDependOnItsBatch) {
  AtEveryLevel([] {
    const LstmShape shape{.inputs = 6, .units = 21, .steps = 4};
    Layer all(shape, 40, 7);
    Layer one(shape, 1, 7);  // the same weights
    for (const std::size_t b : {0u, 9u, 39u}) {
      const std::size_t stride = one.x().size();
      for (std::size_t i = 0; i < stride; ++i) one.x()[i] = all.x()[b * stride + i];
      const auto alone = one.Run(Numerics::kFast).output;
      const auto batch = all.Run(Numerics::kFast).output;
      for (std::size_t u = 0; u < shape.units; ++u) {
        EXPECT_EQ(alone[u], batch[b * all.out_stride() + u]);
      }
    }
  });
}

TEST(LstmProperty, ANanInReachesTheOutput) {
  AtEveryLevel([] {
    for (const auto gates : {LstmGates::kSigmoid, LstmGates::kHardSigmoid}) {
      for (const Numerics numerics : {Numerics::kFast, Numerics::kPortable}) {
        Layer layer({.inputs = 6, .units = 5, .steps = 4, .gates = gates}, 3, 8);
        layer.x()[layer.x().size() / 3 + 2] = std::numeric_limits<float>::quiet_NaN();  // sample 1
        const auto output = layer.Run(numerics).output;
        for (std::size_t u = 0; u < 5; ++u) {
          EXPECT_FALSE(std::isnan(output[u]));
          EXPECT_TRUE(std::isnan(output[layer.out_stride() + u]));
        }
      }
    }
  });
}

TEST(LstmProperty, PartsCoverEachBatch) {
  for (std::size_t batch = 1; batch < 2000; ++batch) {
    const std::size_t most = LstmPartSamples(batch);
    const std::size_t count = LstmParts(batch);
    ASSERT_EQ(most % 16, 0u) << batch;
    ASSERT_LE(count, 8u) << batch;
    ASSERT_GE(count * most, batch);
    ASSERT_LT((count - 1) * most, batch);
  }
}

TEST(LstmDeathTest, ASymbolOutsideTheAlphabetStopsTheProgram) {
  const LstmShape shape{.inputs = 3, .units = 2, .steps = 1, .input = LstmInputKind::kSymbols};
  FlatVector packed(LstmPackedSize(shape)), tape(LstmTapeSize(shape, 1)), output(16);
  const std::uint32_t symbol = 3;
  const LstmPart part{.samples = 1, .symbols = &symbol, .tape = tape.data()};
  EXPECT_DEATH(LstmForward(shape, Numerics::kFast, packed.data(), part, 16, output.data()),
               "symbols");
}

}  // namespace
}  // namespace covey::tensor::lstm_test
