#include "harness/node_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "unit/harness/made_up.h"

namespace covey::harness {
namespace {

TEST(NodeText, GoesFromOneProcessToAnother) {
  NodeOutcome node = MadeUpOutcome().runs[3];
  node.end = End::kInterrupted;
  node.reason = "a \"reason\"\nof two lines";
  node.last->test.reset();
  const std::string text = ToJsonText(node);
  const Result<NodeOutcome> read = NodeFromJson(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(ToJsonText(*read), text);
  EXPECT_EQ(read->index, 3u);
  EXPECT_EQ(read->end, End::kInterrupted);
  EXPECT_EQ(read->reason, node.reason);
  EXPECT_EQ(read->curve.size(), 40u);
  EXPECT_EQ(read->traffic.bytes_sent, node.traffic.bytes_sent);
  EXPECT_FALSE(read->last->test);
  EXPECT_EQ(read->best->test->loss, node.best->test->loss);
}

TEST(NodeText, ANodeWithoutFiguresAndALossThatIsNoNumberPass) {
  NodeOutcome node;
  node.end = End::kDied;
  node.curve.push_back({1, 2, {.loss = std::numeric_limits<double>::quiet_NaN(), .accuracy = {}}});
  const Result<NodeOutcome> read = NodeFromJson(ToJsonText(node));
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->best);
  EXPECT_TRUE(std::isnan(read->curve[0].validation.loss));
  EXPECT_FALSE(read->curve[0].validation.accuracy);
}

TEST(NodeText, OtherTextsAreRefused) {
  const std::string good = ToJsonText(MadeUpOutcome().runs[0]);
  ASSERT_TRUE(NodeFromJson(good));
  for (const char* name : {"\"node\"", "\"end\"", "\"samples\"", "\"traffic\"", "\"curve\"",
                           "\"weights_sent\"", "\"loss\"", "\"done\""}) {
    std::string text = good;
    text.replace(text.find(name) + 1, 1, "?");
    EXPECT_FALSE(NodeFromJson(text)) << name;
  }
  for (const std::string& text : {std::string(), std::string("{}"), good.substr(0, 50)}) {
    EXPECT_FALSE(NodeFromJson(text)) << text;
  }
}

}  // namespace
}  // namespace covey::harness
