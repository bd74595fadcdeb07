#include "covey/faults/settings.h"

#include <gtest/gtest.h>

#include <limits>

namespace covey::faults {
namespace {

TEST(FaultSettings, DefaultsAreNoFaults) {
  EXPECT_TRUE(Validate(Settings{}).has_value());
  EXPECT_FALSE(Settings{}.any_bytes());
}

TEST(FaultSettings, RatesAreFractions) {
  for (double Settings::*const rate : {&Settings::weights_drop, &Settings::deltas_drop,
                                       &Settings::duplicate, &Settings::corrupt, &Settings::cut}) {
    for (const double good : {0.0, 0.25, 1.0}) {
      Settings settings;
      settings.*rate = good;
      EXPECT_TRUE(Validate(settings).has_value()) << good;
    }
    for (const double bad : {-0.01, 1.01, 25.0, std::numeric_limits<double>::quiet_NaN()}) {
      Settings settings;
      settings.*rate = bad;
      EXPECT_FALSE(Validate(settings).has_value()) << bad;
    }
  }
}

TEST(FaultSettings, ErrorNamesTheKey) {
  Settings settings;
  settings.deltas_drop = 25;
  EXPECT_EQ(Validate(settings).error().where, "faults.deltas_drop");
}

TEST(FaultSettings, DelayIsBetweenNothingAndAnHour) {
  Settings settings;
  settings.delay = std::chrono::hours(1);
  EXPECT_TRUE(Validate(settings).has_value());
  settings.delay += Duration(1);
  EXPECT_FALSE(Validate(settings).has_value());
  settings.delay = Duration(-1);
  EXPECT_FALSE(Validate(settings).has_value());
}

TEST(FaultSettings, AnyByteFaultSwitchesTheDecoratorOn) {
  Settings settings;
  settings.throttle = ByteCount{1};
  EXPECT_TRUE(settings.any_bytes());
  settings = {};
  settings.cut = 0.1;
  EXPECT_TRUE(settings.any_bytes());
  settings = {};
  settings.corrupt = 0.1;
  EXPECT_TRUE(settings.any_bytes());
}

}  // namespace
}  // namespace covey::faults
