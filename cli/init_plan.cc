#include "init_plan.h"

#include <sys/stat.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "covey/config/load.h"
#include "covey/data/dataset.h"
#include "covey/store/file_system.h"
#include "proposal.h"
#include "yaml.h"

namespace covey {
namespace {

using Type = data::CsvColumn::Type;

constexpr ByteCount kMaxJoinFile{1 << 20};
constexpr std::size_t kLeastForConv = 12;  // rows and columns of an image
constexpr std::size_t kUsualImage = 32;

std::string Extent(std::size_t value) { return std::to_string(value); }

// A share of few samples judges nothing; of many, less is enough.
const char* ShareFor(std::size_t samples) { return samples < 1000 ? "0.2" : "0.1"; }

std::size_t BatchFor(std::size_t samples) { return std::clamp<std::size_t>(samples / 8, 1, 32); }

std::string DenseLayers(std::size_t units, std::size_t outputs) {
  return "    - dense: {units: " + Extent(units) +
         ", activation: relu}\n    - dense: {units: " + Extent(outputs) + "}\n";
}

std::string ModelSection(const std::vector<std::size_t>& input, const std::string& layers) {
  return "model:\n  input: " + YamlList(input, Extent) + "\n  layers:\n" + layers;
}

std::string ImageModel(std::vector<std::size_t> input, std::size_t outputs) {
  if (input.size() == 2) input.push_back(1);
  if (std::min(input[0], input[1]) < kLeastForConv) {
    return ModelSection(input, DenseLayers(64, outputs));
  }
  return ModelSection(input,
                      "    - conv2d: {filters: 16, kernel: 3, activation: relu}\n"
                      "    - max_pool2d: {size: 2}\n"
                      "    - conv2d: {filters: 32, kernel: 3, activation: relu}\n"
                      "    - max_pool2d: {size: 2}\n" +
                          DenseLayers(64, outputs));
}

std::string NumbersText(const data::Standard& standard) {
  return "  normalize: given  # the same numbers on every node, or they refuse each other\n"
         "  normalization:\n    mean: " +
         YamlList(standard.mean, ExactFloat) + "\n    std: " + YamlList(standard.std, ExactFloat) +
         '\n';
}

// What every section `data` ends with.
std::string TailText(std::size_t samples) {
  return std::string("  validation: {share: ") + ShareFor(samples) +
         "}  # never trained on; the best model on them is the one that answers\n  batch: " +
         Extent(BatchFor(samples)) + '\n';
}

std::string LabelsText(const data::LabelNames& names) {
  if (names.empty()) return {};
  return "  labels: " + YamlList(names, Yaml) + "  # of the whole fleet, in one order\n";
}

// The column that is to be predicted when nobody says so: by its name, else one of classes.
std::size_t LikelyAnswer(const data::CsvSummary& summary) {
  const std::size_t last = summary.columns.size() - 1;
  if (summary.label != last || IsClass(summary.columns[last])) return summary.label;
  const std::string& name = summary.columns[last].name;
  if (name == "y" || name == "target") return last;
  for (const std::size_t i : {std::size_t{0}, last == 0 ? 0 : last - 1}) {
    if (summary.columns[i].type == Type::kCategory) return i;
  }
  return last;
}

Status ChooseAnswer(data::CsvSummary& summary, data::CsvSettings& csv, AskPerson ask) {
  if (!csv.targets.empty()) return {};
  if (csv.label.empty()) summary.label = LikelyAnswer(summary);
  std::string name = summary.columns[summary.label].name;
  if (csv.label.empty() && ask != nullptr) {
    std::string all;
    for (const data::CsvColumn& column : summary.columns) {
      all += (all.empty() ? "" : ", ") + column.name;
    }
    name = ask("Which column is to be predicted? (" + all + ")", name);
  }
  for (std::size_t i = 0; i < summary.columns.size(); ++i) {
    if (summary.columns[i].name == name || std::to_string(i + 1) == name) {
      summary.label = i;
      csv.label = summary.columns[i].name;
      return {};
    }
  }
  return Fail(ErrorCode::kUsage, "--label", "there is no column '" + name + "'",
              "covey data describe FILE lists them");
}

// Columns that no model should learn from.
void LeaveOut(const data::CsvSummary& summary, data::CsvSettings& csv, InitPlan& plan) {
  for (std::size_t i = 0; i < summary.columns.size(); ++i) {
    const data::CsvColumn& column = summary.columns[i];
    if (i == summary.label || column.name == csv.key) continue;
    if (std::find(csv.ignore.begin(), csv.ignore.end(), column.name) != csv.ignore.end()) continue;
    const char* why = column.type == Type::kEmpty   ? "has no value"
                      : column.type == Type::kText  ? "has too many different texts"
                      : CountsRows(summary, column) ? "rises from row to row"
                                                    : nullptr;
    if (why == nullptr) continue;
    csv.ignore.push_back(column.name);
    plan.remarks.push_back("column " + column.name + " is left out: it " + why);
  }
}

// Names are listed in the file, so that a node that lacks one still has a feature for it.
void ListCategories(const data::CsvSummary& summary, data::CsvSettings& csv) {
  for (std::size_t i = 0; i < summary.columns.size(); ++i) {
    const data::CsvColumn& column = summary.columns[i];
    const auto is = [&](const std::string& name) { return name == column.name; };
    if (column.type != Type::kCategory || i == summary.label || is(csv.key) ||
        std::any_of(csv.ignore.begin(), csv.ignore.end(), is)) {
      continue;
    }
    std::string names;
    for (const std::string& value : column.values) {
      if (value.find('|') != std::string::npos) return;
      names += (names.empty() ? "=" : "|") + value;
    }
    std::erase_if(csv.categories, is);
    csv.categories.push_back(column.name + names);
  }
}

Result<InitPlan> PlanForTable(const InitOptions& options, AskPerson ask) {
  data::CsvSettings csv = options.csv;
  auto summary = data::DescribeCsv(options.data, csv);
  if (!summary) return tl::unexpected(summary.error());
  InitPlan plan;
  if (Status chosen = ChooseAnswer(*summary, csv, ask); !chosen) {
    return tl::unexpected(chosen.error());
  }
  LeaveOut(*summary, csv, plan);
  if (summary->rows_with_missing > 0) {
    csv.missing = data::CsvSettings::Missing::kDrop;
    plan.remarks.push_back("rows that lack a value are left out, " +
                           Extent(summary->rows_with_missing) + " at most");
  }
  Proposal proposal = Propose(*summary, csv);
  ListCategories(*summary, csv);
  if (!options.classes.empty()) {
    proposal.labels = options.classes;
    proposal.outputs = options.classes.size();
  }
  const std::string answer = summary->columns[summary->label].name;
  if (proposal.classes && proposal.outputs < 2) {
    return Fail(ErrorCode::kData, options.data,
                "column '" + answer + "' holds a single class: there is nothing to tell apart",
                "name all classes of the fleet with --classes, or another column with --label");
  }
  if (proposal.input[0] == 0) {
    return Fail(ErrorCode::kData, options.data,
                "no column is left to predict '" + answer + "' from",
                "covey data describe " + options.data);
  }
  plan.remarks.insert(
      plan.remarks.begin(),
      options.data + ": " + Extent(summary->rows) + " rows, " + Extent(proposal.input[0]) +
          " features, predicts " + answer +
          (proposal.classes ? ", " + Extent(proposal.outputs) + " classes" : ", a number"));
  plan.train = "{csv: " + Yaml(options.data) + '}';
  plan.model = ModelSection(proposal.input, DenseLayers(32, proposal.outputs));
  if (!proposal.classes) plan.model += "  loss: mean_squared_error\n";
  plan.data = "data:\n" + SettingsText(csv).substr(2) + LabelsText(proposal.labels) +
              NumbersText(proposal.standard) + TailText(summary->rows);
  return plan;
}

Result<InitPlan> PlanForArrays(const InitOptions& options, const std::string& cache) {
  if (options.answers.empty()) {
    return Fail(ErrorCode::kUsage, "--answers", "is missing",
                "name the file with the label of each sample of " + options.data);
  }
  const auto set = data::Open(
      {.images = options.data, .labels = options.answers, .normalize = data::Normalize::kNone},
      cache);
  if (!set) return tl::unexpected(set.error());
  InitPlan plan;
  plan.train = "{images: " + Yaml(options.data) + ", labels: " + Yaml(options.answers) + '}';
  const std::size_t outputs =
      options.classes.empty() ? std::max<std::size_t>(set->classes(), 2) : options.classes.size();
  const bool image = set->element() == tensor::Element::kUint8 &&
                     (set->shape().size() == 2 || set->shape().size() == 3);
  plan.model = image ? ImageModel(set->shape(), outputs)
                     : ModelSection(set->shape(), DenseLayers(64, outputs));
  plan.data = "data:\n" + LabelsText(options.classes);
  if (!image) {
    std::vector<std::uint32_t> rows(set->size());
    std::iota(rows.begin(), rows.end(), 0u);
    plan.data += NumbersText(data::Fit(
        *set, rows,
        set->shape().size() == 1 ? data::Normalize::kStandard : data::Normalize::kPerChannel));
  }
  plan.data += TailText(set->size());
  plan.remarks.push_back(options.data + ": " + Extent(set->size()) + " samples of " +
                         YamlList(set->shape(), Extent) + ", " + Extent(outputs) + " classes");
  return plan;
}

Result<InitPlan> PlanForImages(const InitOptions& options, const std::string& cache) {
  std::vector<std::size_t> shape =
      options.size.empty() ? std::vector<std::size_t>{kUsualImage, kUsualImage} : options.size;
  shape.push_back(3);
  const auto set = data::Open({.images = {},
                               .labels = {},
                               .folder = options.data,
                               .image_fit = data::ImageFit::kResize,
                               .shape = shape},
                              cache);
  if (!set) return tl::unexpected(set.error());
  InitPlan plan;
  plan.train = "{folder: " + Yaml(options.data) + '}';
  const data::LabelNames& names = options.classes.empty() ? set->label_names() : options.classes;
  plan.model = ImageModel(shape, std::max<std::size_t>(names.size(), 2));
  plan.data =
      "data:\n  image_fit: resize  # to model.input\n" + LabelsText(names) + TailText(set->size());
  plan.remarks.push_back(options.data + ": " + Extent(set->size()) + " images in " +
                         Extent(names.size()) + " classes, resized to " + Extent(shape[0]) + " x " +
                         Extent(shape[1]) + " (--size)");
  return plan;
}

// The lines of one top-level section.
std::string SectionOf(const std::string& text, const std::string& key) {
  std::string section;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const bool starts = !line.empty() && line[0] != ' ' && line[0] != '#';
    if (starts) inside = line.compare(0, key.size() + 1, key + ':') == 0;
    if (inside && (line.empty() || line[0] != '#')) section += line + '\n';
  }
  while (section.ends_with("\n\n")) section.pop_back();
  return section;
}

// A section `data` without the keys that belong to one node.
std::string WithoutFiles(const std::string& section) {
  std::string text;
  bool inside = false;
  for (std::size_t at = 0; at < section.size();) {
    const std::size_t end = section.find('\n', at);
    const std::string line = section.substr(at, end - at);
    at = end + 1;
    const bool starts = line.size() > 2 && line[2] != ' ' && line.compare(0, 2, "  ") == 0;
    if (starts) {
      inside = line.starts_with("  train:") || line.starts_with("  test:") ||
               line.starts_with("  cache:") || line.starts_with("  partition:") ||
               line.starts_with("  hold_out:");
    }
    if (!inside) text += line + '\n';
  }
  return text;
}

}  // namespace

Result<InitPlan> PlanForData(const InitOptions& options, const std::string& cache, AskPerson ask) {
  struct stat info {};
  if (::stat(options.data.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return PlanForImages(options, cache);
  }
  if (options.data.find(".npz:") != std::string::npos) return PlanForArrays(options, cache);
  const Result<bool> arrays = data::IsIdx(options.data);
  if (!arrays) return tl::unexpected(arrays.error());
  return *arrays ? PlanForArrays(options, cache) : PlanForTable(options, ask);
}

Result<InitPlan> PlanFromJoin(const InitOptions& options) {
  const auto loaded = config::LoadNode(options.join);
  if (!loaded) return tl::unexpected(loaded.error());
  const auto bytes = store::ReadFile(options.join, kMaxJoinFile);
  if (!bytes) return tl::unexpected(bytes.error());
  const std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  const config::NodeConfig& other = loaded->value;
  InitPlan plan;
  plan.fleet = other.fleet.name;
  plan.operator_key = other.fleet.operator_key;
  plan.seeds = other.network.seeds;
  if (plan.seeds.empty()) {
    return Fail(ErrorCode::kConfig, options.join, "names no node to dial (network.seeds)",
                "take the join.yaml that covey init wrote beside that node's file");
  }
  const data::Source& source = other.data.train;
  if (!source.folder.empty()) {
    plan.train = "{folder: " + Yaml(options.data) + '}';
  } else if (!source.csv.empty()) {
    plan.train = "{csv: " + Yaml(options.data) + '}';
  } else {
    if (options.answers.empty()) {
      return Fail(ErrorCode::kUsage, "--answers", "is missing",
                  "name the file with the label of each sample of " + options.data);
    }
    plan.train = "{images: " + Yaml(options.data) + ", labels: " + Yaml(options.answers) + '}';
  }
  plan.model = SectionOf(text, "model");
  plan.data = WithoutFiles(SectionOf(text, "data"));
  plan.more.clear();
  for (const char* key : {"train", "consensus"}) plan.more += SectionOf(text, key);
  plan.remarks.push_back("joins the fleet " + plan.fleet + " of " + options.join +
                         ": model, columns, classes and normalisation are that fleet's");
  return plan;
}

}  // namespace covey
