#include "data/open_recordings.h"

#include <glob.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "covey/base/sha256.h"
#include "data/csv_columns.h"
#include "data/csv_reader.h"
#include "data/input_file.h"
#include "data/name_pattern.h"
#include "data/numbered.h"
#include "data/table_file.h"
#include "data/windows.h"

namespace covey::data {
namespace {

namespace fs = std::filesystem;

// Returns: the tables below a folder, or those that fit a pattern, or the one file; sorted.
Result<std::vector<std::string>> TablesOf(const std::string& where) {
  std::vector<std::string> files;
  std::error_code error;
  if (fs::is_directory(where, error)) {
    for (fs::recursive_directory_iterator at(where, error), end; !error && at != end;
         at.increment(error)) {
      if (at->path().extension() == ".csv") files.push_back(at->path().string());
    }
    if (error) return Fail(ErrorCode::kIo, where, "can't be listed: " + error.message());
  } else {
    ::glob_t found{};
    const int failed = ::glob(where.c_str(), GLOB_NOSORT, nullptr, &found);
    for (std::size_t i = 0; failed == 0 && i < found.gl_pathc; ++i) {
      files.emplace_back(found.gl_pathv[i]);
    }
    ::globfree(&found);
    if (failed != 0 && failed != GLOB_NOMATCH) {
      return Fail(ErrorCode::kIo, where, "can't be looked for");
    }
  }
  std::sort(files.begin(), files.end());
  if (!files.empty()) return files;
  return Fail(ErrorCode::kNoInput, where, "names no table",
              "wanted a folder with .csv files, or a pattern: 'recordings/*/*.csv'");
}

// What the settings say of names of files.
struct Patterns {
  std::optional<NamePattern> key;
  std::optional<NamePattern> label;
};

Result<Patterns> PatternsOf(const WindowSettings& settings) {
  Patterns patterns;
  for (const auto& [text, key, to] :
       {std::tuple(&settings.key, "data.windows.key", &patterns.key),
        std::tuple(&settings.label, "data.windows.label", &patterns.label)}) {
    if (text->empty()) continue;
    Result<NamePattern> pattern = NamePattern::Of(*text, key);
    if (!pattern) return tl::unexpected(std::move(pattern.error()));
    *to = std::move(*pattern);
  }
  return patterns;
}

Result<std::string> Taken(const NamePattern& pattern, const std::string& path, const char* key) {
  std::optional<std::string> taken = pattern.Take(path);
  if (taken) return std::move(*taken);
  return Fail(ErrorCode::kData, path, std::string("does not fit ") + key,
              "change the pattern, or choose the files with one in data.train.recordings");
}

// Which cells of a file make a row.
struct Layout {
  std::vector<std::size_t> features;
  std::optional<std::size_t> label;
  std::optional<std::size_t> key;
};

// All recordings, from rows to windows.
class Recordings {
 public:
  Recordings(const Source& source, Patterns patterns, TableFile& file)
      : source_(source),
        patterns_(std::move(patterns)),
        file_(file),
        columns_(source.feature_names),
        classes_(source.label_names) {}

  Status Take(const std::string& path);
  Status Finish();

 private:
  Result<Layout> LayoutOf(const CsvFile& csv, const std::string& path);
  Status Begin(const std::string& path);
  // Returns: false when the row lacks a value and is to be left out.
  Result<bool> Row(const CsvFile& csv, const Layout& layout, const CsvReader& reader,
                   const std::vector<std::string_view>& cells);
  bool HasKeys() const { return patterns_.key || !source_.csv_settings.key.empty(); }

  const Source& source_;
  const Patterns patterns_;
  TableFile& file_;
  std::vector<std::string> columns_;
  std::string first_;  // file, which says what columns there are
  std::optional<WindowCutter> cutter_;
  std::optional<TableWriter> table_;
  ClassNumbers classes_;
  Numbered keys_;
  std::vector<float> values_;
  std::uint32_t label_ = 0;  // of the file or the row
  std::string key_;
};

// The columns that settings and rules leave for features.
std::vector<std::string> FeaturesOf(const CsvFile& csv, const CsvRoles& roles,
                                    const std::vector<std::string>& listed) {
  if (!listed.empty()) return listed;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < csv.names.size(); ++i) {
    if (roles.of[i] == CsvRoles::Use::kFeature) names.push_back(csv.names[i]);
  }
  return names;
}

Result<Layout> Recordings::LayoutOf(const CsvFile& csv, const std::string& path) {
  Result<CsvRoles> roles = RolesOf(csv, source_.csv_settings, /*wants_label=*/true);
  if (!roles) {
    Error error = roles.error();
    return Fail(ErrorCode::kData, path, error.where + ": " + error.what, error.hint);
  }
  Layout layout;
  if (!patterns_.key) layout.key = roles->key;
  if (!patterns_.label) {
    layout.label = roles->label;
  } else if (source_.csv_settings.label.empty()) {
    // No column is the answer: the one that the rules chose is as good as the others.
    bool ignored = false;
    for (const std::string& name : source_.csv_settings.ignore) {
      ignored = ignored || FindColumn(csv, name, "data.csv.ignore") == *roles->label;
    }
    if (!ignored) roles->of[*roles->label] = CsvRoles::Use::kFeature;
  }
  if (columns_.empty()) columns_ = FeaturesOf(csv, *roles, source_.csv_settings.features);
  for (const std::string& name : columns_) {
    const auto found = std::find(csv.names.begin(), csv.names.end(), name);
    if (found == csv.names.end()) {
      return Fail(
          ErrorCode::kData, path,
          "lacks the column '" + name + "' of " + (first_.empty() ? "the training data" : first_),
          "choose the files with a pattern: data.train.recordings: 'folder/*/*.csv'");
    }
    layout.features.push_back(static_cast<std::size_t>(found - csv.names.begin()));
  }
  return layout;
}

Status Recordings::Begin(const std::string& path) {
  first_ = path;
  const std::vector<std::size_t>& shape = source_.shape;
  std::size_t extra = 1;
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) extra *= shape[i];
  if (shape.size() < 2 || extra != 1 || shape.back() != columns_.size()) {
    return Fail(ErrorCode::kConfig, "model.input",
                "windows of " + path + " have " + std::to_string(columns_.size()) +
                    " columns: " + Summary(columns_, 120),
                "wanted [rows of a window, " + std::to_string(columns_.size()) +
                    "]; name columns that are no features in data.csv.ignore");
  }
  const std::size_t length = shape[shape.size() - 2];
  const WindowSettings& windows = source_.windows;
  cutter_.emplace(WindowCutter::Settings{
      .length = length,
      .step = windows.step == 0 ? std::max<std::size_t>(length / 2, 1) : windows.step,
      .columns = columns_.size(),
      .agree = windows.agree});
  TableForm form;
  form.shape = shape;
  form.keys = HasKeys();
  form.feature_names = columns_;
  table_.emplace(file_, form);
  values_.resize(columns_.size());
  return {};
}

Result<bool> Recordings::Row(const CsvFile& csv, const Layout& layout, const CsvReader& reader,
                             const std::vector<std::string_view>& cells) {
  const auto refuse = [&](std::size_t column, std::string what, std::string hint) {
    return Fail(ErrorCode::kData, reader.AtLine(),
                "column '" + csv.names[column] + "': " + std::move(what), std::move(hint));
  };
  const bool drop = source_.csv_settings.missing == CsvSettings::Missing::kDrop;
  for (std::size_t i = 0; i < layout.features.size(); ++i) {
    const std::string_view cell = cells[layout.features[i]];
    double value = 0;
    const bool number = ParseNumber(cell, value);
    values_[i] = static_cast<float>(value);
    if (number && std::isfinite(values_[i])) continue;
    if (!IsMissing(cell)) {
      return refuse(layout.features[i],
                    "'" + std::string(cell.substr(0, 40)) + "' is not a finite number",
                    "windows hold numbers; name other columns in data.csv.ignore");
    }
    if (drop) return false;
    return refuse(layout.features[i], "no value",
                  "write data.csv.missing: drop to end windows at such rows");
  }
  if (layout.label) {
    if (IsMissing(cells[*layout.label]) && drop) return false;
    if (IsMissing(cells[*layout.label])) {
      return refuse(*layout.label, "no value",
                    "write data.csv.missing: drop to end windows at such rows");
    }
    const Result<std::uint32_t> label = classes_.Of(cells[*layout.label]);
    if (!label) return refuse(*layout.label, label.error().what, label.error().hint);
    label_ = *label;
  }
  if (layout.key && key_ != cells[*layout.key]) {
    cutter_->Break();
    key_ = cells[*layout.key];
  }
  return true;
}

Status Recordings::Take(const std::string& path) {
  const Result<CsvFile> csv = OpenCsvFile(path, source_.csv_settings);
  if (!csv) return tl::unexpected<Error>(csv.error());
  const Result<Layout> layout = LayoutOf(*csv, path);
  if (!layout) return tl::unexpected<Error>(layout.error());
  if (!table_) {
    if (Status begun = Begin(path); !begun) return begun;
  }
  cutter_->Break();
  if (patterns_.label) {
    const Result<std::string> name = Taken(*patterns_.label, path, "data.windows.label");
    if (!name) return tl::unexpected<Error>(name.error());
    const Result<std::uint32_t> label = classes_.Of(*name);
    if (!label) return Fail(ErrorCode::kData, path, label.error().what, label.error().hint);
    label_ = *label;
  }
  if (patterns_.key) {
    Result<std::string> key = Taken(*patterns_.key, path, "data.windows.key");
    if (!key) return tl::unexpected<Error>(key.error());
    key_ = std::move(*key);
  }
  const ReadBytes read = ReaderOf(csv->file, path);
  CsvReader reader(read, csv->separator, path);
  bool skip = csv->header;
  while (true) {
    const auto cells = reader.Next();
    if (!cells) return tl::unexpected<Error>(cells.error());
    if (*cells == nullptr) return {};
    if (std::exchange(skip, false)) continue;
    if ((*cells)->size() != csv->names.size()) {
      return RaggedRow(reader, (*cells)->size(), csv->names.size());
    }
    const Result<bool> taken = Row(*csv, *layout, reader, **cells);
    if (!taken) return tl::unexpected<Error>(taken.error());
    if (!*taken) {
      cutter_->Break();
    } else if (const auto window = cutter_->Add(values_, label_)) {
      if (Status row = table_->Row(window->bytes); !row) return row;
      table_->Label(static_cast<std::uint8_t>(window->label));
      if (HasKeys()) table_->Key(keys_.Of(key_));
    }
  }
}

Status Recordings::Finish() {
  if (table_->rows() == 0) {
    return Fail(ErrorCode::kData, source_.recordings,
                "no recording is as long as a window, or none of one class",
                "wanted rows for model.input, its first extent; data.windows.agree may be less");
  }
  if (HasKeys()) FinishKeys(keys_, *table_);
  return classes_.Finish(*table_);
}

std::string SettingsOf(const Source& source) {
  const CsvSettings& csv = source.csv_settings;
  const WindowSettings& windows = source.windows;
  std::string text = csv.label + '\0' + csv.key + '\0' + csv.separator + '\0' +
                     std::to_string(static_cast<int>(csv.header)) +
                     std::to_string(static_cast<int>(csv.missing)) + Canonical(csv.ignore) + '\0' +
                     Canonical(csv.features) + '\0' + windows.key + '\0' + windows.label + '\0' +
                     std::to_string(windows.step) + '\0' + std::to_string(windows.agree) + '\0' +
                     Canonical(source.label_names) + '\0' + Canonical(source.feature_names);
  for (const std::size_t extent : source.shape) text += ' ' + std::to_string(extent);
  return text;
}

}  // namespace

Result<Dataset> OpenRecordings(const Source& source, const std::string& cache_folder) {
  Result<Patterns> patterns = PatternsOf(source.windows);
  if (!patterns) return tl::unexpected(std::move(patterns.error()));
  const Result<std::vector<std::string>> files = TablesOf(source.recordings);
  if (!files) return tl::unexpected<Error>(files.error());
  Sha256 states;
  for (const std::string& path : *files) {
    const Result<InputFile> file = OpenInput(path);
    if (!file) return tl::unexpected<Error>(file.error());
    states.Update(StateOf(*file, path) + '\n');
  }
  const std::string key = "recordings 1" + states.Finish().Hex() + SettingsOf(source);
  const Result<Dataset> set = OpenTable(key, cache_folder, [&](TableFile& file) -> Status {
    Recordings recordings(source, *patterns, file);
    for (const std::string& path : *files) {
      if (Status taken = recordings.Take(path); !taken) return taken;
    }
    return recordings.Finish();
  });
  if (!set) return set;
  if (source.classes > 0 && set->classes() > source.classes) {
    return Fail(ErrorCode::kData, source.recordings,
                std::to_string(set->classes()) + " classes, wanted at most " +
                    std::to_string(source.classes) + ", the units of the model's last layer");
  }
  return set->Normalized(
      source.normalize,
      Normalization::Uniform(source.normalize == Normalize::kScale ? source.scale : 1.0f));
}

}  // namespace covey::data
