#include "covey/data/samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace covey::data::samples_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const InputForm kForm{{4}, {"height", "colour=green", "colour=red", "width"}};

TEST(SampleOf, FindsColumnsByName) {
  const auto sample = SampleOf(
      kForm, {{"width", "2"}, {"extra", "x"}, {"colour", "red"}, {"height", "1.5"}}, "row");
  ASSERT_TRUE(sample.has_value()) << sample.error().Format();
  EXPECT_THAT(*sample, ElementsAre(1.5f, 0, 1, 2));
}

TEST(SampleOf, NamesWhatIsWrong) {
  const auto error = [](std::vector<NamedCell> cells) {
    const auto sample = SampleOf(kForm, cells, "row");
    EXPECT_FALSE(sample.has_value());
    if (sample) return std::string();
    EXPECT_EQ(sample.error().code, ErrorCode::kData);
    return sample.error().Format();
  };
  EXPECT_THAT(error({{"height", "1"}, {"heigth", "2"}}),
              HasSubstr("lacks the columns colour, width"));
  EXPECT_THAT(error({{"height", "1"}, {"colour", "red"}, {"width", "2"}, {"width", "3"}}),
              HasSubstr("'width' stands there twice"));
  EXPECT_THAT(error({{"height", "tall"}, {"colour", "red"}, {"width", "2"}}),
              HasSubstr("'height': 'tall' is not a finite number"));
  EXPECT_THAT(error({{"height", ""}, {"colour", "red"}, {"width", "2"}}), HasSubstr("no value"));
  EXPECT_THAT(error({{"height", "1e39"}, {"colour", "red"}, {"width", "2"}}),
              HasSubstr("'1e39' is not a finite number"));
  EXPECT_THAT(error({{"height", "1"}, {"colour", "blue"}, {"width", "2"}}),
              HasSubstr("the model knows green, red"));
  EXPECT_THAT(SampleOf({{2}, {}}, {{"a", "1"}}, "row").error().what, HasSubstr("by name"));
}

TEST(SamplesOf, AHeaderFindsColumnsInAnyOrder) {
  const auto samples = SamplesOf(kForm,
                                 "\xEF\xBB\xBFlabel;width;\"colour\";height\r\n"
                                 "oak;2;red;1.5\r\n\r\n?;4;green;3\r\n",
                                 "a.csv");
  ASSERT_TRUE(samples.has_value()) << samples.error().Format();
  EXPECT_THAT(*samples, ElementsAre(1.5f, 0, 1, 2, 3, 1, 0, 4));
}

TEST(SamplesOf, WindowsAreRowsThatFollowOneAnother) {
  const InputForm windows{{1, 2, 2}, {"x", "y"}};
  const auto samples = SamplesOf(windows, "y,x\n1,2\n3,4\n5,6\n7,8\n9,10\n", "f");
  ASSERT_TRUE(samples.has_value()) << samples.error().Format();
  EXPECT_THAT(*samples, ElementsAre(2, 1, 4, 3, 6, 5, 8, 7));
  EXPECT_THAT(SamplesOf(windows, "y,x\n1,2\n", "f").error().Format(),
              HasSubstr("fewer rows than a window, which is 2"));
}

TEST(SamplesOf, NamesLineAndColumn) {
  const auto error = [](const std::string& text) {
    const auto samples = SamplesOf(kForm, text, "a.csv");
    return samples ? std::string() : samples.error().Format();
  };
  EXPECT_THAT(error("width,height\n1,2\n"), HasSubstr("a.csv:1: lacks the column colour"));
  EXPECT_THAT(error("width,height,colour\n1,2,red\n1,2\n"),
              HasSubstr("a.csv:3: 2 cells, wanted 3"));
  EXPECT_THAT(error("width,height,colour\n1,x,red\n"), HasSubstr("a.csv:2: column 'height'"));
  EXPECT_THAT(error("width,height,colour\n"), HasSubstr("no row behind the header"));
  EXPECT_THAT(error(""), HasSubstr("no row"));
}

TEST(SamplesOf, WithoutNamesTheOrderCounts) {
  const InputForm unnamed{{2}, {}};
  EXPECT_THAT(*SamplesOf(unnamed, "b,a\n1 2\n+3;4\n", "f"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(*SamplesOf({{2}, {"1", "3"}}, "b,a\n1,2\n", "f"), ElementsAre(1, 2))
      << "a table without a header names its columns by numbers";
  EXPECT_THAT(*SamplesOf(kForm, "1,0,1,2\n", "f"), ElementsAre(1, 0, 1, 2)) << "no header";
  EXPECT_THAT(*SamplesOf(kForm, "1 0 1 2\n", "f"), ElementsAre(1, 0, 1, 2));
  EXPECT_THAT(*NumbersOf("-1,+2 3e1", "f"), ElementsAre(-1, 2, 30));
  EXPECT_THAT(SamplesOf(unnamed, "1,2,3\n", "f").error().Format(),
              HasSubstr("f:1: 3 numbers, wanted 2"));
  EXPECT_THAT(SamplesOf(unnamed, "1,x\n", "f").error().Format(),
              HasSubstr("'x' is not a finite number"));
}

}  // namespace
}  // namespace covey::data::samples_test
