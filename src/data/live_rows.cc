#include "covey/data/live_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "data/csv_columns.h"
#include "data/csv_plan.h"
#include "data/csv_reader.h"

namespace covey::data {
namespace {

std::string_view WithoutBlanks(std::string_view cell) {
  while (!cell.empty() && (cell.front() == ' ' || cell.front() == '\t')) cell.remove_prefix(1);
  while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\t' || cell.back() == '\r')) {
    cell.remove_suffix(1);
  }
  return cell;
}

// A line's cells, at least one. Quotes need the reader of files.
Status SplitLine(std::string_view line, char separator, std::vector<std::string>& cells) {
  cells.clear();
  if (line.find('"') == std::string_view::npos && line.find('\0') == std::string_view::npos) {
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t end = std::min(line.find(separator, at), line.size());
      cells.emplace_back(WithoutBlanks(line.substr(at, end - at)));
      at = end + 1;
    }
    return {};
  }
  std::size_t given = 0;
  const ReadBytes read = [&](MutableByteView buffer) -> Result<std::size_t> {
    const std::size_t count = std::min(buffer.size(), line.size() - given);
    std::memcpy(buffer.data(), line.data() + given, count);
    given += count;
    return count;
  };
  CsvReader reader(read, separator, "row");
  const auto found = reader.Next();
  if (!found) return tl::unexpected<Error>(found.error());
  if (*found != nullptr) {
    for (const std::string_view cell : **found) cells.emplace_back(cell);
  }
  if (cells.empty()) cells.emplace_back();  // "": a blank line to the reader of files
  return {};
}

// The features of columns that no file has shown yet.
CsvPlan PlanUnseen(const CsvFile& csv, const CsvRoles& roles) {
  CsvPlan plan;
  for (const std::size_t i : roles.features) {
    plan.Add(i, csv.names[i], !roles.names[i].empty(), roles.names[i]);
  }
  return plan;
}

}  // namespace

bool IsBlank(std::string_view line) { return WithoutBlanks(line).empty(); }

struct LiveRows::State {
  const LiveForm* form = nullptr;
  CsvFile csv;
  CsvRoles roles;
  CsvPlan plan;
  Numbered labels;
  std::vector<std::string> cells;
  std::vector<float> values;
  std::vector<float> targets;

  tl::unexpected<Error> Refuse(std::size_t column, std::string what, std::string hint = {}) const {
    return Fail(ErrorCode::kData, "column '" + csv.names[column] + "'", std::move(what),
                std::move(hint));
  }
  Result<double> Number(std::size_t column) const;
  Status Features();
  Result<std::uint32_t> Label();
};

Result<double> LiveRows::State::Number(std::size_t column) const {
  double value = 0;
  if (ParseNumber(cells[column], value) && std::abs(value) <= 3.4e38) return value;
  if (IsMissing(cells[column])) return Refuse(column, "no value");
  return Refuse(column, "'" + cells[column].substr(0, 40) + "' is no number");
}

Status LiveRows::State::Features() {
  for (FeatureColumn& feature : plan.columns) {
    const std::string& cell = cells[feature.column];
    if (!feature.category) {
      const Result<double> value = Number(feature.column);
      if (!value) return tl::unexpected<Error>(value.error());
      values[feature.first] = static_cast<float>(*value);
      continue;
    }
    const std::optional<std::uint32_t> place = feature.names.Known(cell);
    if (!place) {
      return Refuse(feature.column, "'" + cell.substr(0, 40) + "' is not among its values",
                    "list all names of the column in data.csv.categories");
    }
    const std::size_t names = feature.names.names().size();
    std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(feature.first), names, 0.0f);
    values[feature.first + *place] = 1;
  }
  return {};
}

Result<std::uint32_t> LiveRows::State::Label() {
  const std::string& cell = cells[*roles.label];
  if (IsMissing(cell)) return Refuse(*roles.label, "no value");
  const std::optional<std::uint32_t> known = labels.Known(cell);
  if (known) return *known;
  const LabelNames& names = form->like.label_names();
  double number = 0;
  if (ParseNumber(cell, number) && number == std::floor(number) && number >= 0 &&
      number < form->classes) {
    return static_cast<std::uint32_t>(number);
  }
  return Refuse(*roles.label, "class '" + cell.substr(0, 40) + "' is new",
                (names.empty() ? "known classes are numbers below " + std::to_string(form->classes)
                               : "known classes are " + Summary(names, 120)) +
                    "; declare it in data.labels and give the last layer a unit for it, on every "
                    "node");
}

LiveRows::LiveRows(std::unique_ptr<State> state) : state_(std::move(state)) {}
LiveRows::LiveRows(LiveRows&&) noexcept = default;
LiveRows& LiveRows::operator=(LiveRows&&) noexcept = default;
LiveRows::~LiveRows() = default;

bool LiveRows::header() const { return state_->csv.header; }

Result<LiveRows> LiveRows::Start(std::string_view first, const LiveForm& form) {
  auto state = std::make_unique<State>();
  state->form = &form;
  const Result<char> separator = SeparatorOf(form.csv, first);
  if (!separator) return tl::unexpected<Error>(separator.error());
  state->csv.separator = *separator;
  if (first.starts_with("\xEF\xBB\xBF")) first.remove_prefix(3);
  if (Status split = SplitLine(first, *separator, state->cells); !split) {
    return tl::unexpected<Error>(split.error());
  }
  const std::vector<std::string_view> cells(state->cells.begin(), state->cells.end());
  NameColumns(cells, form.csv.header, state->csv);
  Result<CsvRoles> roles = RolesOf(state->csv, form.csv, form.like.outputs() == 0);
  if (!roles) return tl::unexpected<Error>(roles.error());
  state->roles = std::move(*roles);
  if (form.like.feature_names().empty()) {
    state->plan = PlanUnseen(state->csv, state->roles);
  } else {
    Result<CsvPlan> plan = PlanAs(form.like.feature_names(), state->csv, state->roles, "table");
    if (!plan) return tl::unexpected<Error>(plan.error());
    state->plan = std::move(*plan);
  }
  if (state->plan.feature_names.size() != form.like.features()) {
    return Fail(ErrorCode::kData, "table",
                std::to_string(state->plan.feature_names.size()) + " features, wanted " +
                    std::to_string(form.like.features()) + " for the model",
                "name columns that are no features in data.csv.ignore");
  }
  if (form.like.outputs() != state->roles.targets.size()) {
    return Fail(ErrorCode::kData, "table",
                std::to_string(state->roles.targets.size()) + " columns to predict, wanted " +
                    std::to_string(form.like.outputs()),
                "name them in data.csv.targets");
  }
  for (const std::string& name : form.like.label_names()) state->labels.Of(name);
  state->values.resize(form.like.features());
  return LiveRows(std::move(state));
}

Result<LiveSample> LiveRows::Parse(std::string_view line) {
  State& state = *state_;
  if (Status split = SplitLine(line, state.csv.separator, state.cells); !split) {
    return tl::unexpected<Error>(split.error());
  }
  if (state.cells.size() != state.csv.names.size()) {
    return Fail(ErrorCode::kData, "row",
                std::to_string(state.cells.size()) + " cells, wanted " +
                    std::to_string(state.csv.names.size()) + " as in the first line");
  }
  if (Status read = state.Features(); !read) return tl::unexpected<Error>(read.error());
  LiveSample sample;
  if (state.roles.label) {
    const Result<std::uint32_t> label = state.Label();
    if (!label) return tl::unexpected<Error>(label.error());
    sample.label = *label;
  }
  state.targets.clear();
  for (const std::size_t column : state.roles.targets) {
    const Result<double> value = state.Number(column);
    if (!value) return tl::unexpected<Error>(value.error());
    state.targets.push_back(static_cast<float>(*value));
  }
  sample.values = state.values;
  sample.targets = state.targets;
  return sample;
}

}  // namespace covey::data
