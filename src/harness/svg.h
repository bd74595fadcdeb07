// Charts as SVG text: line charts with a band, and strips of dots. Colours come from CSS classes of
// the page.
//
// Shapes: coordinates are SVG user units; y grows downwards. Every chart is a complete <svg>
// element with a title.
// Thread: pure functions.  Determinism: the same data give the same text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace covey::harness::svg {

// Round positions on an axis that covers [low, high].
struct Ticks {
  double low = 0;
  double high = 1;
  std::vector<double> at;
  int digits = 0;  // decimals that tell the ticks apart
};

// Steps of 1, 2 or 5 times a power of ten; about `wanted` of them. The ends of `high > low` are
// moved outwards to ticks when `extend` is set. An empty or non-finite range becomes [low, low + 1]
// or [0, 1].
Ticks NiceTicks(double low, double high, int wanted, bool extend);

// Maps [from_low, from_high] onto [to_low, to_high], linearly, clamped to four times the target
// range on both sides (an SVG renderer copes with that; not with 1e300).
class Scale {
 public:
  Scale(std::pair<double, double> from, std::pair<double, double> to) : from_(from), to_(to) {}
  double operator()(double value) const;

 private:
  std::pair<double, double> from_;
  std::pair<double, double> to_;
};

inline constexpr std::size_t kLongestLabel = 24;

struct Line {
  std::string label;  // written beside its end
  std::string style;  // CSS class: gives `stroke` and, to the label, `fill`
  std::vector<std::pair<double, double>> points;  // by rising x
};

struct Area {
  std::string style;
  struct Slice {
    double x, low, high;
  };
  std::vector<Slice> slices;  // by rising x
};

struct Dot {
  double x, y;
  std::string style;
};

struct Chart {
  std::string id;     // unique in the page
  std::string title;  // also read by screen readers
  std::string x_label;
  bool percent = false;      // y values are fractions, written in percent
  bool whole_range = false;  // the y axis covers all points, those of the first tenth too
  std::vector<Area> areas;
  std::vector<Line> lines;
  std::vector<Dot> dots;
};

// Draws lines over areas over a grid. The y axis covers what lies right of the first tenth of the x
// axis (the steep start would flatten the rest), unless `whole_range`; earlier parts are cut off at
// the frame. Labels are moved apart and cut to kLongestLabel characters.
// Returns: "" when there is nothing to draw.
std::string Draw(const Chart& chart);

// One row of dots for each group on a common axis of percent.
struct Strip {
  std::string label;
  std::string style;
  std::vector<double> values;  // fractions
};

// Returns: "" when there is nothing to draw.
std::string DrawStrips(std::string_view title, const std::vector<Strip>& strips);

// Moves label positions apart to at least `gap`, keeping their order, inside [low, high] when they
// fit.
std::vector<double> MoveApart(std::vector<double> positions, double gap, double low, double high);

}  // namespace covey::harness::svg
