#include "harness/svg_shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace covey::harness::svg {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t Count(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(Bars, ArePartsOfOneScale) {
  const std::string svg = DrawBars("kinds", {{"WEIGHTS", {{846, "a", "most"}, {0, "b", "none"}}},
                                             {"DELTAS", {{423, "a", "half"}}}});
  EXPECT_THAT(svg, HasSubstr("width=\"846.0\""));
  EXPECT_THAT(svg, HasSubstr("width=\"423.0\""));
  EXPECT_EQ(Count(svg, "<rect"), 2u);
  EXPECT_THAT(svg, HasSubstr("<title>half</title>"));
}

TEST(Bars, ANarrowPartHasItsLabelOnlyAsATitle) {
  const std::string svg = DrawBars("kinds", {{"x", {{1000, "a", "wide"}, {1, "b", "narrow"}}}});
  EXPECT_EQ(Count(svg, "narrow"), 1u);
  EXPECT_EQ(Count(svg, "wide"), 2u);
}

TEST(Bars, OfNothingAreNoDrawing) {
  EXPECT_EQ(DrawBars("kinds", {}), "");
  EXPECT_EQ(DrawBars("kinds", {{"x", {{0, "a", "none"}}}}), "");
  EXPECT_EQ(DrawBars("kinds", {{"x", {{std::numeric_limits<double>::infinity(), "a", ""}}}}), "");
}

std::vector<Vertex> Vertices(std::size_t count) {
  std::vector<Vertex> vertices;
  for (std::size_t i = 0; i < count; ++i) {
    vertices.push_back({std::to_string(i), "consensus", "<node " + std::to_string(i) + ">"});
  }
  return vertices;
}

TEST(Graph, HasAChordForEveryEdgeAndEscapesTexts) {
  const std::string svg = DrawGraph("ring", Vertices(3), {{0, 1}, {1, 2}, {2, 0}});
  EXPECT_EQ(Count(svg, "<line"), 3u);
  EXPECT_EQ(Count(svg, "<circle"), 3u);
  EXPECT_THAT(svg, HasSubstr("&lt;node 2&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("<node")));
}

TEST(Graph, OfTooMuchOrNothingIsNoDrawing) {
  EXPECT_EQ(DrawGraph("", Vertices(1), {}), "");
  EXPECT_EQ(DrawGraph("", Vertices(2), {}), "");
  EXPECT_NE(DrawGraph("", Vertices(kMostDrawn), {{0, 1}}), "");
  EXPECT_EQ(DrawGraph("", Vertices(kMostDrawn + 1), {{0, 1}}), "");
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> many(kMostEdges + 1, {0, 1});
  EXPECT_EQ(DrawGraph("", Vertices(2), many), "");
}

}  // namespace
}  // namespace covey::harness::svg
