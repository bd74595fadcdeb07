#include "covey/api/types.h"

#include <gtest/gtest.h>

namespace covey::api {
namespace {

TEST(Answers, AreRankedAndNamed) {
  const std::vector<float> outputs{0.25f, 0.5f, 0.25f, 1, 0, 0};
  const auto answers = RankAnswers(outputs, 3, {"a", "b", "c"}, 2);
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].classes, (std::vector<RankedClass>{{1, "b", 0.5f}, {0, "a", 0.25f}}));
  EXPECT_EQ(RankAnswers(outputs, 3, {}, 0)[1].classes.size(), 3u);
  EXPECT_EQ(RankAnswers(outputs, 3, {}, 1)[1].classes[0].label, "0");
  EXPECT_EQ(ValueAnswers(outputs, 3)[1].values, (std::vector<float>{1, 0, 0}));
}

}  // namespace
}  // namespace covey::api
