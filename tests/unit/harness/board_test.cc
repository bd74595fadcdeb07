#include "covey/harness/board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace covey::harness {
namespace {

using testing::HasSubstr;
using testing::Not;

NodeProgress At(std::uint32_t index, double fraction) {
  return {.group = Group::kConsensus,
          .index = index,
          .state = "training",
          .fraction = fraction,
          .epochs = 40 * fraction,
          .samples = static_cast<std::uint64_t>(100000 * fraction),
          .traffic = {.weights_sent = 60,
                      .weights_dropped = 15,
                      .weights_received = 0,
                      .deltas_sent = 40,
                      .deltas_dropped = 10,
                      .deltas_received = 0,
                      .bytes_sent = 0}};
}

Board HalfWay() {
  Board board("demo", 40);
  board.Begin(Group::kConsensus, 2, 0);
  for (const double t : {2.0, 12.0}) {
    board.Update(At(0, t < 5 ? 0.01 : 0.6), t);
    board.Update(At(1, t < 5 ? 0.01 : 0.4), t);
  }
  board.Update(Group::kConsensus, 0, {0.4, 0.86});
  board.Update(Group::kConsensus, 1, {0.4, 0.84});
  return board;
}

TEST(Board, ALineSaysWhereTheRunStands) {
  const std::string line = HalfWay().Line(12);
  EXPECT_THAT(line, HasSubstr("consensus 50 %, epoch 20.0 of 40"));
  EXPECT_THAT(line, HasSubstr("accuracy 0.8500 (0.8400 to 0.8600)"));
  EXPECT_THAT(line, HasSubstr("25.0 % lost"));
  EXPECT_THAT(line, HasSubstr("10,000 samples/s"));
  EXPECT_THAT(line, HasSubstr("ETA 10.0 s"));
  EXPECT_THAT(line, Not(HasSubstr("\n")));
}

TEST(Board, TheFirstLineNeedsNoNodes) {
  EXPECT_THAT(Board("demo", 40).Line(0), HasSubstr("demo"));
  Board board("demo", 40);
  board.Begin(Group::kConsensus, 8, 0);
  EXPECT_THAT(board.Line(0.1), HasSubstr("8 starting"));
}

TEST(Board, ANodeThatDiedDoesNotHoldBackTheOthers) {
  Board board = HalfWay();
  NodeProgress dead = At(1, 0.4);
  dead.state = "died";
  board.Update(dead, 13);
  EXPECT_THAT(board.Line(13), HasSubstr("consensus 60 %"));
  EXPECT_THAT(board.Line(13), HasSubstr("1 died"));
}

TEST(Board, LinesOfTheScreenFitItsWidth) {
  Board board = HalfWay();
  board.Begin(Group::kIsolated, 200, 12);
  for (const std::size_t width : {21u, 40u, 79u, 200u}) {
    const auto lines = board.Screen(12, {.width = width, .color = false});
    EXPECT_LE(lines.size(), 16u);
    for (const std::string& line : lines) {
      std::size_t points = 0;
      for (const char c : line) points += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
      EXPECT_LE(points, width) << line;
    }
  }
}

TEST(Board, ColourOnlyWhenAskedFor) {
  const auto has_escape = [](const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      if (line.find('\x1b') != std::string::npos) return true;
    }
    return false;
  };
  EXPECT_FALSE(has_escape(HalfWay().Screen(12, {.width = 80, .color = false})));
  EXPECT_TRUE(has_escape(HalfWay().Screen(12, {.width = 80, .color = true})));
}

TEST(Board, TheRateIsThatOfTheTrainingAlone) {
  Board board = HalfWay();
  EXPECT_THAT(board.Line(12), HasSubstr("10,000 samples/s"));
  EXPECT_THAT(board.Line(112), HasSubstr("10,000 samples/s"));
}

TEST(Board, AFinishedGroupShowsHowLongItTook) {
  Board board = HalfWay();
  board.Finish(Group::kConsensus, 20);
  std::string all;
  for (const std::string& line : board.Screen(30, {.width = 120, .color = false}))
    all += line + '\n';
  EXPECT_THAT(all, HasSubstr("took 20.0 s"));
  EXPECT_THAT(board.Line(30), Not(HasSubstr("consensus")));
}

}  // namespace
}  // namespace covey::harness
