#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "covey/data/dataset.h"
#include "data/name_pattern.h"
#include "support/idx_files.h"

namespace covey::data::recordings_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Recordings : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_.path() / "in" / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  Source Windows(std::size_t length, std::size_t columns, std::size_t step) const {
    Source source;
    source.recordings = (folder_.path() / "in").string();
    source.shape = {length, columns};
    source.windows.step = step;
    source.csv_settings.ignore = {"time"};
    source.csv_settings.label = "act";
    return source;
  }
  Result<Dataset> Read(const Source& source) const {
    return Open(source, (folder_.path() / "cache").string());
  }
  static std::vector<float> RowOf(const Dataset& set, std::size_t i) {
    std::vector<float> values(set.features());
    std::memcpy(values.data(), set.row(i), values.size() * sizeof(float));
    return values;
  }
  static std::vector<std::string> LabelsOf(const Dataset& set) {
    std::vector<std::string> names;
    for (const std::uint8_t label : set.labels()) names.push_back(set.label_names()[label]);
    return names;
  }
  std::string Problem(const Source& source) const {
    const auto set = Read(source);
    return set ? std::string() : set.error().Format();
  }
  test::TemporaryFolder folder_;
};

TEST_F(Recordings, AreCutIntoWindowsThatNeverSpanTwoFiles) {
  Write("a/s1_1_sp.csv",
        "x,y,time,act\n1,10,0,sit\n2,20,1,sit\n3,30,2,walk\n4,40,3,walk\n5,50,4,walk\n");
  Write("b/s2_1_sw.csv", "act;y;x;time\nsit;60;6;0\nsit;70;7;1\nsit;80;8;2\n");
  Write("b/notes.txt", "none");
  Source source = Windows(3, 2, 2);
  source.windows.key = "s(*)_*_(*).csv";
  const auto set = Read(source);
  ASSERT_TRUE(set.has_value()) << set.error().Format();
  ASSERT_EQ(set->size(), 3u);
  EXPECT_THAT(set->shape(), ElementsAre(3, 2));
  EXPECT_THAT(RowOf(*set, 0), ElementsAre(1, 10, 2, 20, 3, 30));
  EXPECT_THAT(RowOf(*set, 1), ElementsAre(3, 30, 4, 40, 5, 50));
  EXPECT_THAT(RowOf(*set, 2), ElementsAre(6, 60, 7, 70, 8, 80)) << "columns by name";
  EXPECT_THAT(LabelsOf(*set), ElementsAre("sit", "walk", "sit"));
  EXPECT_THAT(set->keys(), ElementsAre(0, 0, 1));
  EXPECT_THAT(set->feature_names(), ElementsAre("x", "y"));
}

TEST_F(Recordings, StepsMayLeaveRowsOut) {
  std::string text = "x,act\n";
  for (int i = 0; i < 9; ++i) text += std::to_string(i) + ",a\n";
  Write("one.csv", text + "9,b\n");
  Source source = Windows(2, 1, 4);
  source.csv_settings.ignore = {};
  auto set = Read(source);
  ASSERT_TRUE(set.has_value()) << set.error().Format();
  ASSERT_EQ(set->size(), 3u);
  EXPECT_THAT(RowOf(*set, 1), ElementsAre(4, 5));
  EXPECT_THAT(RowOf(*set, 2), ElementsAre(8, 9));
  EXPECT_THAT(LabelsOf(*set), ElementsAre("a", "a", "a")) << "the earlier of equals";
  source.windows.agree = 0.6;
  EXPECT_EQ(Read(source)->size(), 2u);
  source.windows.step = 0;
  source.shape = {1, 4, 1};
  EXPECT_EQ(Read(source)->size(), 4u) << "half of a window";
}

TEST_F(Recordings, ARowWithoutAValueAndAnotherKeyEndAWindow) {
  Write("one.csv", "who,x,act\n1,1,a\n1,2,a\n1,?,a\n1,3,a\n2,4,b\n2,5,b\n");
  Source source = Windows(2, 1, 1);
  source.csv_settings.ignore = {};
  source.csv_settings.key = "who";
  EXPECT_THAT(Problem(source), HasSubstr("one.csv:4: column 'x': no value"));
  source.csv_settings.missing = CsvSettings::Missing::kDrop;
  const auto set = Read(source);
  ASSERT_TRUE(set.has_value()) << set.error().Format();
  ASSERT_EQ(set->size(), 2u);
  EXPECT_THAT(RowOf(*set, 1), ElementsAre(4, 5));
  EXPECT_THAT(set->keys(), ElementsAre(1, 2));
}

TEST_F(Recordings, TheNameMayTellTheClass) {
  Write("walk/1.csv", "x,y\n1,2\n3,4\n");
  Write("sit/1.csv", "x,y\n5,6\n7,8\n");
  Source source = Windows(2, 2, 2);
  source.csv_settings = {};
  source.windows.label = "(*)/*.csv";
  const auto set = Read(source);
  ASSERT_TRUE(set.has_value()) << set.error().Format();
  EXPECT_THAT(LabelsOf(*set), ElementsAre("sit", "walk"));
  EXPECT_THAT(RowOf(*set, 0), ElementsAre(5, 6, 7, 8));
}

TEST_F(Recordings, PatternsChooseFiles) {
  Write("s1/a.csv", "x,act\n1,a\n2,a\n");
  Write("info.csv", "who,age\n1,30\n");
  Source source = Windows(2, 1, 2);
  source.csv_settings.ignore = {};
  EXPECT_THAT(Problem(source), HasSubstr("info.csv"));
  source.recordings += "/s*/*.csv";
  EXPECT_EQ(Problem(source), "");
  source.recordings += "x";
  EXPECT_EQ(Read(source).error().code, ErrorCode::kNoInput);
}

TEST_F(Recordings, SayWhatIsWrong) {
  Write("a.csv", "x,y,act\n1,2,a\n3,4,a\n");
  Write("b.csv", "x,z,act\n1,2,a\n");
  Source source = Windows(2, 2, 2);
  source.csv_settings.ignore = {};
  EXPECT_THAT(Problem(source), HasSubstr("b.csv: lacks the column 'y' of"));
  source.recordings += "/a.csv";
  EXPECT_EQ(Problem(source), "");
  source.shape = {2, 3};
  EXPECT_THAT(Problem(source), HasSubstr("have 2 columns"));
  source.shape = {3, 2};
  EXPECT_THAT(Problem(source), HasSubstr("as long as a window"));
  source.shape = {2, 2};
  source.windows.key = "s(*).csv";
  EXPECT_THAT(Problem(source), HasSubstr("a.csv: does not fit data.windows.key"));
  source.windows.key = "s*.csv";
  EXPECT_EQ(Read(source).error().code, ErrorCode::kConfig);
  source.windows.key = "";
  source.label_names = {"b", "c"};
  EXPECT_THAT(Problem(source), HasSubstr("a.csv:2: column 'act': class 'a' is new"));
  Write("a.csv", "x,y,act\n1,2,a\n3,red,a\n");
  source.label_names = {};
  EXPECT_THAT(Problem(source), HasSubstr("a.csv:3: column 'y': 'red' is not a finite number"));
}

TEST(NamePattern, TakesWhatStandsInParentheses) {
  const auto take = [](const char* pattern, const char* path) {
    return NamePattern::Of(pattern, "k")->Take(path).value_or("-");
  };
  EXPECT_EQ(take("s(*)_*_(*).csv", "/data/s01/s01_02_sp.csv"), "01_sp");
  EXPECT_EQ(take("(*)/*/*", "walk/x/1.csv"), "walk");
  EXPECT_EQ(take("(*)", "1.csv"), "1.csv");
  EXPECT_EQ(take("(*)_a", "x_a_a"), "x_a");
  EXPECT_EQ(take("s(*).csv", "/data/r1.csv"), "-");
  EXPECT_EQ(take("(*)/*", "1.csv"), "-");
  for (const char* wrong : {"", "a", "(", "a)", "((*))", "(*)(", "(*)*********"}) {
    EXPECT_FALSE(NamePattern::Of(wrong, "k").has_value()) << wrong;
  }
}

}  // namespace
}  // namespace covey::data::recordings_test
