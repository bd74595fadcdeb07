#include "data_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "covey/data/dataset.h"
#include "proposal.h"
#include "yaml.h"

namespace covey {
namespace {

using Json = nlohmann::ordered_json;
using Type = data::CsvColumn::Type;

constexpr std::size_t kShownColumns = 40;
constexpr std::size_t kShownNames = 12;

std::string ShortNumber(double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.5g", value);
  return text.data();
}

std::string PaddedText(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

Json AsJson(const Proposal& proposal) {
  Json json = {{"input", proposal.input}, {"outputs", proposal.outputs}};
  json["labels"] = proposal.labels;
  json["mean"] = proposal.standard.mean;
  json["std"] = proposal.standard.std;
  return json;
}

std::string AsText(const Proposal& proposal, const std::string& files,
                   const std::string& settings = {}) {
  const auto extent = [](std::size_t value) { return std::to_string(value); };
  std::string text = "\nin a node file:\n  model:\n    input: " + YamlList(proposal.input, extent) +
                     "\n    layers: [{dense: {units: 32, activation: relu}}, {dense: {units: " +
                     std::to_string(proposal.outputs) + "}}]\n";
  if (!proposal.classes) text += "    loss: mean_squared_error\n";
  text += "  data:\n    train: {" + files + "}\n" + settings;
  if (!proposal.labels.empty()) text += "    labels: " + YamlList(proposal.labels, Yaml) + '\n';
  if (proposal.standard.mean.empty()) return text;
  return text + "    normalize: given\n    normalization:\n      mean: " +
         YamlList(proposal.standard.mean, ExactFloat) +
         "\n      std: " + YamlList(proposal.standard.std, ExactFloat) + '\n';
}

// What an honest column may be and often is not.
std::vector<std::string> Doubts(const data::CsvSummary& summary, std::size_t index) {
  const data::CsvColumn& column = summary.columns[index];
  std::vector<std::string> doubts;
  const bool label = index == summary.label;
  if (column.missing > 0) {
    doubts.push_back(std::to_string(column.missing) + " missing: data.csv.missing: drop");
  }
  if (column.type == Type::kEmpty) doubts.push_back("no value: data.csv.ignore");
  if (column.type == Type::kText) {
    doubts.push_back(label ? "too many different texts for classes"
                           : "too many different texts: data.csv.ignore");
  }
  if (column.values.size() == 1) doubts.push_back(label ? "a single class" : "always the same");
  if (label) {
    for (std::size_t i = 0; i < column.values.size() && column.type != Type::kText; ++i) {
      if (column.counts[i] < 10 && column.values.size() <= kShownNames) {
        doubts.push_back("class " + column.values[i] + " has " + std::to_string(column.counts[i]) +
                         " rows");
      }
    }
    return doubts;
  }
  if (column.type != Type::kNumber) return doubts;
  if (CountsRows(summary, column)) {
    doubts.push_back(column.whole ? "counts the rows? data.csv.ignore"
                                  : "rises from row to row: a time? data.csv.ignore");
  }
  if (column.whole && column.values.size() > 2 && column.values.size() <= kShownNames) {
    doubts.push_back(std::to_string(column.values.size()) +
                     " whole numbers: names? data.csv.categories");
  }
  if (column.deviation > 0 && std::abs(column.mean) > 1e4 * column.deviation) {
    doubts.push_back("far from 0 and hardly changes: a time? data.csv.ignore");
  }
  const double distance =
      std::max(column.most - column.mean, column.mean - column.least) / column.deviation;
  if (column.deviation > 0 && distance > 20) {
    doubts.push_back("a value is " + ShortNumber(distance) + " deviations from the mean");
  }
  return doubts;
}

std::string ColumnLine(const data::CsvSummary& summary, std::size_t i, std::size_t width) {
  const data::CsvColumn& column = summary.columns[i];
  std::string text = PaddedText(column.name + (i == summary.label ? " *" : ""), width) + "  " +
                     PaddedText(std::string(data::Name(column.type)), 9);
  if (column.type == Type::kNumber) {
    text += ShortNumber(column.least) + " to " + ShortNumber(column.most) + ", mean " +
            ShortNumber(column.mean) + ", deviation " + ShortNumber(column.deviation);
  } else if (column.type == Type::kCategory) {
    for (std::size_t n = 0; n < std::min(kShownNames, column.values.size()); ++n) {
      text += (n == 0 ? "" : ", ") + column.values[n] + " " + std::to_string(column.counts[n]);
    }
    if (column.values.size() > kShownNames) text += ", ...";
  }
  for (const std::string& doubt : Doubts(summary, i)) text += "  ! " + doubt;
  return text + '\n';
}

std::string CsvText(const DescribeOptions& options, const data::CsvSummary& summary,
                    const Proposal& proposal) {
  const std::string& path = options.file;
  const std::string separator =
      summary.separator == '\t' ? "tab" : std::string(1, summary.separator);
  std::string text = path + ": CSV, " + std::to_string(summary.rows) + " rows, " +
                     std::to_string(summary.columns.size()) + " columns, separator " + separator +
                     (summary.header ? ", with a header\n" : ", no header\n");
  if (summary.rows_with_missing > 0) {
    text += std::to_string(summary.rows_with_missing) + " rows lack a value\n";
  }
  std::size_t width = 6;
  for (const data::CsvColumn& column : summary.columns) {
    width = std::max(width, std::min<std::size_t>(column.name.size() + 2, 30));
  }
  text += '\n' + PaddedText("column", width) + "  what it holds (* the answer)\n";
  for (std::size_t i = 0; i < summary.columns.size(); ++i) {
    const bool shown = i < kShownColumns || i == summary.label || !Doubts(summary, i).empty();
    if (shown) text += ColumnLine(summary, i, width);
    if (i == kShownColumns && i != summary.label) text += "...\n";
  }
  return text + AsText(proposal, "csv: " + Yaml(path), SettingsText(options.csv));
}

std::string CsvJson(const std::string& path, const data::CsvSummary& summary,
                    const Proposal& proposal) {
  Json json = {{"schema", "covey.data/1"}, {"file", path}, {"format", "csv"}};
  json["rows"] = summary.rows;
  json["rows_with_missing"] = summary.rows_with_missing;
  json["header"] = summary.header;
  json["separator"] = std::string(1, summary.separator);
  json["label"] = summary.columns[summary.label].name;
  json["columns"] = Json::array();
  for (std::size_t i = 0; i < summary.columns.size(); ++i) {
    const data::CsvColumn& column = summary.columns[i];
    Json one = {
        {"name", column.name}, {"type", data::Name(column.type)}, {"missing", column.missing}};
    if (column.type == Type::kNumber) {
      one["least"] = column.least;
      one["most"] = column.most;
      one["mean"] = column.mean;
      one["deviation"] = column.deviation;
    }
    if (column.type == Type::kCategory || i == summary.label) {
      one["values"] = column.values;
      one["counts"] = column.counts;
    }
    one["doubts"] = Doubts(summary, i);
    json["columns"].push_back(std::move(one));
  }
  json["proposal"] = AsJson(proposal);
  // Names are whatever the file holds.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

Result<std::string> DescribeTable(const DescribeOptions& options) {
  const Result<data::CsvSummary> summary = data::DescribeCsv(options.file, options.csv);
  if (!summary) return tl::unexpected(summary.error());
  const Proposal proposal = Propose(*summary, options.csv);
  return options.json ? CsvJson(options.file, *summary, proposal)
                      : CsvText(options, *summary, proposal);
}

std::string ElementName(tensor::Element element) {
  return element == tensor::Element::kUint8   ? "bytes"
         : element == tensor::Element::kInt16 ? "16-bit integers"
                                              : "floats";
}

Result<std::string> DescribeIdx(const DescribeOptions& options) {
  const Result<data::Dataset> set = data::OpenIdx(
      {.images = options.file, .labels = options.labels, .normalize = data::Normalize::kNone},
      options.cache);
  if (!set) return tl::unexpected(set.error());
  std::vector<std::uint32_t> rows(set->size());
  std::iota(rows.begin(), rows.end(), 0u);
  const data::Standard range = data::Fit(*set, rows, data::Normalize::kMinMax);
  Proposal proposal;
  proposal.input = set->shape();
  proposal.outputs = set->labels().empty() ? 2 : set->classes();
  proposal.standard = data::Fit(*set, rows, data::Normalize::kPerChannel);
  float least = range.mean[0];
  float most = range.mean[0];
  for (std::size_t f = 0; f < range.mean.size(); ++f) {
    least = std::min(least, range.mean[f]);
    most = std::max(most, range.mean[f] + range.std[f]);
  }
  std::vector<std::uint64_t> counts(set->labels().empty() ? 0 : set->classes());
  for (const std::uint8_t label : set->labels()) ++counts[label];
  if (options.json) {
    Json json = {{"schema", "covey.data/1"}, {"file", options.file}, {"format", "idx"}};
    json["rows"] = set->size();
    json["shape"] = set->shape();
    json["element"] = ElementName(set->element());
    json["counts"] = counts;
    json["proposal"] = AsJson(proposal);
    return json.dump() + '\n';
  }
  const auto extent = [](std::size_t value) { return std::to_string(value); };
  std::string text = options.file + ": IDX, " + std::to_string(set->size()) + " samples of " +
                     YamlList(set->shape(), extent) + ", " + ElementName(set->element()) + ", " +
                     ShortNumber(static_cast<double>(least)) + " to " +
                     ShortNumber(static_cast<double>(most)) + '\n';
  for (std::size_t c = 0; c < counts.size(); ++c) {
    text += (c == 0 ? "classes: " : ", ") + std::to_string(c) + ": " + std::to_string(counts[c]);
  }
  if (!counts.empty()) text += '\n';
  std::string files = "images: " + Yaml(options.file);
  files += ", labels: " + (options.labels.empty() ? "FILE" : Yaml(options.labels));
  return text + AsText(proposal, files);
}

}  // namespace

Result<std::string> DescribeData(const DescribeOptions& options) {
  const Result<bool> idx = data::IsIdx(options.file);
  if (!idx) return tl::unexpected(idx.error());
  return *idx ? DescribeIdx(options) : DescribeTable(options);
}

}  // namespace covey
