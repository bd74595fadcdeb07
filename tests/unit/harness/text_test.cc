#include "harness/text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace covey::harness {
namespace {

TEST(Text, FixedRoundsAndHasNoNegativeZero) {
  EXPECT_EQ(Fixed(0.87416, 4), "0.8742");
  EXPECT_EQ(Fixed(-0.0001, 2), "0.00");
  EXPECT_EQ(Fixed(-0.5, 1), "-0.5");
  EXPECT_EQ(Fixed(NAN, 2), "nan");
  EXPECT_EQ(Fixed(-INFINITY, 2), "-inf");
  EXPECT_EQ(Fixed(1e308, 30).size(), 309u + 1 + 30);
}

TEST(Text, GroupedPutsCommas) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(1000), "1,000");
  EXPECT_EQ(Grouped(18446744073709551615ULL), "18,446,744,073,709,551,615");
}

TEST(Text, BytesGoOnToTheNextUnitBeforeRoundingToAThousand) {
  EXPECT_EQ(Bytes(999), "999 B");
  EXPECT_EQ(Bytes(1000), "1.00 kB");
  EXPECT_EQ(Bytes(999'949), "999.9 kB");
  EXPECT_EQ(Bytes(999'950), "1.00 MB");
  EXPECT_EQ(Bytes(14'200'000), "14.2 MB");
}

TEST(Text, SpanChangesUnits) {
  EXPECT_EQ(Span(8.44), "8.4 s");
  EXPECT_EQ(Span(59.96), "1 min 00 s");
  EXPECT_EQ(Span(125), "2 min 05 s");
  EXPECT_EQ(Span(3599.6), "1 h 00 min");
  EXPECT_EQ(Span(3720), "1 h 02 min");
  EXPECT_EQ(Span(-1), "?");
  EXPECT_EQ(Span(NAN), "?");
}

TEST(Text, EscapeHtmlLeavesNoMarkup) {
  EXPECT_EQ(EscapeHtml("<a href=\"x\">'&'</a>"),
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
  EXPECT_EQ(EscapeHtml(std::string("a\x01\x1b") + "b\n"), "a??b\n");
  EXPECT_EQ(EscapeHtml("10 °C"), "10 °C");
}

TEST(Text, CsvFieldQuotesWhatItMust) {
  EXPECT_EQ(CsvField("plain text"), "plain text");
  EXPECT_EQ(CsvField("a,b"), "\"a,b\"");
  EXPECT_EQ(CsvField("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(CsvField("two\nlines"), "\"two\nlines\"");
}

TEST(Text, ShellWordQuotesWhatItMust) {
  EXPECT_EQ(ShellWord("configs/a-b.yaml"), "configs/a-b.yaml");
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("it's $HOME"), "'it'\\''s $HOME'");
}

TEST(Text, PaddingCountsCodePoints) {
  EXPECT_EQ(PadLeft("°", 3), "  °");
  EXPECT_EQ(PadRight("ab", 4), "ab  ");
  EXPECT_EQ(PadRight("abcde", 4), "abcde");
}

}  // namespace
}  // namespace covey::harness
