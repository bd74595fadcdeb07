// Every rule against a plain implementation in double, over many steps, with weight decay, schedule
// and clipping.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "covey/optim/optimizer.h"
#include "support/levels.h"

namespace covey::optim::rules_test {
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

double Wide(float value) { return static_cast<double>(value); }

// The equations of optimizer.h, read again from their sources.
class Plain {
 public:
  Plain(const Settings& settings, const std::vector<float>& start)
      : s_(settings), x(start.begin(), start.end()), a_(start.size()), b_(start.size()) {}

  void Step(const std::vector<float>& gradient) {
    ++t_;
    std::vector<double> g(gradient.begin(), gradient.end());
    Clip(g);
    const double lr = Wide(s_.learning_rate) * FactorAt(s_.schedule, t_);
    for (std::size_t i = 0; i < g.size(); ++i) {
      if (s_.kind == Kind::kAdamW) {
        x[i] -= lr * Wide(s_.weight_decay) * x[i];
      } else {
        g[i] += Wide(s_.weight_decay) * x[i];
      }
      One(lr, g[i], x[i], a_[i], b_[i]);
    }
  }

 private:
  void Clip(std::vector<double>& g) const {
    double squares = 0;
    for (const double one : g) squares += one * one;
    const double norm = std::sqrt(squares);
    const double most = Wide(s_.clip.norm);
    for (double& one : g) {
      if (most > 0 && norm > most) one *= most / norm;
      const double limit = Wide(s_.clip.value);
      if (limit > 0) one = std::clamp(one, -limit, limit);
    }
  }

  void One(double lr, double g, double& at, double& a, double& b) const {
    const double t = static_cast<double>(t_);
    switch (s_.kind) {
      case Kind::kSgd:
        a = Wide(s_.momentum) * a - lr * g;
        at += s_.nesterov ? Wide(s_.momentum) * a - lr * g : a;
        break;
      case Kind::kAdam:
      case Kind::kAdamW: {
        const double b1 = Wide(s_.beta1), b2 = Wide(s_.beta2);
        a = b1 * a + (1 - b1) * g;
        b = b2 * b + (1 - b2) * g * g;
        at -= lr * std::sqrt(1 - std::pow(b2, t)) / (1 - std::pow(b1, t)) * a /
              (std::sqrt(b) + Wide(s_.epsilon));
        break;
      }
      case Kind::kRmsProp:
        b = Wide(s_.decay) * b + (1 - Wide(s_.decay)) * g * g;
        a = Wide(s_.momentum) * a + lr * g / std::sqrt(b + Wide(s_.epsilon));
        at -= a;
        break;
      case Kind::kBackprop:
        at -= lr * (Wide(s_.blend) * g + (1 - Wide(s_.blend)) * a);
        a = g;
        break;
      default:
        FAIL() << "not here: " << Name(s_.kind);
    }
  }

  Settings s_;
  std::uint64_t t_ = 0;

 public:
  std::vector<double> x;

 private:
  std::vector<double> a_, b_;
};

std::vector<Settings> Plainly() {
  return {{.kind = Kind::kSgd, .learning_rate = 0.1f},
          {.kind = Kind::kSgd, .learning_rate = 0.1f, .momentum = 0.9f},
          {.kind = Kind::kSgd, .learning_rate = 0.1f, .momentum = 0.9f, .nesterov = true},
          {.kind = Kind::kAdam, .learning_rate = 0.01f},
          {.kind = Kind::kAdamW, .learning_rate = 0.01f, .weight_decay = 0.5f},
          {.kind = Kind::kRmsProp, .learning_rate = 0.01f},
          {.kind = Kind::kRmsProp, .learning_rate = 0.01f, .epsilon = 0.1f},
          {.kind = Kind::kRmsProp, .learning_rate = 0.01f, .momentum = 0.8f},
          {.kind = Kind::kBackprop, .learning_rate = 0.1f, .blend = 0.7f},
          {.kind = Kind::kBackprop, .learning_rate = 0.1f, .blend = 1}};
}

void ExpectAsPlain(const Settings& settings, tensor::Numerics numerics) {
  SCOPED_TRACE(std::string(Name(settings.kind)));
  ASSERT_TRUE(Validate(settings));
  Optimizer optimizer(settings, kSize, numerics);
  auto x = Random(1);
  Plain plain(settings, x);
  for (std::uint64_t t = 1; t <= 60; ++t) {
    const auto g = Random(100 + t);
    optimizer.Step(x, g, 0);
    plain.Step(g);
    ASSERT_EQ(optimizer.steps(), t) << "once a step, not once a slice";
  }
  double moved = 0;
  for (std::size_t i = 0; i < kSize; ++i) {
    ASSERT_NEAR(Wide(x[i]), plain.x[i], 1e-5) << i;
    moved += std::abs(plain.x[i] - Wide(Random(1)[i]));
  }
  EXPECT_GT(moved, 0.01 * kSize) << "otherwise the comparison says little";
}

TEST(Rules, FollowTheirEquations) {
  AtEveryLevel([] {
    for (const Settings& settings : Plainly()) {
      ExpectAsPlain(settings, tensor::Numerics::kFast);
      ExpectAsPlain(settings, tensor::Numerics::kPortable);
    }
  });
}

TEST(Rules, FollowThemWithWeightDecayScheduleAndClipping) {
  AtEveryLevel([] {
    for (Settings settings : Plainly()) {
      settings.weight_decay = 0.05f;
      ExpectAsPlain(settings, tensor::Numerics::kFast);
      settings.schedule = {.kind = Schedule::Kind::kStep, .warmup = 5, .every = 20, .drop = 0.5f};
      ExpectAsPlain(settings, tensor::Numerics::kFast);
      settings.clip = {.norm = 1.5f};
      ExpectAsPlain(settings, tensor::Numerics::kFast);
      settings.clip = {.norm = 3, .value = 0.4f};
      ExpectAsPlain(settings, tensor::Numerics::kPortable);
    }
  });
}

// The same bits on every level: what `numerics: portable` promises.
TEST(Rules, PortableNumericsGiveTheSameBitsOnEveryLevel) {
  for (Settings settings : Plainly()) {
    settings.weight_decay = 0.05f;
    settings.schedule = {.kind = Schedule::Kind::kCosine, .warmup = 3, .length = 20};
    settings.clip = {.norm = 1.5f, .value = 0.4f};
    std::vector<std::vector<float>> ends;
    AtEveryLevel([&] {
      Optimizer optimizer(settings, kSize, tensor::Numerics::kPortable);
      auto x = Random(1);
      for (std::uint64_t t = 1; t <= 30; ++t) optimizer.Step(x, Random(100 + t), 0);
      ends.push_back(x);
    });
    for (const auto& end : ends) EXPECT_EQ(end, ends.front()) << Name(settings.kind);
  }
}

TEST(Rules, ThoseThatNeedTheWholeGradientAreNotFused) {
  for (const Settings& settings : Plainly()) {
    EXPECT_TRUE(Optimizer(settings, 1).fused()) << Name(settings.kind);
  }
  EXPECT_TRUE(Optimizer({.kind = Kind::kQuasiGlobal}, 1).fused());
  EXPECT_FALSE(Optimizer({.clip = {.norm = 1}}, 1).fused());
  EXPECT_FALSE(Optimizer({.clip = {.value = 1}}, 1).fused());
  for (const Kind kind :
       {Kind::kRpropMinus, Kind::kRpropPlus, Kind::kIrpropMinus, Kind::kIrpropPlus}) {
    EXPECT_FALSE(Optimizer({.kind = kind}, 1).fused());
  }
}

TEST(RulesDeathTest, AnUnfusedRuleHasNoFirstHalf) {
  Optimizer optimizer({.clip = {.norm = 1}}, 2);
  const std::vector<float> x(2);
  EXPECT_DEATH(optimizer.BeginStep(x), "check failed");
}

TEST(Clip, KeepsWhatIsWithinAndLetsNaNThrough) {
  AtEveryLevel([] {
    Optimizer optimizer({.kind = Kind::kSgd, .learning_rate = 1, .clip = {.norm = 5}}, 2);
    std::vector<float> x = {0, 0};
    optimizer.Step(x, std::vector<float>{3, 4}, 0);
    EXPECT_EQ(x, (std::vector<float>{-3, -4})) << "a norm at the limit is left alone";
    x = {0, 0};
    optimizer.Step(x, std::vector<float>{6, 8}, 0);
    EXPECT_EQ(x, (std::vector<float>{-3, -4}));
    Optimizer by_value({.kind = Kind::kSgd, .learning_rate = 1, .clip = {.value = 2}}, 3);
    x = {0, 0, 0};
    by_value.Step(x, std::vector<float>{2, -9, NAN}, 0);
    EXPECT_EQ(x[0], -2.0f);
    EXPECT_EQ(x[1], 2.0f);
    EXPECT_TRUE(std::isnan(x[2])) << "a NaN must be seen";
  });
}

TEST(Accumulate, AddsToWhatIsThere) {
  AtEveryLevel([] {
    std::vector<float> x(kSize, 7.0f), sum = Random(1);
    const auto before = sum;
    const auto g = Random(2);
    tensor::ApplyUpdate({.kind = tensor::UpdateKind::kAccumulate, .l2 = 3, .first = sum.data()}, 0,
                        g, x, tensor::Numerics::kFast);
    for (std::size_t i = 0; i < kSize; ++i) EXPECT_EQ(sum[i], before[i] + g[i]);
    EXPECT_EQ(x, std::vector<float>(kSize, 7.0f));
  });
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
                            offset, g, x, tensor::Numerics::kFast);
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
  EXPECT_DEATH(tensor::ApplyUpdate({}, 2, g, x, tensor::Numerics::kFast), "check failed");
  EXPECT_DEATH(tensor::ApplyUpdate({}, 5, {}, x, tensor::Numerics::kFast), "check failed");
}

}  // namespace
}  // namespace covey::optim::rules_test
