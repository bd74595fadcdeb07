#include "data/open_csv.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "covey/data/csv.h"
#include "data/csv_columns.h"
#include "data/csv_plan.h"
#include "data/csv_reader.h"
#include "data/table_file.h"

namespace covey::data {
namespace {

// The first so many bytes tell what columns hold; when a later row contradicts them the whole file
// is surveyed and converted anew.
constexpr std::uint64_t kGuessBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kAllBytes = std::numeric_limits<std::uint64_t>::max();

// One pass from rows to samples.
class CsvConversion {
 public:
  CsvConversion(const Source& source, const CsvFile& csv, const CsvRoles& roles, CsvPlan plan)
      : source_(source),
        csv_(csv),
        roles_(roles),
        plan_(std::move(plan)),
        labels_(source.label_names) {}

  // Returns: false when a cell contradicts the plan.
  Result<bool> Run(TableFile& file);
  const std::string& surprise() const { return surprise_; }

 private:
  enum class Outcome : std::uint8_t { kTaken, kDropped, kSurprise };
  Result<Outcome> Row(const CsvReader& reader, const std::vector<std::string_view>& cells);
  // Returns: whether the cell has a value; a row without one is dropped or refused.
  Result<bool> Present(const CsvReader& reader, std::string_view cell, std::size_t column) const;
  Result<Outcome> Features(const CsvReader& reader, const std::vector<std::string_view>& cells);
  Result<Outcome> Answers(const CsvReader& reader, const std::vector<std::string_view>& cells);
  tl::unexpected<Error> Refuse(const CsvReader& reader, std::size_t column, std::string what,
                               std::string hint) const;

  const Source& source_;
  const CsvFile& csv_;
  const CsvRoles& roles_;
  CsvPlan plan_;
  ClassNumbers labels_;
  Numbered keys_;
  std::vector<float> values_;
  std::vector<float> targets_;
  std::uint32_t label_ = 0;
  std::string surprise_;
};

tl::unexpected<Error> CsvConversion::Refuse(const CsvReader& reader, std::size_t column,
                                            std::string what, std::string hint) const {
  return Fail(ErrorCode::kData, reader.AtLine(),
              "column '" + csv_.names[column] + "': " + std::move(what), std::move(hint));
}

Result<bool> CsvConversion::Present(const CsvReader& reader, std::string_view cell,
                                    std::size_t column) const {
  if (!IsMissing(cell)) return true;
  if (source_.csv_settings.missing == CsvSettings::Missing::kDrop) return false;
  return Refuse(reader, column,
                cell.empty() ? "no value" : "'" + std::string(cell) + "' is no value",
                "write data.csv.missing: drop to leave such rows out, or ignore the column");
}

Result<CsvConversion::Outcome> CsvConversion::Features(const CsvReader& reader,
                                                       const std::vector<std::string_view>& cells) {
  for (FeatureColumn& feature : plan_.columns) {
    const std::string_view cell = cells[feature.column];
    double value = 0;
    if (!feature.category && ParseNumber(cell, value)) {
      const auto narrow = static_cast<float>(value);
      if (!std::isfinite(narrow)) {
        return Refuse(reader, feature.column, "'" + std::string(cell) + "' is too large",
                      "wanted numbers up to 3.4e38");
      }
      values_[feature.first] = narrow;
      continue;
    }
    const Result<bool> present = Present(reader, cell, feature.column);
    if (!present) return tl::unexpected<Error>(present.error());
    if (!*present) return Outcome::kDropped;
    const std::optional<std::uint32_t> place =
        feature.category ? feature.names.Known(cell) : std::nullopt;
    if (!place) {
      surprise_ = reader.AtLine() + ": column '" + csv_.names[feature.column] + "': '" +
                  std::string(cell.substr(0, 40)) + "'";
      return Outcome::kSurprise;
    }
    const std::size_t names = feature.names.names().size();
    std::fill_n(values_.begin() + static_cast<std::ptrdiff_t>(feature.first), names, 0.0f);
    values_[feature.first + *place] = 1;
  }
  return Outcome::kTaken;
}

Result<CsvConversion::Outcome> CsvConversion::Answers(const CsvReader& reader,
                                                      const std::vector<std::string_view>& cells) {
  if (roles_.label) {
    const std::string_view cell = cells[*roles_.label];
    const Result<bool> present = Present(reader, cell, *roles_.label);
    if (!present) return tl::unexpected<Error>(present.error());
    if (!*present) return Outcome::kDropped;
    const Result<std::uint32_t> label = labels_.Of(cell);
    if (!label) return Refuse(reader, *roles_.label, label.error().what, label.error().hint);
    label_ = *label;
  }
  targets_.clear();
  for (const std::size_t column : roles_.targets) {
    const Result<bool> present = Present(reader, cells[column], column);
    if (!present) return tl::unexpected<Error>(present.error());
    if (!*present) return Outcome::kDropped;
    double value = 0;
    if (!ParseNumber(cells[column], value) || std::abs(value) > 3.4e38) {
      return Refuse(reader, column, "got '" + std::string(cells[column].substr(0, 40)) + "'",
                    "wanted a number to predict");
    }
    targets_.push_back(static_cast<float>(value));
  }
  return Outcome::kTaken;
}

Result<CsvConversion::Outcome> CsvConversion::Row(const CsvReader& reader,
                                                  const std::vector<std::string_view>& cells) {
  if (cells.size() != csv_.names.size()) {
    return RaggedRow(reader, cells.size(), csv_.names.size());
  }
  if (roles_.key) {
    const Result<bool> present = Present(reader, cells[*roles_.key], *roles_.key);
    if (!present) return tl::unexpected<Error>(present.error());
    if (!*present) return Outcome::kDropped;
  }
  const Result<Outcome> features = Features(reader, cells);
  if (!features || *features != Outcome::kTaken) return features;
  return Answers(reader, cells);
}

Result<bool> CsvConversion::Run(TableFile& file) {
  TableForm form;
  form.shape = {plan_.feature_names.size()};
  form.outputs = roles_.targets.size();
  form.keys = roles_.key.has_value();
  form.feature_names = plan_.feature_names;
  if (Status empty = file.Restart(); !empty) return tl::unexpected<Error>(empty.error());
  TableWriter table(file, form);
  values_.assign(plan_.feature_names.size(), 0.0f);
  const ReadBytes read = ReaderOf(csv_.file, source_.csv);
  CsvReader reader(read, csv_.separator, source_.csv);
  bool skip = csv_.header;
  while (true) {
    const auto cells = reader.Next();
    if (!cells) return tl::unexpected<Error>(cells.error());
    if (*cells == nullptr) break;
    if (std::exchange(skip, false)) continue;
    const Result<Outcome> outcome = Row(reader, **cells);
    if (!outcome) return tl::unexpected<Error>(outcome.error());
    if (*outcome == Outcome::kSurprise) return false;
    if (*outcome == Outcome::kDropped) continue;
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(values_.data());
    Status taken = table.Row({bytes, values_.size() * sizeof(float)});
    if (!taken) return tl::unexpected<Error>(taken.error());
    if (roles_.label) table.Label(static_cast<std::uint8_t>(label_));
    for (const float target : targets_) table.Target(target);
    if (roles_.key) table.Key(keys_.Of((**cells)[*roles_.key]));
  }
  if (table.rows() == 0) {
    return Fail(ErrorCode::kData, source_.csv, "no row is left",
                "every row lacks a value; name the empty columns in data.csv.ignore");
  }
  if (roles_.key) FinishKeys(keys_, table);
  Status done = roles_.label ? labels_.Finish(table) : table.Finish({}, 0);
  if (!done) return tl::unexpected<Error>(done.error());
  return true;
}

Status ConvertCsv(const Source& source, const CsvFile& csv, const CsvRoles& roles,
                  TableFile& file) {
  const bool fixed = !source.feature_names.empty();
  std::string surprise;
  for (const std::uint64_t bytes : {kGuessBytes, kAllBytes}) {
    if (fixed && bytes == kAllBytes) break;
    Result<CsvPlan> plan;
    if (fixed) {
      plan = PlanAs(source.feature_names, csv, roles, source.csv);
    } else {
      const Result<CsvSummary> summary = Survey(source.csv, csv, roles, bytes);
      if (!summary) return tl::unexpected<Error>(summary.error());
      plan = PlanFrom(*summary, roles, source.csv);
    }
    if (!plan) return tl::unexpected<Error>(plan.error());
    CsvConversion conversion(source, csv, roles, std::move(*plan));
    const Result<bool> done = conversion.Run(file);
    if (!done) return tl::unexpected<Error>(done.error());
    if (*done) return {};
    surprise = conversion.surprise();
  }
  return Fail(ErrorCode::kData, surprise,
              fixed ? "is not among the values of the training data" : "is not among its values",
              "list all names of the column in data.csv.categories: [\"column=a|b\"]");
}

Status CheckClasses(const Dataset& set, const Source& source) {
  if (!set.has_labels() || source.classes == 0 || set.classes() <= source.classes) return {};
  return Fail(ErrorCode::kData, source.csv,
              std::to_string(set.classes()) + " classes (" +
                  (set.label_names().empty() ? "numbers from 0" : Summary(set.label_names(), 120)) +
                  "), wanted at most " + std::to_string(source.classes) +
                  ", the units of the model's last layer",
              "change the last layer, or choose the column of classes in data.csv.label");
}

std::string CsvText(const CsvSettings& s) {
  std::string text = s.label + '\0' + s.key + '\0' + s.separator + '\0' +
                     std::to_string(static_cast<int>(s.header)) +
                     std::to_string(static_cast<int>(s.missing));
  for (const auto* list : {&s.targets, &s.ignore, &s.categories, &s.features})
    text += Canonical(*list) + '\0';
  return text;
}

}  // namespace

Result<Dataset> OpenCsv(const Source& source, const std::string& cache_folder) {
  const Result<CsvFile> csv = OpenCsvFile(source.csv, source.csv_settings);
  if (!csv) return tl::unexpected<Error>(csv.error());
  const Result<CsvRoles> roles = RolesOf(*csv, source.csv_settings, source.wants_labels);
  if (!roles) return tl::unexpected<Error>(roles.error());
  const std::string key = "csv 2" + StateOf(csv->file, source.csv) + '\0' +
                          CsvText(source.csv_settings) + Canonical(source.label_names) + '\0' +
                          Canonical(source.feature_names) +
                          (source.wants_labels ? "labels" : "targets");
  const Result<Dataset> set = OpenTable(
      key, cache_folder, [&](TableFile& file) { return ConvertCsv(source, *csv, *roles, file); });
  if (!set) return set;
  if (Status known = CheckClasses(*set, source); !known)
    return tl::unexpected<Error>(known.error());
  // Numbers of a table are floats: unit leaves them as they are.
  return set->Normalized(
      source.normalize,
      Normalization::Uniform(source.normalize == Normalize::kScale ? source.scale : 1.0f));
}

}  // namespace covey::data
