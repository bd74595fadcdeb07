#include "covey/base/time.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace covey {
namespace {

using namespace std::chrono_literals;

TEST(Duration, ParsesEveryUnit) {
  const std::pair<std::string_view, Duration> cases[] = {{"0s", 0s},
                                                         {"10s", 10s},
                                                         {"250ms", 250ms},
                                                         {"5us", 5us},
                                                         {"7ns", 7ns},
                                                         {"2min", 2min},
                                                         {"1.5h", 90min},
                                                         {".5s", 500ms},
                                                         {"0.1s", 100ms},
                                                         {"1.0005s", 1000500us},
                                                         {"0.4ns", 0ns},
                                                         {"0.5ns", 1ns},
                                                         {"9000000000s", 9000000000s}};
  for (const auto& entry : cases) {
    const Result<Duration> got = ParseDuration(entry.first);
    ASSERT_TRUE(got) << entry.first;
    EXPECT_EQ(*got, entry.second) << entry.first;
  }
}

TEST(Duration, IsToldToPeopleInThreeDigits) {
  const std::pair<Duration, std::string_view> cases[] = {{0s, "0 s"},
                                                         {999ns, "999 ns"},
                                                         {127341327ns, "127 ms"},
                                                         {1718281203ns, "1.72 s"},
                                                         {18319497ns, "18.3 ms"},
                                                         {30s, "30 s"},
                                                         {2005ms, "2.01 s"},
                                                         {1050us, "1.05 ms"},
                                                         {99960us, "100 ms"},
                                                         {2029s, "2029 s"},
                                                         {1000001ns, "1 ms"},
                                                         {9996us, "10 ms"}};
  for (const auto& [duration, text] : cases) EXPECT_EQ(ReadableDuration(duration), text);
}

TEST(Duration, RefusesWhatIsNotADuration) {
  for (const std::string_view text :
       {"",     "s",    "10",    "10 s", "-1s",         "-0.1ms",   "1e3s",
        "1,5s", "10S",  "10sec", "10m",  "infs",        "nans",     "inf",
        "nan",  "0x1s", " 1s",   "1s ",  "9200000000s", "3000000h", "1e300s"}) {
    const Result<Duration> got = ParseDuration(text);
    ASSERT_FALSE(got) << text;
    EXPECT_EQ(got.error().code, ErrorCode::kConfig);
    EXPECT_NE(got.error().what.find("'" + std::string(text) + "'"), std::string::npos) << text;
    EXPECT_FALSE(got.error().hint.empty());
  }
}

TEST(Duration, FormatIsExactAndParsesBack) {
  EXPECT_EQ(FormatDuration(0s), "0s");
  EXPECT_EQ(FormatDuration(1ns), "1ns");
  EXPECT_EQ(FormatDuration(1500us), "1500us");
  EXPECT_EQ(FormatDuration(250ms), "250ms");
  EXPECT_EQ(FormatDuration(10s), "10s");
  EXPECT_EQ(FormatDuration(90s), "90s");
  EXPECT_EQ(FormatDuration(120s), "2min");
  EXPECT_EQ(FormatDuration(90min), "90min");
  EXPECT_EQ(FormatDuration(48h), "48h");
  for (const Duration value : {Duration(1ns), Duration(999us), Duration(61s), Duration(25h)}) {
    EXPECT_EQ(ParseDuration(FormatDuration(value)).value(), value);
  }
}

TEST(Duration, SecondsAndBack) {
  EXPECT_DOUBLE_EQ(Seconds(1500ms), 1.5);
  EXPECT_EQ(FromSeconds(0.25), 250ms);
}

}  // namespace
}  // namespace covey
