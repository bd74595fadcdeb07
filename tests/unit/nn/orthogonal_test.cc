#include "nn/orthogonal.h"

#include <gtest/gtest.h>

#include <vector>

#include "covey/nn/model.h"

namespace covey::nn::orthogonal_test {
namespace {

// Greatest deviation of the products of two rows from 0, of a row with itself from 1.
double Deviation(std::size_t n, tensor::ConstVectorView rows) {
  double worst = 0;
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      double sum = a == b ? -1 : 0;
      for (std::size_t i = 0; i < n; ++i) {
        sum += static_cast<double>(rows[a * n + i]) * static_cast<double>(rows[b * n + i]);
      }
      worst = std::max(worst, std::abs(sum));
    }
  }
  return worst;
}

TEST(Orthogonal, RowsAreOrthonormal) {
  for (const std::size_t n : {1u, 2u, 7u, 50u, 128u}) {
    Stream stream(3, 0, Purpose::kTest);
    std::vector<float> rows(n * n);
    Orthogonal(n, stream, rows);
    EXPECT_LT(Deviation(n, rows), 1e-6) << n;
  }
}

TEST(Orthogonal, ASignIsAsLikelyAsTheOther) {
  Stream stream(4, 0, Purpose::kTest);
  int positive = 0;
  constexpr int kDraws = 400;
  for (int i = 0; i < kDraws; ++i) {
    float value = 0;
    Orthogonal(1, stream, {&value, 1});
    positive += value > 0 ? 1 : 0;
  }
  EXPECT_NEAR(positive, kDraws / 2, 50);
}

TEST(InitialiseLstm, RecurrentGatesAreOrthogonalAndTheForgetGateStartsOpen) {
  constexpr std::size_t kUnits = 9;
  const ModelSpec spec{.input = {4, 3}, .layers = {Lstm{.units = kUnits}, Dense{.units = 2}}};
  const tensor::Layout layout = LayoutOf(spec);
  tensor::FlatVector x(layout.size());
  Stream stream(5, 0, Purpose::kInit);
  Initialise(spec, stream, x.view());
  const tensor::Slice* recurrent = layout.Find("lstm1.weight_hh");
  const tensor::Slice* bias = layout.Find("lstm1.bias");
  ASSERT_NE(recurrent, nullptr);
  ASSERT_NE(bias, nullptr);
  constexpr std::size_t kGate = kUnits * kUnits;
  for (std::size_t gate = 0; gate < 4; ++gate) {
    const auto rows = x.view().subspan(recurrent->offset + gate * kGate, kGate);
    EXPECT_LT(Deviation(kUnits, rows), 1e-6) << gate;
    for (std::size_t u = 0; u < kUnits; ++u) {
      EXPECT_EQ(x[bias->offset + gate * kUnits + u], gate == 1 ? 1.0f : 0.0f);
    }
  }
}

}  // namespace
}  // namespace covey::nn::orthogonal_test
