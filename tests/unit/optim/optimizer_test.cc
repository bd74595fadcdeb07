#include "covey/optim/optimizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "covey/base/random.h"
#include "support/levels.h"

namespace covey::optim::optimizer_test {
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

TEST(Optimizer, SgdSubtracts) {
  AtEveryLevel([] {
    Optimizer optimizer({.kind = Kind::kSgd, .learning_rate = 0.5f}, kSize);
    auto x = Random(1);
    const auto before = x;
    const auto g = Random(2);
    optimizer.Step(x, g, 0);
    for (std::size_t i = 0; i < kSize; ++i) EXPECT_EQ(x[i], before[i] - 0.5f * g[i]);
    EXPECT_TRUE(optimizer.state().empty());
  });
}

TEST(Optimizer, AdamTakesZeroAndTinyGradients) {
  AtEveryLevel([] {
    Optimizer optimizer({}, 3);
    std::vector<float> x = {1, 1, 1};
    optimizer.Step(x, std::vector<float>{0, 1e-30f, -1e-20f}, 0);
    EXPECT_EQ(x[0], 1.0f);
    EXPECT_TRUE(std::isfinite(x[1]) && std::isfinite(x[2]));
  });
}

// Recomputed scalar by scalar over rounds with steps, several drains that move x little or far, and
// rounds without steps.
TEST(Optimizer, QuasiGlobalFollowsItsEquationOverRounds) {
  AtEveryLevel([] {
    const Settings settings{.kind = Kind::kQuasiGlobal,
                            .learning_rate = 0.02f,
                            .beta = 0.9f,
                            .mu = 0.8f,
                            .mixing_limit = 3};
    Optimizer optimizer(settings, kSize);
    auto x = Random(1);
    optimizer.EndRound(x);
    std::vector<double> y(x.begin(), x.end()), m_hat(kSize);
    const double lr = static_cast<double>(settings.learning_rate);
    const double mu = static_cast<double>(settings.mu);
    std::uint64_t seed = 100;
    int limited = 0;
    for (const int steps : {3, 1, 0, 10, 0, 0, 2, 4}) {
      std::vector<double> local(kSize), mixed(kSize);
      for (int h = 0; h < steps; ++h) {
        const auto g = Random(++seed);
        optimizer.Step(x, g, 0);
        for (std::size_t i = 0; i < kSize; ++i) {
          local[i] -=
              lr * (static_cast<double>(settings.beta) * m_hat[i] + static_cast<double>(g[i]));
        }
      }
      for (const float far : {0.002f, steps % 2 == 0 ? 0.002f : 1.0f}) {
        const auto push = Random(++seed);  // what the peers do to x
        optimizer.BeginMixing(x);
        for (std::size_t i = 0; i < kSize; ++i) {
          x[i] += far * push[i];
          mixed[i] += static_cast<double>(far * push[i]);
        }
        optimizer.EndMixing(x);
      }
      optimizer.EndRound(x);
      double local_norm = 0, mixed_norm = 0;
      for (std::size_t i = 0; i < kSize; ++i) {
        local_norm += local[i] * local[i];
        mixed_norm += mixed[i] * mixed[i];
      }
      const double counts = std::min(1.0, 3 * std::sqrt(local_norm / mixed_norm));
      if (steps > 0 && counts < 1) ++limited;
      for (std::size_t i = 0; i < kSize; ++i) {
        y[i] += local[i] + mixed[i];
        const double d = steps == 0 ? 0 : -(local[i] + counts * mixed[i]) / (lr * steps);
        m_hat[i] = mu * m_hat[i] + (1 - mu) * d;
      }
    }
    EXPECT_EQ(limited, 2) << "both sides of the limit were taken";
    const auto state = optimizer.state();
    ASSERT_EQ(state.size(), 4u);
    EXPECT_EQ(state[0].name, "m_hat");
    for (std::size_t i = 0; i < kSize; ++i) {
      EXPECT_NEAR(static_cast<double>(x[i]), y[i], 1e-5);
      EXPECT_NEAR(static_cast<double>(state[0].values[i]), m_hat[i], 1e-3) << i;
      EXPECT_EQ(state[1].values[i], x[i]) << "x_ref is x after mixing";
      EXPECT_EQ(state[2].values[i], 0.0f) << "a new round has not been mixed";
    }
  });
}

TEST(Optimizer, QuasiGlobalIgnoresJumpsWithoutTraining) {
  Optimizer optimizer({.kind = Kind::kQuasiGlobal, .learning_rate = 0.1f}, 2);
  std::vector<float> x = {5, 5};
  optimizer.EndRound(x);
  optimizer.BeginMixing(x);
  x = {-7, 9};  // the copy of a peer
  optimizer.EndMixing(x);
  optimizer.EndRound(x);
  EXPECT_EQ(optimizer.state()[0].values[0], 0.0f);
}

// Two nodes whose training only adds noise move half the way to where the other was ten rounds ago.
// Returns: how far they are apart at the end.
double ApartAfterLateAnswers(float mixing_limit) {
  constexpr int kLate = 10;
  const Settings settings{
      .kind = Kind::kQuasiGlobal, .learning_rate = 0.02f, .mixing_limit = mixing_limit};
  Optimizer a(settings, kSize), b(settings, kSize);
  auto x = Random(1), y = Random(2);
  std::vector<std::vector<float>> sent_x, sent_y;
  const auto mix = [](Optimizer& optimizer, std::vector<float>& own, const std::vector<float>& to) {
    optimizer.BeginMixing(own);
    for (std::size_t i = 0; i < kSize; ++i) own[i] += 0.5f * (to[i] - own[i]);
    optimizer.EndMixing(own);
  };
  for (std::uint64_t round = 0; round < 600; ++round) {
    sent_x.push_back(x);
    sent_y.push_back(y);
    a.Step(x, Random(1000 + round), 0);
    b.Step(y, Random(5000 + round), 0);
    if (round % kLate == 0 && round > 0) {
      mix(a, x, sent_y[round - kLate]);
      mix(b, y, sent_x[round - kLate]);
    }
    a.EndRound(x);
    b.EndRound(y);
  }
  double squared = 0;
  for (std::size_t i = 0; i < kSize; ++i) {
    squared += static_cast<double>((x[i] - y[i]) * (x[i] - y[i]));
  }
  return std::sqrt(squared);
}

TEST(Optimizer, TheMixingLimitHoldsNodesTogetherWhenAnswersAreLate) {
  EXPECT_LT(ApartAfterLateAnswers(Settings().mixing_limit), 5);
  EXPECT_GT(ApartAfterLateAnswers(1e6f), 50);
}

// Four nodes with f_i(x) = a_i (x - t_i)^2 / 2 take ten steps a round and then meet in their mean,
// but for losing a share of it. Returns: where they end; the best for all is sum(a t) / sum(a).
double WhereFourNodesMeet(const Settings& settings, std::vector<double>* corrections = nullptr) {
  const std::vector<float> a = {1, 2, 4, 9}, t = {-1, 3, 0.5f, 2};
  std::vector<Optimizer> nodes;
  std::vector<std::vector<float>> x(4, std::vector<float>(1));
  for (std::size_t i = 0; i < 4; ++i) nodes.emplace_back(settings, 1);
  for (std::size_t i = 0; i < 4; ++i) nodes[i].EndRound(x[i]);
  for (int round = 0; round < 3000; ++round) {
    float mean = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      for (int step = 0; step < 10; ++step) {
        nodes[i].Step(x[i], std::vector<float>{a[i] * (x[i][0] - t[i])}, 0);
      }
      mean += x[i][0] / 4;
    }
    for (std::size_t i = 0; i < 4; ++i) {
      nodes[i].BeginMixing(x[i]);
      x[i][0] += 0.75f * (mean - x[i][0]);
      nodes[i].EndMixing(x[i]);
      nodes[i].EndRound(x[i]);
    }
  }
  for (std::size_t i = 0; i < 4 && corrections != nullptr; ++i) {
    const auto state = nodes[i].state();
    EXPECT_EQ(state[3].name, "correction");
    corrections->push_back(static_cast<double>(state[3].values[0]));
  }
  return static_cast<double>((x[0][0] + x[1][0] + x[2][0] + x[3][0]) / 4);
}

TEST(Optimizer, TheCorrectionMovesTheMeetingPointOfUnequalNodesToTheBestForAll) {
  const double best = (1 * -1 + 2 * 3 + 4 * 0.5 + 9 * 2) / 16.0;
  Settings settings{.kind = Kind::kQuasiGlobal, .learning_rate = 0.02f};
  EXPECT_GT(std::abs(WhereFourNodesMeet(settings) - best), 0.05) << "local steps drift apart";
  settings.correction = 0.3f;
  settings.correction_fade = 0;
  std::vector<double> corrections;
  EXPECT_NEAR(WhereFourNodesMeet(settings, &corrections), best, 1e-3);
  // Each is how far the node's own gradient is from the mean gradient there, which is 0.
  EXPECT_NEAR(corrections[0], 1 * (best + 1), 0.01);
  EXPECT_NEAR(corrections[3], 9 * (best - 2), 0.01);
  EXPECT_NEAR(corrections[0] + corrections[1] + corrections[2] + corrections[3], 0, 1e-3);
}

TEST(Optimizer, TheCorrectionFadesAndIsNothingWithoutTraining) {
  const Settings settings{.kind = Kind::kQuasiGlobal,
                          .learning_rate = 0.1f,
                          .correction = 0.5f,
                          .correction_fade = 0.25f};
  Optimizer optimizer(settings, 1);
  std::vector<float> x = {0};
  optimizer.EndRound(x);
  const auto mix = [&](float by) {
    optimizer.BeginMixing(x);
    x[0] += by;
    optimizer.EndMixing(x);
  };
  mix(5);  // no step in this round
  optimizer.EndRound(x);
  EXPECT_EQ(optimizer.state()[3].values[0], 0.0f);
  optimizer.Step(x, std::vector<float>{0}, 0);
  mix(0.2f);
  optimizer.EndRound(x);
  EXPECT_NEAR(optimizer.state()[3].values[0], 0.5f * 0.2f / 0.1f, 1e-5f);
  optimizer.EndRound(x);
  EXPECT_NEAR(optimizer.state()[3].values[0], 0.75f, 1e-5f);
}

TEST(Optimizer, OthersDoNothingWhenMixed) {
  for (const Settings& settings : {Settings{}, Settings{.kind = Kind::kSgd, .momentum = 0.9f}}) {
    Optimizer a(settings, kSize), b(settings, kSize);
    auto x = Random(1), y = x;
    for (std::uint64_t t = 0; t < 4; ++t) {
      a.Step(x, Random(t), 0);
      a.BeginMixing(Random(50 + t));
      a.EndMixing(Random(60 + t));
      a.EndRound(Random(70 + t));
      b.Step(y, Random(t), 0);
    }
    EXPECT_EQ(x, y);
  }
}

// Restored by name into a fresh optimizer, training goes on bit by bit; also in the middle of a
// round.
TEST(Optimizer, StateRoundTrips) {
  for (const Settings& settings :
       {Settings{}, Settings{.kind = Kind::kSgd, .momentum = 0.9f}, Settings{.kind = Kind::kSgd},
        Settings{.kind = Kind::kAdamW, .weight_decay = 0.01f},
        Settings{.kind = Kind::kRmsProp, .momentum = 0.5f}, Settings{.kind = Kind::kRmsProp},
        Settings{.kind = Kind::kBackprop}, Settings{.kind = Kind::kRpropMinus},
        Settings{.kind = Kind::kRpropPlus}, Settings{.kind = Kind::kIrpropMinus},
        Settings{.kind = Kind::kIrpropPlus},
        Settings{.schedule = {.kind = Schedule::Kind::kCosine, .warmup = 9, .length = 20}},
        Settings{.kind = Kind::kQuasiGlobal,
        .learning_rate = 0.02f,
        .schedule = {.kind = Schedule::Kind::kStep, .every = 5}}}) {
    Optimizer a(settings, kSize);
    auto x = Random(1);
    const auto run = [](Optimizer& optimizer, std::vector<float>& at, std::uint64_t from) {
      for (std::uint64_t t = from; t < from + 7; ++t) {
        optimizer.Step(at, Random(t), static_cast<double>(Random(t)[0]));
        if (t % 2 == 0) {
          optimizer.BeginMixing(at);
          at[0] += 0.5f;
          optimizer.EndMixing(at);
        }
        if (t % 3 == 0) optimizer.EndRound(at);
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

// The exchanged vector of a model of 37 parameters: slots stand at multiples of 16.
constexpr std::size_t kPart = 48;

TEST(Optimizer, StepsTheSameWithItsStateInTheExchangedVector) {
  AtEveryLevel([] {
    for (const Settings& settings :
         {Settings{.exchanged = true},
          Settings{.kind = Kind::kAdamW, .weight_decay = 0.1f, .exchanged = true},
          Settings{.kind = Kind::kSgd, .momentum = 0.9f, .exchanged = true},
          Settings{.kind = Kind::kRmsProp, .exchanged = true},
          Settings{.kind = Kind::kRmsProp, .momentum = 0.9f, .exchanged = true}}) {
      SCOPED_TRACE(Name(settings.kind));
      const std::size_t slots = ExchangedSlots(settings);
      std::vector<float> exchanged(ExchangedSize(settings, kSize));
      ASSERT_EQ(exchanged.size(), slots * kPart + kSize);
      Settings apart = settings;
      apart.exchanged = false;
      Optimizer alone(apart, kSize);
      Optimizer placed(settings, kSize);
      placed.PlaceExchanged(exchanged);
      auto x = Random(1);
      const tensor::VectorView parameters = std::span(exchanged).first(kSize);
      std::copy(x.begin(), x.end(), parameters.begin());
      for (std::uint64_t step = 2; step < 5; ++step) {
        alone.Step(x, Random(step), 0);
        placed.Step(parameters, Random(step), 0);
      }
      EXPECT_TRUE(std::equal(x.begin(), x.end(), exchanged.begin()));
      ASSERT_EQ(placed.state().size(), slots);
      for (std::size_t slot = 0; slot < slots; ++slot) {
        const tensor::VectorView values = placed.state()[slot].values;
        EXPECT_EQ(values.data(), exchanged.data() + (slot + 1) * kPart);
        EXPECT_TRUE(std::equal(values.begin(), values.end(), alone.state()[slot].values.begin()));
      }
    }
  });
}

TEST(Optimizer, MeanSquaresThatLateAnswersMadeTooSmallAreRepaired) {
  AtEveryLevel([] {
    const Settings settings{.exchanged = true};
    std::vector<float> exchanged(ExchangedSize(settings, 2));
    float* m = exchanged.data() + kSliceAlignment;
    float* v = exchanged.data() + 2 * kSliceAlignment;
    Optimizer optimizer(settings, 2);
    optimizer.PlaceExchanged(exchanged);
    const tensor::VectorView x = std::span(exchanged).first(2);
    for (int step = 0; step < 100; ++step) optimizer.Step(x, std::vector<float>{1, 1}, 0);
    const float before = x[0];
    optimizer.BeginMixing(x);
    v[0] = -1e-3f;
    m[1] = 0, v[1] = -1e-3f;
    optimizer.EndMixing(x);
    optimizer.Step(x, std::vector<float>{1, 0}, 0);
    EXPECT_NEAR(before - x[0], 0.001f * std::sqrt(1 - std::pow(0.999f, 101.0f)), 1e-4f)
        << "a step of about the learning rate, by m / sqrt(v) = 1";
    EXPECT_GE(v[0], 0.99f * m[0] * m[0]);
    EXPECT_EQ(x[1], before);
    EXPECT_EQ(v[1], 0.0f);
  });
}

}  // namespace
}  // namespace covey::optim::optimizer_test
