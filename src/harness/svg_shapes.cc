#include "harness/svg_shapes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "covey/base/check.h"
#include "harness/text.h"

namespace covey::harness::svg {
namespace {

constexpr double kShapeWidth = 980;

std::string Coordinate(double value) { return Fixed(value, 1); }

std::string OpenShape(std::string_view title, double height) {
  return "<svg viewBox=\"0 0 " + Coordinate(kShapeWidth) + ' ' + Coordinate(height) +
         "\" role=\"img\"><title>" + EscapeHtml(title) + "</title>\n";
}

std::string TextAt(double x, double y, std::string_view style, std::string_view anchor,
                   std::string_view text) {
  return "<text x=\"" + Coordinate(x) + "\" y=\"" + Coordinate(y) + "\" class=\"" +
         std::string(style) + "\" text-anchor=\"" + std::string(anchor) + "\">" + EscapeHtml(text) +
         "</text>\n";
}

double Total(const Bar& bar) {
  double total = 0;
  for (const Bar::Part& part : bar.parts) total += part.value;
  return total;
}

}  // namespace

std::string DrawBars(std::string_view title, const std::vector<Bar>& bars) {
  constexpr double kBarLeft = 110;
  constexpr double kBarRight = 24;
  constexpr double kRowHeight = 46;
  constexpr double kLetter = 7.4;  // width of one, about
  double longest = 0;
  for (const Bar& bar : bars) longest = std::max(longest, Total(bar));
  if (!(longest > 0) || !std::isfinite(longest)) return "";
  const double scale = (kShapeWidth - kBarLeft - kBarRight) / longest;
  std::string out = OpenShape(title, 12 + kRowHeight * static_cast<double>(bars.size()));
  double y = 8;
  for (const Bar& bar : bars) {
    out += TextAt(kBarLeft - 14, y + 21, "name plain", "end", bar.label);
    double x = kBarLeft;
    for (const Bar::Part& part : bar.parts) {
      const double width = part.value * scale;
      if (width <= 0) continue;
      out += "<g><title>" + EscapeHtml(part.label) + "</title><rect x=\"" + Coordinate(x) +
             "\" y=\"" + Coordinate(y) + "\" width=\"" + Coordinate(std::max(width, 0.8)) +
             "\" height=\"32\" rx=\"3\" class=\"bar " + part.style + "\"/></g>\n";
      if (width > kLetter * static_cast<double>(part.label.size()) + 14) {
        out += TextAt(x + 9, y + 21, "bar-label " + part.style, "start", part.label);
      }
      x += width;
    }
    y += kRowHeight;
  }
  return out + "</svg>\n";
}

std::string DrawGraph(std::string_view title, const std::vector<Vertex>& vertices,
                      const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges) {
  if (vertices.size() < 2 || edges.empty()) return "";
  if (vertices.size() > kMostDrawn || edges.size() > kMostEdges) return "";
  constexpr double kRadius = 168;
  constexpr double kCentreY = 206;
  const bool crowded = vertices.size() > 40;
  const double dot = crowded ? 6 : 14;
  const auto at = [&vertices](std::uint32_t i) {
    const double angle =
        2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(vertices.size()) -
        std::numbers::pi / 2;
    return std::pair(kShapeWidth / 2 + kRadius * std::cos(angle),
                     kCentreY + kRadius * std::sin(angle));
  };
  std::string out = OpenShape(title, 2 * kCentreY) + "<g class=\"edges\">\n";
  for (const auto& [from, to] : edges) {
    COVEY_CHECK(from < vertices.size() && to < vertices.size(), from, to);
    const auto [x1, y1] = at(from);
    const auto [x2, y2] = at(to);
    out += "<line x1=\"" + Coordinate(x1) + "\" y1=\"" + Coordinate(y1) + "\" x2=\"" +
           Coordinate(x2) + "\" y2=\"" + Coordinate(y2) + "\"/>\n";
  }
  out += "</g>\n";
  for (std::uint32_t i = 0; i < vertices.size(); ++i) {
    const auto [x, y] = at(i);
    out += "<g><title>" + EscapeHtml(vertices[i].hint) + "</title><circle class=\"dot " +
           vertices[i].style + "\" r=\"" + Coordinate(dot) + "\" cx=\"" + Coordinate(x) +
           "\" cy=\"" + Coordinate(y) + "\"/>\n";
    if (!crowded) out += TextAt(x, y + 4.5, "on-dot", "middle", vertices[i].label);
    out += "</g>\n";
  }
  return out + "</svg>\n";
}

}  // namespace covey::harness::svg
