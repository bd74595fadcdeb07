#include "log/escape.h"

#include <gtest/gtest.h>

namespace covey::log {
namespace {

using namespace std::string_view_literals;

TEST(Escape, TextKeepsUtf8AndHidesControlCharacters) {
  EXPECT_EQ(EscapeText("grün 🤖"), "grün 🤖");
  EXPECT_EQ(EscapeText("a\nb\tc\rd\0e\x7f\x1b[31m"sv), "a\\nb\\tc\\x0dd\\x00e\\x7f\\x1b[31m");
  EXPECT_EQ(EscapeText("\xff\xc3"), "\\xff\\xc3");
}

TEST(Escape, OverlongSurrogateAndTooLargeSequencesAreNotUtf8) {
  EXPECT_EQ(EscapeText("\xc0\x8a"), "\\xc0\\x8a");           // overlong line end
  EXPECT_EQ(EscapeText("\xe0\x80\x8a"), "\\xe0\\x80\\x8a");  // overlong in three bytes
  EXPECT_EQ(EscapeText("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(EscapeText("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(Escape, ValuesAreQuotedWhenTheyNeedIt) {
  EXPECT_EQ(EscapeValue("tcp://127.0.0.1:7420"), "tcp://127.0.0.1:7420");
  EXPECT_EQ(EscapeValue(""), "\"\"");
  EXPECT_EQ(EscapeValue("a b"), "\"a b\"");
  EXPECT_EQ(EscapeValue("say \"x=1\"\n"), "\"say \\\"x=1\\\"\\n\"");
}

TEST(Escape, JsonStringsAreValid) {
  EXPECT_EQ(EscapeJson("a\"b\\c\nd\x01 ü"), "a\\\"b\\\\c\\nd\\u0001 ü");
  EXPECT_EQ(EscapeJson("\xff"), "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace covey::log
