#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "covey/data/split.h"
#include "support/idx_files.h"

namespace covey::data::split_csv_test {
namespace {

using Kind = PartitionSettings::Kind;
using testing::HasSubstr;

class SplitCsvTest : public ::testing::Test {
 protected:
  SplitCsvTest() {
    settings_.folder = folder_ / "parts";
    settings_.partition.kind = Kind::kBlocks;
    settings_.partition.part.count = 2;
  }
  void Write(const std::string& text) { std::ofstream(folder_ / "a.csv") << text; }
  Result<std::vector<SplitPart>> Split() { return SplitCsv(folder_ / "a.csv", settings_); }
  std::string Read(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(folder_ / ("parts/" + name)).rdbuf();
    return text.str();
  }
  std::string Bad(ErrorCode code) {
    const auto parts = Split();
    EXPECT_FALSE(parts.has_value());
    if (parts) return "";
    EXPECT_EQ(parts.error().code, code);
    return parts.error().Format();
  }

  test::TemporaryFolder folder_;
  SplitSettings settings_;
};

TEST_F(SplitCsvTest, CellsKeepTheirText) {
  Write("name;\"a;b\"\n\"he said \"\"no\"\"\";1\n\" blank \";\"two\nlines\"\nplain;3\n");
  const auto parts = Split();
  ASSERT_TRUE(parts.has_value()) << parts.error().Format();
  EXPECT_EQ((*parts)[0].rows + (*parts)[1].rows, 3u);
  EXPECT_EQ(Read("1.csv") + Read("2.csv"),
            "name;\"a;b\"\n\"he said \"\"no\"\"\";1\n\" blank \";\"two\nlines\"\n"
            "name;\"a;b\"\nplain;3\n");
}

TEST_F(SplitCsvTest, WithoutAHeaderThereIsNone) {
  Write("1,2\n3,4\n");
  ASSERT_TRUE(Split().has_value());
  EXPECT_EQ(Read("1.csv"), "1,2\n");
  EXPECT_EQ(Read("2.csv"), "3,4\n");
}

TEST_F(SplitCsvTest, KeysNameFilesWhereTheyCan) {
  settings_.partition.kind = Kind::kKey;
  settings_.csv.key = "who";
  Write("who,x\n../up,1\nann,2\n../up,3\n");
  const auto parts = Split();
  ASSERT_TRUE(parts.has_value()) << parts.error().Format();
  EXPECT_EQ(Read("part-1.csv"), "who,x\n../up,1\n../up,3\n");
  EXPECT_EQ(Read("ann.csv"), "who,x\nann,2\n");
}

TEST_F(SplitCsvTest, WhatIsThereStaysAndWhatWasBegunGoes) {
  Write("x,y\n1,2\n3,4\n");
  ASSERT_TRUE(Split().has_value());
  EXPECT_THAT(Bad(ErrorCode::kCantCreate), HasSubstr("1.csv"));
  EXPECT_EQ(Read("1.csv"), "x,y\n1,2\n");
  settings_.overwrite = true;
  EXPECT_TRUE(Split().has_value());
  settings_.overwrite = false;
  settings_.folder = folder_ / "fresh";
  Write("x,y\n1,2\n3,4\n5\n");
  EXPECT_THAT(Bad(ErrorCode::kData), HasSubstr("a.csv:4: 1 cells"));
  EXPECT_FALSE(std::ifstream(folder_ / "fresh/1.csv").good());
}

TEST_F(SplitCsvTest, LimitsAreKept) {
  Write("x,y\n1,2\n3,4\n");
  settings_.partition.part.count = 0;
  EXPECT_THAT(Bad(ErrorCode::kConfig), HasSubstr("wanted 1 to 4096"));
  settings_.partition.part.count = kMaxParts + 1;
  Bad(ErrorCode::kConfig);
  settings_.partition.part.count = 3;
  EXPECT_THAT(Bad(ErrorCode::kData), HasSubstr("leaves no sample"));
  std::string text = "x,who\n";
  for (std::size_t i = 0; i <= kMaxParts; ++i) text += "1,k" + std::to_string(i) + '\n';
  Write(text);
  settings_.partition.kind = Kind::kKey;
  settings_.csv.key = "who";
  EXPECT_THAT(Bad(ErrorCode::kData), HasSubstr("too many different keys"));
}

}  // namespace
}  // namespace covey::data::split_csv_test
