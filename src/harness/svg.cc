#include "harness/svg.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "harness/text.h"

namespace covey::harness::svg {
namespace {

constexpr double kWidth = 980;
constexpr double kHeight = 380;
constexpr double kLeft = 58;
constexpr double kRight = 168;  // room for the labels beside the lines
constexpr double kTop = 14;
constexpr double kBottom = 46;
constexpr double kLabelGap = 18;

std::string Number(double value) {
  std::string text = Fixed(value, 1);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

std::string Tick(double value, const Ticks& ticks, bool percent) {
  return percent ? Fixed(value * 100, std::max(0, ticks.digits - 2)) : Fixed(value, ticks.digits);
}

struct Frame {
  Ticks x;
  Ticks y;
  Scale to_x;
  Scale to_y;
};

std::string Open(std::string_view title, double height) {
  return "<svg viewBox=\"0 0 " + Number(kWidth) + ' ' + Number(height) + "\" role=\"img\"><title>" +
         EscapeHtml(title) + "</title>\n";
}

std::string Text(double x, double y, std::string_view style, std::string_view anchor,
                 std::string_view text) {
  return "<text x=\"" + Number(x) + "\" y=\"" + Number(y) + "\" class=\"" + std::string(style) +
         "\" text-anchor=\"" + std::string(anchor) + "\">" + EscapeHtml(text) + "</text>\n";
}

std::string Rule(std::pair<double, double> from, std::pair<double, double> to,
                 std::string_view style) {
  return "<line x1=\"" + Number(from.first) + "\" y1=\"" + Number(from.second) + "\" x2=\"" +
         Number(to.first) + "\" y2=\"" + Number(to.second) + "\" class=\"" + std::string(style) +
         "\"/>\n";
}

// The range of all x, and of the y values that lie right of the skipped part of it.
struct Extent {
  double x_low = INFINITY, x_high = -INFINITY, y_low = INFINITY, y_high = -INFINITY;
  double skipped = 0.1;
};

void TakeX(Extent& extent, double x) {
  if (!std::isfinite(x)) return;
  extent.x_low = std::min(extent.x_low, x);
  extent.x_high = std::max(extent.x_high, x);
}

void TakeY(Extent& extent, double x, double y) {
  const double from = extent.x_low + extent.skipped * (extent.x_high - extent.x_low);
  if (!std::isfinite(y) || x < from) return;
  extent.y_low = std::min(extent.y_low, y);
  extent.y_high = std::max(extent.y_high, y);
}

Extent ExtentOf(const Chart& chart) {
  Extent extent;
  if (chart.whole_range) extent.skipped = 0;
  for (const Line& line : chart.lines) {
    for (const auto& point : line.points) TakeX(extent, point.first);
  }
  for (const Dot& dot : chart.dots) TakeX(extent, dot.x);
  for (const Line& line : chart.lines) {
    for (const auto& point : line.points) TakeY(extent, point.first, point.second);
  }
  for (const Area& area : chart.areas) {
    for (const Area::Slice& slice : area.slices) {
      TakeY(extent, slice.x, slice.low);
      TakeY(extent, slice.x, slice.high);
    }
  }
  for (const Dot& dot : chart.dots) TakeY(extent, dot.x, dot.y);
  return extent;
}

Frame FrameOf(const Chart& chart, const Extent& extent) {
  Ticks x = NiceTicks(std::min(0.0, extent.x_low), extent.x_high, 10, false);
  // A little air, so that a curve that ends flat does not lie on the axis.
  const double air = 0.04 * (extent.y_high - extent.y_low);
  // But not below zero or above 100 %, where no figure can be.
  double low = extent.y_low - air;
  double high = extent.y_high + air;
  if (extent.y_low >= 0) low = std::max(low, 0.0);
  if (chart.percent && extent.y_high <= 1) high = std::min(high, 1.0);
  Ticks y = NiceTicks(low, high, 6, true);
  const Scale to_x({x.low, x.high}, {kLeft, kWidth - kRight});
  const Scale to_y({y.low, y.high}, {kHeight - kBottom, kTop});
  return {std::move(x), std::move(y), to_x, to_y};
}

std::string DrawGrid(const Chart& chart, const Frame& frame) {
  std::string out;
  for (const double value : frame.y.at) {
    const double y = frame.to_y(value);
    out += Rule({kLeft, y}, {kWidth - kRight, y}, "grid");
    out += Text(kLeft - 8, y + 4, "tick", "end",
                Tick(value, frame.y, chart.percent) + (chart.percent ? "%" : ""));
  }
  for (const double value : frame.x.at) {
    const double x = frame.to_x(value);
    out += Rule({x, kHeight - kBottom}, {x, kHeight - kBottom + 5}, "axis");
    out += Text(x, kHeight - kBottom + 20, "tick", "middle", Tick(value, frame.x, false));
  }
  out += Rule({kLeft, kHeight - kBottom}, {kWidth - kRight, kHeight - kBottom}, "axis");
  out += Text((kLeft + kWidth - kRight) / 2, kHeight - 6, "label", "middle", chart.x_label);
  return out;
}

std::string DrawArea(const Area& area, const Frame& frame) {
  if (area.slices.size() < 2) return "";
  std::string path;
  for (const Area::Slice& slice : area.slices) {
    path += (path.empty() ? 'M' : 'L') + Number(frame.to_x(slice.x)) + ' ' +
            Number(frame.to_y(slice.high));
  }
  for (auto slice = area.slices.rbegin(); slice != area.slices.rend(); ++slice) {
    path += 'L' + Number(frame.to_x(slice->x)) + ' ' + Number(frame.to_y(slice->low));
  }
  return "<path class=\"area " + area.style + "\" d=\"" + path + "Z\"/>\n";
}

std::string DrawLine(const Line& line, const Frame& frame) {
  std::string path;
  for (const auto& [x, y] : line.points) {
    if (!std::isfinite(y)) continue;
    path += (path.empty() ? 'M' : 'L') + Number(frame.to_x(x)) + ' ' + Number(frame.to_y(y));
  }
  if (path.empty()) return "";
  return "<path class=\"line " + line.style + "\" d=\"" + path + "\"/>\n";
}

// By characters, so that no UTF-8 sequence is torn.
std::string Shortened(const std::string& label) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < label.size(); ++i) {
    if ((static_cast<unsigned char>(label[i]) & 0xC0U) == 0x80U) continue;
    if (++count > kLongestLabel) return label.substr(0, i) + "…";
  }
  return label;
}

// The names of the lines, right of their ends; a label that had to move is tied to its end.
std::string DrawLabels(const Chart& chart, const Frame& frame) {
  struct Label {
    const Line* line;
    double x, y;
  };
  std::vector<Label> labels;
  for (const Line& line : chart.lines) {
    if (line.points.empty() || !std::isfinite(line.points.back().second)) continue;
    const auto& [x, y] = line.points.back();
    labels.push_back({&line, frame.to_x(x), std::clamp(frame.to_y(y), kTop, kHeight - kBottom)});
  }
  std::stable_sort(labels.begin(), labels.end(),
                   [](const Label& a, const Label& b) { return a.y < b.y; });
  std::vector<double> ys;
  for (const Label& label : labels) ys.push_back(label.y);
  ys = MoveApart(std::move(ys), kLabelGap, kTop + 6, kHeight - kBottom - 6);
  const double text_x = kWidth - kRight + 26;
  std::string out;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    out += Rule({labels[i].x + 4, labels[i].y}, {text_x - 5, ys[i]}, "tie");
    out += Text(text_x, ys[i] + 4.5, "name " + labels[i].line->style, "start",
                Shortened(labels[i].line->label));
  }
  return out;
}

}  // namespace

Ticks NiceTicks(double low, double high, int wanted, bool extend) {
  if (!std::isfinite(low) || !std::isfinite(high)) {
    low = 0;
    high = 1;
  }
  // A range that rounding would swallow is widened.
  if (!(high - low > 1e-9 * std::max(1.0, std::abs(low))))
    high = low + std::max(1.0, std::abs(low));
  const double rough = (high - low) / std::max(wanted, 1);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * 0.999) {
      step = factor * power;
      break;
    }
  }
  Ticks ticks;
  ticks.digits = std::clamp(static_cast<int>(-std::floor(std::log10(step) + 1e-9)), 0, 9);
  const double first = extend ? std::floor(low / step + 1e-9) : std::ceil(low / step - 1e-9);
  const double last = extend ? std::ceil(high / step - 1e-9) : std::floor(high / step + 1e-9);
  for (double i = first; i <= last; ++i) ticks.at.push_back(i * step);
  ticks.low = extend ? first * step : low;
  ticks.high = extend ? last * step : high;
  return ticks;
}

double Scale::operator()(double value) const {
  const double t = (value - from_.first) / (from_.second - from_.first);
  return std::lerp(to_.first, to_.second, std::clamp(t, -4.0, 5.0));
}

std::vector<double> MoveApart(std::vector<double> positions, double gap, double low, double high) {
  if (positions.empty()) return positions;
  std::vector<std::size_t> order(positions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&positions](std::size_t a, std::size_t b) {
    return positions[a] < positions[b];
  });
  // Down from the top, then up from the bottom: the second pass undoes what left the frame.
  double least = low;
  for (const std::size_t i : order) {
    positions[i] = std::max(positions[i], least);
    least = positions[i] + gap;
  }
  double most = high;
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    positions[*i] = std::min(positions[*i], most);
    most = positions[*i] - gap;
  }
  return positions;
}

std::string Draw(const Chart& chart) {
  const Extent extent = ExtentOf(chart);
  if (!(extent.x_low <= extent.x_high) || !(extent.y_low <= extent.y_high)) return "";
  const Frame frame = FrameOf(chart, extent);
  const std::string clip = "clip-" + chart.id;
  std::string out = Open(chart.title, kHeight);
  out += "<clipPath id=\"" + clip + "\"><rect x=\"" + Number(kLeft) + "\" y=\"" + Number(kTop - 6) +
         "\" width=\"" + Number(kWidth - kLeft - kRight + 6) + "\" height=\"" +
         Number(kHeight - kTop - kBottom + 6) + "\"/></clipPath>\n";
  out += DrawGrid(chart, frame);
  out += "<g clip-path=\"url(#" + clip + ")\">\n";
  for (const Area& area : chart.areas) out += DrawArea(area, frame);
  for (const Line& line : chart.lines) out += DrawLine(line, frame);
  for (const Dot& dot : chart.dots) {
    out += "<circle class=\"dot " + dot.style + "\" r=\"4\" cx=\"" + Number(frame.to_x(dot.x)) +
           "\" cy=\"" + Number(frame.to_y(dot.y)) + "\"/>\n";
  }
  out += "</g>\n" + DrawLabels(chart, frame);
  return out + "</svg>\n";
}

std::string DrawStrips(std::string_view title, const std::vector<Strip>& strips) {
  constexpr double kRow = 44;
  constexpr double kStripLeft = 110;
  constexpr double kStripRight = 84;
  double low = INFINITY;
  double high = -INFINITY;
  for (const Strip& strip : strips) {
    for (const double value : strip.values) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (!(low <= high)) return "";
  const double margin = std::max(0.002, 0.08 * (high - low));
  const Ticks ticks = NiceTicks(low - margin, high + margin, 8, false);
  const Scale to_x({ticks.low, ticks.high}, {kStripLeft, kWidth - kStripRight});
  const double bottom = 10 + kRow * static_cast<double>(strips.size());
  std::string out = Open(title, bottom + 46);
  for (const double value : ticks.at) {
    out += Rule({to_x(value), 6}, {to_x(value), bottom}, "grid");
    out += Text(to_x(value), bottom + 18, "tick", "middle", Tick(value, ticks, true) + "%");
  }
  out += Rule({kStripLeft, bottom}, {kWidth - kStripRight, bottom}, "axis");
  out += Text((kStripLeft + kWidth - kStripRight) / 2, bottom + 40, "label", "middle", title);
  double y = 10 + kRow / 2;
  for (const Strip& strip : strips) {
    if (!strip.values.empty()) {
      out += Text(kStripLeft - 14, y + 4.5, "name " + strip.style, "end", strip.label);
      const double mean = std::accumulate(strip.values.begin(), strip.values.end(), 0.0) /
                          static_cast<double>(strip.values.size());
      if (strip.values.size() > 1) {
        out += Rule({to_x(mean), y - 14}, {to_x(mean), y + 14}, "mean " + strip.style);
      }
      for (const double value : strip.values) {
        out += "<circle class=\"dot open " + strip.style + "\" r=\"6\" cx=\"" +
               Number(to_x(value)) + "\" cy=\"" + Number(y) + "\"/>\n";
      }
      out +=
          Text(kWidth - kStripRight + 14, y + 4.5, "name " + strip.style, "start", Percent(mean));
    }
    y += kRow;
  }
  return out + "</svg>\n";
}

}  // namespace covey::harness::svg
