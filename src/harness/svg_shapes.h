// Bars and graphs as SVG text, beside the charts of svg.h; the same rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace covey::harness::svg {

// One horizontal bar, cut into parts.
struct Bar {
  struct Part {
    double value;       // at least 0
    std::string style;  // CSS class
    std::string label;  // shown when the part is wide enough, and by pointing at it
  };
  std::string label;
  std::vector<Part> parts;
};

// Returns: the bars below each other on a common scale; "" when all are empty.
std::string DrawBars(std::string_view title, const std::vector<Bar>& bars);

// A node of a graph, and what it is coloured by.
struct Vertex {
  std::string label;
  std::string style;  // CSS class
  std::string hint;   // shown by pointing at it
};

// Draws the vertices on a circle and the edges as chords. More than kMostDrawn vertices, or more
// than kMostEdges edges, would be a black disc.
// Requires: every edge joins two of the vertices.
// Returns: "" when there is nothing, or too much, to draw.
inline constexpr std::size_t kMostDrawn = 128;
inline constexpr std::size_t kMostEdges = 2100;
std::string DrawGraph(std::string_view title, const std::vector<Vertex>& vertices,
                      const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges);

}  // namespace covey::harness::svg
