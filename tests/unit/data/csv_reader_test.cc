#include "data/csv_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace covey::data {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// Reads a text in pieces of `piece` bytes. Returns: its records, or one row with the error.
Rows Read(const std::string& text, char separator = ',', std::size_t piece = 1 << 20) {
  std::size_t at = 0;
  const ReadBytes read = [&](MutableByteView buffer) -> Result<std::size_t> {
    const std::size_t count = std::min({piece, buffer.size(), text.size() - at});
    std::memcpy(buffer.data(), text.data() + at, count);
    at += count;
    return count;
  };
  CsvReader reader(read, separator, "f");
  Rows rows;
  while (true) {
    const auto cells = reader.Next();
    if (!cells) return {{cells.error().where, cells.error().what}};
    if (*cells == nullptr) return rows;
    rows.emplace_back((*cells)->begin(), (*cells)->end());
  }
}

TEST(CsvReader, RecordsEndWithAnyLineEnd) {
  const Rows expected = {{"a", "b"}, {"1", "2"}};
  EXPECT_EQ(Read("a,b\n1,2\n"), expected);
  EXPECT_EQ(Read("a,b\r\n1,2\r\n"), expected);
  EXPECT_EQ(Read("a,b\n1,2"), expected);
  EXPECT_EQ(Read("\n\na , b\n  \n 1,\t2 \n\n"), expected) << "blank lines and blanks don't count";
  EXPECT_EQ(Read("\xef\xbb\xbf"
                 "a,b\n1,2\n"),
            expected)
      << "byte order mark";
  EXPECT_EQ(Read("a;b\n1;2\n", ';'), expected);
  EXPECT_EQ(Read("a\tb\n1\t2\n", '\t'), expected);
  EXPECT_EQ(Read(""), Rows{});
  EXPECT_EQ(Read(",\n"), (Rows{{"", ""}}));
}

TEST(CsvReader, QuotesHoldSeparatorsQuotesAndLineEnds) {
  EXPECT_EQ(Read("\"a,b\",c\n"), (Rows{{"a,b", "c"}}));
  EXPECT_EQ(Read("\"a\"\"b\"\n\"\"\n"), (Rows{{"a\"b"}}));
  EXPECT_EQ(Read("x,\"1\n2\"\r\ny,3\n"), (Rows{{"x", "1\n2"}, {"y", "3"}}));
  EXPECT_EQ(Read(" \" a \" ,b"), (Rows{{" a ", "b"}}));
  EXPECT_EQ(Read("5\" pipe,b\n"), (Rows{{"5\" pipe", "b"}})) << "a quote inside is a character";
}

TEST(CsvReader, PiecesMakeNoDifference) {
  const std::string text =
      "\xef\xbb\xbf"
      "a,\"b\"\"\r\n,\",c\r\n\r\n1,\"2\",3\r\n\"\",,\"x\"";
  const Rows expected = Read(text);
  EXPECT_EQ(expected.size(), 3u);
  for (std::size_t piece = 1; piece < text.size(); ++piece) {
    EXPECT_EQ(Read(text, ',', piece), expected) << piece;
  }
}

TEST(CsvReader, ErrorsNameTheLine) {
  EXPECT_EQ(Read("a\n\"b\n"), (Rows{{"f:2", "a quoted cell that does not end"}}));
  EXPECT_EQ(Read("a\n\"b\"c\n"), (Rows{{"f:2", "text behind a closing quote"}}));
  EXPECT_EQ(Read(std::string("a\0b", 3))[0][1], "a NUL byte: this is no text");
  EXPECT_EQ(Read(std::string("\xff\xfe"
                             "a\0",
                             4))[0][1],
            "UTF-16 text");
}

TEST(CsvReader, RecordsAndCellsHaveLimits) {
  const std::string longest(kMaxCsvRecord, 'a');
  EXPECT_EQ(Read(longest + "\nb\n").size(), 2u);
  EXPECT_EQ(Read("b\n" + longest + "a\nb\n")[0][0], "f:2");
  EXPECT_EQ(Read("b\n\"" + longest + longest)[0][0], "f:2");
  const std::string cells(kMaxCsvColumns - 1, ',');
  EXPECT_EQ(Read(cells + "\n")[0].size(), kMaxCsvColumns);
  EXPECT_EQ(Read(cells + ",\n")[0][0], "f:1");
}

TEST(IsMissing, KnowsTheUsualWords) {
  for (const char* const cell : {"", "?", "NA", "n/a", "NaN", "nan", "NULL", "None"}) {
    EXPECT_TRUE(IsMissing(cell)) << cell;
  }
  for (const char* const cell : {"0", "n", "nap", "no", "??", "nan1", "-"}) {
    EXPECT_FALSE(IsMissing(cell)) << cell;
  }
}

TEST(ParseNumber, ReadsDecimalNumbersAndNothingElse) {
  const std::vector<std::pair<const char*, double>> good = {
      {"0", 0},
      {"-1", -1},
      {"+2.5", 2.5},
      {".5", 0.5},
      {"5.", 5},
      {"1e3", 1000},
      {"-1.5E-2", -0.015},
      {"0.1", 0.1},
      {"123456789012345", 123456789012345},
      {"0.123456789012345", 0.123456789012345},
      {"1234567890.12345678901234567890", 1234567890.1234567},
      {"1e300", 1e300},
      {"007", 7}};
  for (const auto& [cell, value] : good) {
    double got = 99;
    EXPECT_TRUE(ParseNumber(cell, got)) << cell;
    EXPECT_EQ(got, value) << cell;
  }
  for (const char* const cell : {"", "-", ".", "+", "-.", "1,5", "1 2", "1e", "0x10", "nan", "inf",
                                 "-inf", "1e400", "--1", "+-1", "1.2.3", "e5", "12a"}) {
    double got = 99;
    EXPECT_FALSE(ParseNumber(cell, got)) << cell;
  }
}

}  // namespace
}  // namespace covey::data
