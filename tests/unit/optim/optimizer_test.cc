#include "covey/optim/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "support/levels.h"

namespace covey::optim {
namespace {

using test::AtEveryLevel;
using Kind = Settings::Kind;

constexpr std::size_t kSize = 37;

std::vector<float> Random(std::uint64_t seed, std::size_t n = kSize) {
  Stream stream(seed, 0, Purpose::kTest);
  std::vector<float> values(n);
  for (float& value : values) value = stream.Uniform(-1.0f, 1.0f);
  return values;
}

std::string ErrorOf(const Settings& settings) {
  const Status status = Validate(settings);
  return status ? "" : status.error().Format();
}

TEST(Settings, DefaultsAreThoseOfKeras) {
  const Settings settings;
  EXPECT_EQ(settings.kind, Kind::kAdam);
  EXPECT_EQ(settings.learning_rate, 1e-3f);
  EXPECT_EQ(settings.beta1, 0.9f);
  EXPECT_EQ(settings.beta2, 0.999f);
  EXPECT_EQ(settings.epsilon, 1e-7f);
  EXPECT_TRUE(Validate(settings));
}

TEST(Settings, EveryFieldIsCheckedAtItsEdge) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  for (const float bad : {0.0f, -1.0f, nan, inf}) {
    EXPECT_NE(ErrorOf({.learning_rate = bad}).find("train.optimizer.learning_rate"),
              std::string::npos);
    EXPECT_NE(ErrorOf({.epsilon = bad}).find("train.optimizer.epsilon"), std::string::npos);
  }
  for (const float bad : {-0.1f, 1.0f, nan}) {
    EXPECT_NE(ErrorOf({.kind = Kind::kSgd, .momentum = bad}).find("momentum"), std::string::npos);
    EXPECT_NE(ErrorOf({.beta1 = bad}).find("beta1"), std::string::npos);
    EXPECT_NE(ErrorOf({.beta2 = bad}).find("beta2"), std::string::npos);
    EXPECT_NE(ErrorOf({.kind = Kind::kQuasiGlobal, .beta = bad}).find("beta"), std::string::npos);
    EXPECT_NE(ErrorOf({.kind = Kind::kQuasiGlobal, .mu = bad}).find("mu"), std::string::npos);
  }
  EXPECT_EQ(ErrorOf({.kind = Kind::kSgd, .momentum = 0.0f}), "");
  EXPECT_EQ(ErrorOf({.kind = Kind::kQuasiGlobal, .beta = 0, .mu = 0}), "");
  EXPECT_EQ(ErrorOf({.kind = Kind::kSgd, .beta1 = 7}), "") << "another optimizer's field";
}

TEST(Optimizer, SgdSubtracts) {
  AtEveryLevel([] {
    Optimizer optimizer({.kind = Kind::kSgd, .learning_rate = 0.5f}, kSize);
    auto x = Random(1);
    const auto before = x;
    const auto g = Random(2);
    optimizer.Step(x, g);
    for (std::size_t i = 0; i < kSize; ++i) EXPECT_EQ(x[i], before[i] - 0.5f * g[i]);
    EXPECT_TRUE(optimizer.state().empty());
  });
}

TEST(Optimizer, MomentumFollowsItsEquation) {
  AtEveryLevel([] {
    Optimizer optimizer({.kind = Kind::kSgd, .learning_rate = 0.1f, .momentum = 0.9f}, kSize);
    auto x = Random(1);
    std::vector<double> expected(x.begin(), x.end());
    std::vector<double> velocity(kSize);
    for (std::uint64_t t = 0; t < 20; ++t) {
      const auto g = Random(100 + t);
      optimizer.Step(x, g);
      for (std::size_t i = 0; i < kSize; ++i) {
        velocity[i] = 0.9 * velocity[i] - 0.1 * static_cast<double>(g[i]);
        expected[i] += velocity[i];
      }
    }
    for (std::size_t i = 0; i < kSize; ++i) {
      EXPECT_NEAR(static_cast<double>(x[i]), expected[i], 1e-5);
    }
  });
}

// Paper: Kingma & Ba 2015, algorithm 1 with the epsilon-hat form at the end of section 2.
TEST(Optimizer, AdamFollowsItsEquationForManySteps) {
  AtEveryLevel([] {
    const Settings settings;
    Optimizer optimizer(settings, kSize);
    auto x = Random(1);
    std::vector<double> expected(x.begin(), x.end());
    std::vector<double> m(kSize), v(kSize);
    const double b1 = static_cast<double>(settings.beta1);
    const double b2 = static_cast<double>(settings.beta2);
    for (int t = 1; t <= 100; ++t) {
      const auto g = Random(100 + static_cast<std::uint64_t>(t));
      optimizer.Step(x, g);
      EXPECT_EQ(optimizer.steps(), static_cast<std::uint64_t>(t))
          << "once a step, not once a slice";
      for (std::size_t i = 0; i < kSize; ++i) {
        const auto gi = static_cast<double>(g[i]);
        m[i] = b1 * m[i] + (1 - b1) * gi;
        v[i] = b2 * v[i] + (1 - b2) * gi * gi;
        const double step = 1e-3 * std::sqrt(1 - std::pow(b2, t)) / (1 - std::pow(b1, t));
        expected[i] -= step * m[i] / (std::sqrt(v[i]) + 1e-7);
      }
    }
    for (std::size_t i = 0; i < kSize; ++i) {
      EXPECT_NEAR(static_cast<double>(x[i]), expected[i], 2e-6);
    }
  });
}

TEST(Optimizer, AdamTakesZeroAndTinyGradients) {
  AtEveryLevel([] {
    Optimizer optimizer({}, 3);
    std::vector<float> x = {1, 1, 1};
    optimizer.Step(x, std::vector<float>{0, 1e-30f, -1e-20f});
    EXPECT_EQ(x[0], 1.0f);
    EXPECT_TRUE(std::isfinite(x[1]) && std::isfinite(x[2]));
  });
}

// Lin et al. 2021, algorithm 1, recomputed scalar by scalar over rounds with steps, mixing, and
// rounds without steps.
TEST(Optimizer, QuasiGlobalFollowsItsEquationOverRounds) {
  AtEveryLevel([] {
    const Settings settings{
        .kind = Kind::kQuasiGlobal, .learning_rate = 0.02f, .beta = 0.9f, .mu = 0.8f};
    Optimizer optimizer(settings, kSize);
    auto x = Random(1);
    std::vector<double> y(x.begin(), x.end()), reference = y, m_hat(kSize);
    const double lr = static_cast<double>(settings.learning_rate);
    const double mu = static_cast<double>(settings.mu);
    std::uint64_t seed = 100;
    double length = 1;  // steps of the last round that had any
    for (const int steps : {3, 1, 0, 10, 0, 0, 2}) {
      for (int h = 0; h < steps; ++h) {
        const auto g = Random(++seed);
        optimizer.Step(x, g);
        for (std::size_t i = 0; i < kSize; ++i) {
          y[i] -= lr * (static_cast<double>(settings.beta) * m_hat[i] + static_cast<double>(g[i]));
        }
      }
      if (steps > 0) length = steps;
      const auto push = Random(++seed);  // what the peers do to x
      for (std::size_t i = 0; i < kSize; ++i) {
        x[i] += 0.01f * push[i];
        y[i] += static_cast<double>(0.01f * push[i]);
      }
      optimizer.Mixed(x);
      for (std::size_t i = 0; i < kSize; ++i) {
        m_hat[i] = mu * m_hat[i] + (1 - mu) * (reference[i] - y[i]) / (lr * length);
        reference[i] = y[i];
      }
    }
    const auto state = optimizer.state();
    ASSERT_EQ(state.size(), 3u);
    EXPECT_EQ(state[0].name, "m_hat");
    for (std::size_t i = 0; i < kSize; ++i) {
      EXPECT_NEAR(static_cast<double>(x[i]), y[i], 1e-5);
      EXPECT_NEAR(static_cast<double>(state[0].values[i]), m_hat[i], 1e-3) << i;
      EXPECT_EQ(state[1].values[i], x[i]) << "x_ref is x after mixing";
    }
  });
}

TEST(Optimizer, QuasiGlobalIgnoresJumpsBeforeTheFirstStep) {
  Optimizer optimizer({.kind = Kind::kQuasiGlobal, .learning_rate = 0.1f}, 2);
  std::vector<float> x = {5, 5};
  optimizer.Mixed(x);
  EXPECT_EQ(optimizer.state()[0].values[0], 0.0f);
  optimizer.Mixed(x);
  EXPECT_EQ(optimizer.state()[0].values[0], 0.0f) << "nothing moved";
}

TEST(Optimizer, OthersDoNothingWhenMixed) {
  for (const Settings& settings : {Settings{}, Settings{.kind = Kind::kSgd, .momentum = 0.9f}}) {
    Optimizer a(settings, kSize), b(settings, kSize);
    auto x = Random(1), y = x;
    for (std::uint64_t t = 0; t < 4; ++t) {
      a.Step(x, Random(t));
      a.Mixed(Random(50 + t));
      b.Step(y, Random(t));
    }
    EXPECT_EQ(x, y);
  }
}

// Restored by name into a fresh optimizer, training goes on bit by bit; also in the middle of a
// round.
TEST(Optimizer, StateRoundTrips) {
  for (const Settings& settings :
       {Settings{}, Settings{.kind = Kind::kSgd, .momentum = 0.9f}, Settings{.kind = Kind::kSgd},
        Settings{.kind = Kind::kQuasiGlobal, .learning_rate = 0.02f}}) {
    Optimizer a(settings, kSize);
    auto x = Random(1);
    const auto run = [](Optimizer& optimizer, std::vector<float>& at, std::uint64_t from) {
      for (std::uint64_t t = from; t < from + 7; ++t) {
        optimizer.Step(at, Random(t));
        if (t % 3 == 0) optimizer.Mixed(at);
      }
    };
    run(a, x, 100);
    Optimizer b(settings, kSize);
    auto y = x;
    const auto from = a.state();
    auto to = b.state();
    ASSERT_EQ(from.size(), to.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      EXPECT_EQ(from[i].name, to[i].name);
      std::copy(from[i].values.begin(), from[i].values.end(), to[i].values.begin());
    }
    b.RestoreSteps(a.steps());
    run(a, x, 107);
    run(b, y, 107);
    EXPECT_EQ(x, y) << Name(settings.kind);
    EXPECT_EQ(a.steps(), b.steps());
  }
}

TEST(ApplyUpdate, StaysWithinItsRange) {
  AtEveryLevel([] {
    for (std::size_t offset = 0; offset < 5; ++offset) {
      for (std::size_t n = 0; n + offset <= kSize; ++n) {
        std::vector<float> x(kSize, 1.0f), m(kSize), v(kSize);
        const std::vector<float> g(n, 1.0f);
        tensor::ApplyUpdate({.kind = tensor::UpdateKind::kAdam,
                             .step = 0.1f,
                             .beta1 = 0.9f,
                             .beta2 = 0.999f,
                             .epsilon = 1e-7f,
                             .first = m.data(),
                             .second = v.data()},
                            offset, g, x);
        for (std::size_t i = 0; i < kSize; ++i) {
          const bool inside = i >= offset && i < offset + n;
          ASSERT_EQ(x[i] != 1.0f, inside) << offset << " " << n << " " << i;
          ASSERT_EQ(m[i] != 0.0f, inside);
          ASSERT_EQ(v[i] != 0.0f, inside);
        }
      }
    }
  });
}

TEST(ApplyUpdateDeathTest, RangeBeyondTheVectorIsAProgrammerError) {
  std::vector<float> x(4), g(3);
  EXPECT_DEATH(tensor::ApplyUpdate({}, 2, g, x), "check failed");
  EXPECT_DEATH(tensor::ApplyUpdate({}, 5, {}, x), "check failed");
}

}  // namespace
}  // namespace covey::optim
