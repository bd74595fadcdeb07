#include "node/duty_cycle.h"

#include <gtest/gtest.h>

namespace covey::node {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(DutyCycle, ATenthMeansNineTimesAsMuchRest) {
  DutyCycle duty(0.1);
  ASSERT_TRUE(duty.limited());
  Time now = seconds(1);
  Duration trained{};
  while (now < seconds(11)) {
    const Time begin = std::max(now, duty.due());
    duty.Ran(begin, milliseconds(2));
    trained += milliseconds(2);
    now = begin + milliseconds(2);
  }
  EXPECT_NEAR(Seconds(trained), 1.0, 0.01);
}

// A batch that shares its processor with others lasts longer, but takes no more of it.
TEST(DutyCycle, CountsProcessorTimeAndNotThatOfTheClock) {
  DutyCycle duty(0.5);
  duty.Ran(seconds(1), milliseconds(10));
  EXPECT_EQ(duty.due(), seconds(1) - DutyCycle::kCredit + milliseconds(20));
}

TEST(DutyCycle, WhoWasHeldUpCatchesUpForNoLongerThanTheCredit) {
  DutyCycle duty(0.5);
  duty.Ran(seconds(1), milliseconds(10));
  const Time first = duty.due();
  duty.Ran(first + milliseconds(2), milliseconds(10));  // woke 2 ms late
  EXPECT_EQ(duty.due(), first + milliseconds(20));
  duty.Ran(seconds(9), milliseconds(10));
  EXPECT_EQ(duty.due(), seconds(9) - DutyCycle::kCredit + milliseconds(20));
}

TEST(DutyCycle, OneIsNoLimit) { EXPECT_FALSE(DutyCycle(1).limited()); }

}  // namespace
}  // namespace covey::node
