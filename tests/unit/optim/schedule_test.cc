#include "covey/optim/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace covey::optim::schedule_test {
namespace {

using Kind = Schedule::Kind;

TEST(Schedule, ConstantIsOne) {
  EXPECT_EQ(FactorAt({}, 1), 1);
  EXPECT_EQ(FactorAt({}, 1'000'000), 1);
}

TEST(Schedule, WarmUpRisesLinearlyBeforeAnyOfThem) {
  for (const Kind kind : {Kind::kConstant, Kind::kStep, Kind::kCosine}) {
    const Schedule schedule{.kind = kind, .warmup = 4, .every = 2, .drop = 0.5f, .length = 10};
    EXPECT_EQ(FactorAt(schedule, 1), 0.25) << Name(kind);
    EXPECT_EQ(FactorAt(schedule, 4), 1);
    EXPECT_EQ(FactorAt(schedule, 5), 1) << "the schedule itself starts after it";
  }
}

TEST(Schedule, StepDropsEverySoManySteps) {
  const Schedule schedule{.kind = Kind::kStep, .warmup = 1, .every = 3, .drop = 0.5f};
  for (std::uint64_t t = 1; t <= 13; ++t) {
    const double expected = t <= 4 ? 1 : std::pow(0.5, static_cast<double>((t - 2) / 3));
    EXPECT_EQ(FactorAt(schedule, t), expected) << t;
  }
  EXPECT_EQ(FactorAt(schedule, std::numeric_limits<std::uint64_t>::max()), 0) << "underflows";
}

TEST(Schedule, CosineFallsToItsFloorAndStaysThere) {
  const Schedule schedule{.kind = Kind::kCosine, .length = 1000, .floor = 0.1f};
  const auto floor = static_cast<double>(schedule.floor);
  for (std::uint64_t t = 1; t <= 1001; ++t) {
    const double angle = std::numbers::pi * static_cast<double>(t - 1) / 1000;
    EXPECT_NEAR(FactorAt(schedule, t), floor + (1 - floor) * (1 + std::cos(angle)) / 2, 1e-15) << t;
  }
  EXPECT_NEAR(FactorAt(schedule, 5000), floor, 1e-15);
  EXPECT_GE(FactorAt({.kind = Kind::kCosine, .length = 7}, 100), 0) << "never negative";
}

TEST(Schedule, PowerIsThatOfRepeatedMultiplication) {
  EXPECT_EQ(Power(0.5, 0), 1);
  EXPECT_EQ(Power(2, 10), 1024);
  for (const std::uint64_t n : {1u, 7u, 100u, 12345u}) {
    EXPECT_NEAR(Power(0.999, n) / std::pow(0.999, static_cast<double>(n)), 1, 1e-11);
  }
}

TEST(Schedule, BadFieldsAreNamed) {
  const auto error = [](const Schedule& schedule) {
    const Status status = Validate(schedule);
    return status ? std::string() : status.error().Format();
  };
  EXPECT_EQ(error({}), "");
  EXPECT_NE(error({.kind = Kind::kStep}).find("train.schedule.every"), std::string::npos);
  for (const float bad : {0.0f, 1.5f, std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_NE(error({.kind = Kind::kStep, .every = 1, .drop = bad}).find("train.schedule.drop"),
              std::string::npos);
  }
  EXPECT_NE(error({.kind = Kind::kCosine}).find("train.schedule.length"), std::string::npos);
  for (const float bad : {-0.1f, 1.0f, std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_NE(
        error({.kind = Kind::kCosine, .length = 1, .floor = bad}).find("train.schedule.floor"),
        std::string::npos);
  }
  EXPECT_EQ(error({.kind = Kind::kCosine, .length = 1}), "");
}

}  // namespace
}  // namespace covey::optim::schedule_test
