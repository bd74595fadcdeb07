#include "covey/data/normalization.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "covey/base/check.h"
#include "covey/data/dataset.h"

namespace covey::data {
namespace {

// The shortest text that reads back as the same float.
std::string Exact(float value) {
  char text[32];
  const std::to_chars_result end = std::to_chars(text, text + sizeof text, value);
  return std::string(text, end.ptr);
}

std::string Joined(const std::vector<float>& values) {
  std::string text;
  for (const float value : values) text += ' ' + Exact(value);
  return text;
}

std::string Cut(std::string text, std::size_t limit) {
  if (text.size() <= limit) return text;
  text.resize(limit - 3);
  return text + "...";
}

template <class T>
void ApplyAs(const Normalization& n, const std::uint8_t* row, std::span<float> out) {
  const std::size_t period = n.mean.size();
  std::size_t f = 0;
  while (f < out.size()) {
    for (std::size_t k = 0; k < period; ++k, ++f) {
      T element;
      std::memcpy(&element, row + f * sizeof(T), sizeof(T));
      out[f] = (static_cast<float>(element) - n.mean[k]) * n.scale[k];
    }
  }
}

// Sums of one index of the period.
struct Moments {
  double sum = 0;
  double square = 0;  // of the distances from the mean
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
};

template <class Visit>
void ForElements(const Dataset& set, std::span<const std::uint32_t> rows, std::size_t period,
                 Visit visit) {
  const Normalization plain;
  std::vector<float> values(set.features());
  for (const std::uint32_t row : rows) {
    plain.Apply(set.row(row), set.element(), values);
    for (std::size_t f = 0; f < values.size(); ++f) {
      visit(f % period, static_cast<double>(values[f]));
    }
  }
}

}  // namespace

std::string_view Name(Normalize normalize) {
  switch (normalize) {
    case Normalize::kNone:
      return "none";
    case Normalize::kUnit:
      return "unit";
    case Normalize::kScale:
      return "scale";
    case Normalize::kGiven:
      return "given";
    case Normalize::kStandard:
      return "standard";
    case Normalize::kPerChannel:
      return "per_channel";
    case Normalize::kMinMax:
      return "min_max";
  }
  return "?";
}

bool IsFitted(Normalize normalize) {
  return normalize == Normalize::kStandard || normalize == Normalize::kPerChannel ||
         normalize == Normalize::kMinMax;
}

Normalization Normalization::Uniform(float scale) {
  Normalization normalization;
  normalization.scale[0] = scale;
  return normalization;
}

Normalization Normalization::Of(const Standard& standard) {
  COVEY_CHECK(standard.mean.size() == standard.std.size() && !standard.mean.empty(),
              standard.mean.size(), standard.std.size());
  Normalization normalization;
  normalization.mean = standard.mean;
  normalization.scale.resize(standard.std.size());
  std::transform(standard.std.begin(), standard.std.end(), normalization.scale.begin(),
                 [](float std) { return 1.0f / std; });
  return normalization;
}

void Normalization::Apply(const std::uint8_t* row, tensor::Element element,
                          std::span<float> out) const {
  COVEY_CHECK(mean.size() == scale.size() && !mean.empty() && out.size() % mean.size() == 0,
              mean.size(), scale.size(), out.size());
  switch (element) {
    case tensor::Element::kUint8:
      return ApplyAs<std::uint8_t>(*this, row, out);
    case tensor::Element::kInt16:
      return ApplyAs<std::int16_t>(*this, row, out);
    case tensor::Element::kFloat32:
      return ApplyAs<float>(*this, row, out);
  }
}

std::string Canonical(Normalize normalize, const Normalization& normalization) {
  if (normalize == Normalize::kNone || normalize == Normalize::kUnit) {
    return std::string(Name(normalize));
  }
  if (normalize == Normalize::kScale) return "scale" + Joined(normalization.scale);
  return "mean" + Joined(normalization.mean) + " scale" + Joined(normalization.scale);
}

std::string Summary(Normalize normalize, const Normalization& normalization, std::size_t limit) {
  if (normalize == Normalize::kNone || normalize == Normalize::kUnit ||
      normalize == Normalize::kScale) {
    return Cut(Canonical(normalize, normalization), limit);
  }
  // A few of the first numbers tell two fits apart; all would not fit.
  constexpr std::size_t kShown = 3;
  std::string means;
  std::string deviations;
  const std::size_t shown = std::min(kShown, normalization.mean.size());
  for (std::size_t i = 0; i < shown; ++i) {
    means += ' ' + Exact(normalization.mean[i]);
    deviations += ' ' + Exact(1.0f / normalization.scale[i]);
  }
  const std::string more = shown < normalization.mean.size() ? " ..." : "";
  return Cut(std::string(Name(normalize)) + " of " + std::to_string(normalization.mean.size()) +
                 ": mean" + means + more + ", std" + deviations + more,
             limit);
}

std::string Canonical(const LabelNames& names) {
  std::string text;
  for (const std::string& name : names) text += std::to_string(name.size()) + ':' + name;
  return text;
}

std::string Summary(const LabelNames& names, std::size_t limit) {
  if (names.empty()) return "unnamed";
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return Cut(std::to_string(names.size()) + " names: " + text, limit);
}

std::size_t PeriodOf(Normalize normalize, const std::vector<std::size_t>& shape) {
  if (normalize == Normalize::kPerChannel) return shape.back();
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

Standard Fit(const Dataset& set, std::span<const std::uint32_t> rows, Normalize normalize) {
  COVEY_CHECK(IsFitted(normalize) && !rows.empty(), rows.size());
  const std::size_t period = PeriodOf(normalize, set.shape());
  std::vector<Moments> moments(period);
  ForElements(set, rows, period, [&moments](std::size_t k, double value) {
    moments[k].sum += value;
    moments[k].least = std::min(moments[k].least, value);
    moments[k].most = std::max(moments[k].most, value);
  });
  const double count = static_cast<double>(rows.size()) * static_cast<double>(set.features()) /
                       static_cast<double>(period);
  if (normalize != Normalize::kMinMax) {
    ForElements(set, rows, period, [&moments, count](std::size_t k, double value) {
      const double distance = value - moments[k].sum / count;
      moments[k].square += distance * distance;
    });
  }
  Standard standard;
  for (const Moments& m : moments) {
    const bool range = normalize == Normalize::kMinMax;
    const double std = range ? m.most - m.least : std::sqrt(m.square / count);
    standard.mean.push_back(static_cast<float>(range ? m.least : m.sum / count));
    // What never changes says nothing: it becomes 0, not a quotient of rounding errors.
    const bool constant = m.least == m.most || !(static_cast<float>(std) > 0);
    standard.std.push_back(constant ? 1.0f : static_cast<float>(std));
  }
  return standard;
}

}  // namespace covey::data
