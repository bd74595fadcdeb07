// Resilient propagation against its published description.
// Paper: Igel & Huesken 2003, "Empirical evaluation of the improved Rprop learning algorithms",
// algorithms 1 to 4.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "covey/optim/optimizer.h"
#include "support/levels.h"

namespace covey::optim::rprop_test {
namespace {

using test::AtEveryLevel;
using Kind = Settings::Kind;

constexpr std::size_t kSize = 37;
constexpr Kind kKinds[] = {Kind::kRpropMinus, Kind::kRpropPlus, Kind::kIrpropMinus,
                           Kind::kIrpropPlus};

// One weight of algorithms 1 to 4, line by line, with the last move kept as the paper does.
struct Weight {
  double x = 0, step = 0.1, gradient = 0, move = 0;

  static double Sign(double v) { return v > 0 ? 1 : (v < 0 ? -1 : 0); }

  void Step(Kind kind, double g, bool loss_rose) {
    const double product = g * gradient;
    if (product > 0) step = std::min(step * 1.2, 50.0);
    if (product < 0) step = std::max(step * 0.5, 1e-6);
    if (product < 0 && (kind == Kind::kRpropPlus || kind == Kind::kIrpropPlus)) {
      if (kind == Kind::kRpropPlus || loss_rose) x -= move;
      gradient = 0;
      move = 0;
      return;
    }
    if (product < 0 && kind == Kind::kIrpropMinus) g = 0;
    move = -Sign(g) * step;
    x += move;
    gradient = g;
  }
};

TEST(Rprop, FollowsThePaperStepByStep) {
  AtEveryLevel([] {
    for (const Kind kind : kKinds) {
      SCOPED_TRACE(std::string(Name(kind)));
      Optimizer optimizer({.kind = kind}, kSize);
      std::vector<float> x(kSize);
      std::vector<Weight> plain(kSize);
      Stream stream(3, 0, Purpose::kTest);
      double last_loss = 0;
      for (int t = 0; t < 80; ++t) {
        std::vector<float> g(kSize);
        for (float& one : g) one = stream.Uniform(-1.0f, 1.5f);
        if (t % 7 == 0) g[3] = 0;
        const double loss = static_cast<double>(stream.Uniform(0.0f, 1.0f));
        optimizer.Step(x, g, loss);
        for (std::size_t i = 0; i < kSize; ++i) {
          plain[i].Step(kind, static_cast<double>(g[i]), t > 0 && loss > last_loss);
          ASSERT_NEAR(static_cast<double>(x[i]), plain[i].x, 1e-4) << t << " " << i;
        }
        last_loss = loss;
      }
    }
  });
}

// On a slope whose sign stays, steps grow by eta_plus from step to step up to the limit.
TEST(Rprop, StepsGrowWhileSignsAgree) {
  for (const Kind kind : kKinds) {
    Optimizer optimizer({.kind = kind, .step_max = 1.0f}, 1);
    std::vector<float> x = {1000};
    double expected = 0.1;
    for (int t = 0; t < 20; ++t) {
      const float before = x[0];
      optimizer.Step(x, std::vector<float>{2 * x[0]}, 0);
      if (t > 0) expected = std::min(1.2 * expected, 1.0);
      EXPECT_NEAR(static_cast<double>(before - x[0]), expected, 1e-4) << t;
    }
  }
}

TEST(Rprop, ATurnHalvesTheStepAndEachVariantMovesItsOwnWay) {
  struct Case {
    Kind kind;
    double loss;  // of the second step; the first had 1
    float end;
  };
  // The first step goes from 0.05 to -0.05, where the gradient turns.
  for (const Case& c : {Case{Kind::kRpropMinus, 9, 0.0f}, Case{Kind::kRpropPlus, 0.5, 0.05f},
                        Case{Kind::kIrpropMinus, 9, -0.05f}, Case{Kind::kIrpropPlus, 9, 0.05f},
                        Case{Kind::kIrpropPlus, 1, -0.05f}, Case{Kind::kIrpropPlus, 0.5, -0.05f}}) {
    Optimizer optimizer({.kind = c.kind}, 1);
    std::vector<float> x = {0.05f};
    optimizer.Step(x, std::vector<float>{x[0]}, 1);
    ASSERT_NEAR(x[0], -0.05f, 1e-7f);
    optimizer.Step(x, std::vector<float>{x[0]}, c.loss);
    EXPECT_NEAR(x[0], c.end, 1e-7f) << Name(c.kind) << " " << c.loss;
    EXPECT_EQ(optimizer.state()[1].values[0], 0.05f) << "half of the first step";
  }
}

TEST(Rprop, AllReachTheMinimumOfAnIllConditionedQuadratic) {
  AtEveryLevel([] {
    for (const Kind kind : kKinds) {
      Optimizer optimizer({.kind = kind}, 3);
      std::vector<float> x = {5, -70, 0.3f};
      const float curvature[] = {1000, 0.01f, 1};
      for (int t = 0; t < 200; ++t) {
        std::vector<float> g(3);
        double loss = 0;
        for (std::size_t i = 0; i < 3; ++i) {
          g[i] = curvature[i] * x[i];
          loss += static_cast<double>(g[i] * x[i]) / 2;
        }
        optimizer.Step(x, g, loss);
      }
      for (const float one : x) EXPECT_NEAR(one, 0, 1e-3f) << Name(kind);
    }
  });
}

TEST(Rprop, StepsStayWithinTheirLimits) {
  Optimizer optimizer({.kind = Kind::kRpropMinus, .step_min = 0.01f, .step_max = 0.3f}, 2);
  std::vector<float> x = {0, 0};
  for (int t = 0; t < 30; ++t) {
    optimizer.Step(x, std::vector<float>{1, t % 2 == 0 ? 1.0f : -1.0f}, 0);
  }
  const auto step = optimizer.state()[1];
  EXPECT_EQ(step.name, "step");
  EXPECT_EQ(step.values[0], 0.3f);
  EXPECT_EQ(step.values[1], 0.01f);
}

// Only signs count: gradients whose product underflows still agree or turn.
TEST(Rprop, TinyGradientsHaveSignsToo) {
  AtEveryLevel([] {
    Optimizer optimizer({.kind = Kind::kRpropMinus}, 2);
    std::vector<float> x = {0, 0};
    optimizer.Step(x, std::vector<float>{1e-30f, 1e-30f}, 0);
    optimizer.Step(x, std::vector<float>{1e-30f, -1e-30f}, 0);
    EXPECT_EQ(optimizer.state()[1].values[0], 0.1f * 1.2f);
    EXPECT_EQ(optimizer.state()[1].values[1], 0.1f * 0.5f);
  });
}

TEST(Rprop, ZeroAndNaNGradientsMoveNothing) {
  AtEveryLevel([] {
    for (const Kind kind : kKinds) {
      Optimizer optimizer({.kind = kind}, 2);
      std::vector<float> x = {1, 2};
      optimizer.Step(x, std::vector<float>{0, NAN}, 0);
      optimizer.Step(x, std::vector<float>{NAN, 0}, 0);
      EXPECT_EQ(x, (std::vector<float>{1, 2}));
      EXPECT_EQ(optimizer.state()[1].values[0], 0.1f);
    }
  });
}

TEST(Rprop, WeightDecayEntersTheSign) {
  Optimizer optimizer({.kind = Kind::kRpropMinus, .weight_decay = 0.5f}, 1);
  std::vector<float> x = {4};
  optimizer.Step(x, std::vector<float>{-1}, 0);
  EXPECT_EQ(x[0], 3.9f) << "-1 + 0.5 * 4 is positive";
}

}  // namespace
}  // namespace covey::optim::rprop_test
