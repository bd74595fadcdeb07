#include "covey/wire/bodies.h"

#include <gtest/gtest.h>

namespace covey::wire {
namespace {

TEST(CleanText, KeepsPrintableAscii) { EXPECT_EQ(CleanText("mlp 12-32~4", 64), "mlp 12-32~4"); }

TEST(CleanText, ReplacesWhatATerminalWouldObey) {
  EXPECT_EQ(CleanText("a\x1b[31m\n\x7f\xff", 64), "a?[31m???");
  EXPECT_EQ(CleanText(std::string_view("\0x", 2), 64), "?x");
}

TEST(CleanText, CutsAtTheLimit) {
  EXPECT_EQ(CleanText("abcd", 4), "abcd");
  EXPECT_EQ(CleanText("abcde", 4), "abcd");
  EXPECT_EQ(CleanText("abc", 0), "");
}

}  // namespace
}  // namespace covey::wire
