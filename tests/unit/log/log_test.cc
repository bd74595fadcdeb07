#include "covey/log/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace covey::log {
namespace {

using ::testing::ElementsAre;
using ::testing::MatchesRegex;

class Log : public ::testing::Test {
 protected:
  void SetUp() override {
    unsetenv("JOURNAL_STREAM");
    Start({});
  }
  void TearDown() override {
    SetSink(nullptr);
    unsetenv("JOURNAL_STREAM");
    Configure({});
  }
  void Start(const Settings& settings) {
    SetSink([this](Level, std::string_view line) { lines_.emplace_back(line); });
    Configure(settings);
  }

  std::vector<std::string> lines_;
};

TEST_F(Log, TextLineHasTimeLevelCategoryAndFields) {
  Info(Category::kNetwork, "peer up", {{"peer", "0a1b2c3d"}, {"rtt", 0.25}, {"dialled", true}});
  EXPECT_THAT(lines_,
              ElementsAre(MatchesRegex(
                  "[0-9]+-[0-9]+-[0-9]+T[0-9]+:[0-9]+:[0-9]+\\.[0-9]+Z info network: peer up "
                  "peer=0a1b2c3d rtt=0.25 dialled=true")));
}

TEST_F(Log, JournalGetsPrioritiesAndNoTime) {
  setenv("JOURNAL_STREAM", "8:1234", 1);
  Start({.level = Level::kDebug});
  Debug(Category::kNode, "d");
  Info(Category::kNode, "i");
  Warning(Category::kNode, "w");
  Error(Category::kNode, "e");
  EXPECT_THAT(lines_, ElementsAre("<7>node: d", "<6>node: i", "<4>node: w", "<3>node: e"));
}

TEST_F(Log, JsonLineQuotesTextAndNotNumbers) {
  setenv("JOURNAL_STREAM", "8:1234", 1);
  Start({.format = Settings::Format::kJson});
  Warning(Category::kStore, "can't \"write\"",
          {{"path", "/a\nb"}, {"bytes", 12}, {"loss", 1.0 / 0.0}});
  EXPECT_THAT(lines_,
              ElementsAre("<4>{\"level\":\"warning\",\"category\":\"store\",\"message\":\"can't "
                          "\\\"write\\\"\",\"path\":\"/a\\nb\",\"bytes\":12,\"loss\":null}"));
}

TEST_F(Log, LevelOfACategoryWinsOverTheCommonOne) {
  Settings settings{.level = Level::kError};
  settings.levels[static_cast<std::size_t>(Category::kNetwork)] = Level::kDebug;
  Start(settings);
  Info(Category::kNode, "left out");
  Debug(Category::kNetwork, "written");
  EXPECT_EQ(lines_.size(), 1u);
  EXPECT_FALSE(Enabled(Level::kInfo, Category::kNode));
  EXPECT_TRUE(Enabled(Level::kDebug, Category::kNetwork));
}

TEST_F(Log, OffWritesNothing) {
  Start({.level = Level::kOff});
  Error(Category::kNode, "left out");
  EXPECT_TRUE(lines_.empty());
}

TEST_F(Log, NoTextForgesALine) {
  Info(Category::kNetwork, "hello\nsecond line", {{"peer", "x\nthird line"}});
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_EQ(lines_[0].find('\n'), std::string::npos);
}

TEST_F(Log, LinesAreCutAtTheirLimit) {
  Info(Category::kNetwork, std::string(3000, 'a'), {{"b", std::string(3000, 'b')}, {"c", "c"}});
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_LT(lines_[0].size(), 4096u + 100u);
  EXPECT_NE(lines_[0].find(" c=\"\""), std::string::npos);
}

TEST_F(Log, LimitedLinesPassOnceForEachKey) {
  for (int i = 0; i < 5; ++i) {
    WriteLimited(Level::kWarning, Category::kNetwork, "limited a", "unreachable");
    WriteLimited(Level::kWarning, Category::kNetwork, "limited b", "unreachable");
  }
  EXPECT_EQ(lines_.size(), 2u);
}

TEST(LogLevel, NamesAreParsed) {
  for (const Level level :
       {Level::kDebug, Level::kInfo, Level::kWarning, Level::kError, Level::kOff}) {
    EXPECT_EQ(ParseLevel(Name(level)).value(), level);
  }
  const auto wrong = ParseLevel("loud");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().code, ErrorCode::kConfig);
  EXPECT_NE(wrong.error().Format().find("warning"), std::string::npos);
}

}  // namespace
}  // namespace covey::log
