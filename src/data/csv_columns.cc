#include "data/csv_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "covey/base/check.h"
#include "data/cache.h"

namespace covey::data {
namespace {

using Role = CsvRoles::Use;

std::string LowerCase(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

bool IsHeader(const std::vector<std::string_view>& cells, CsvSettings::Header wanted) {
  if (wanted != CsvSettings::Header::kAuto) return wanted == CsvSettings::Header::kYes;
  double unused = 0;
  return std::none_of(cells.begin(), cells.end(),
                      [&unused](std::string_view cell) { return ParseNumber(cell, unused); });
}

std::size_t LikelyLabel(const std::vector<std::string>& names) {
  for (const char* const word : {"label", "class", "target", "y"}) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (LowerCase(names[i]) == word) return i;
    }
  }
  return names.size() - 1;
}

// "red|green" -> red, green.
std::vector<std::string> SplitNames(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('|', at), text.size());
    names.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

// What a pass learns of one column.
struct Observed {
  std::uint64_t numbers = 0;
  std::uint64_t texts = 0;
  std::uint64_t missing = 0;
  std::uint64_t infinite = 0;  // of the texts
  std::string first_infinite;
  std::uint64_t infinite_line = 0;
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  double mean = 0;
  double square = 0;  // Welford 1962: sum of the squared distances from the mean
  bool whole = true;
  bool rising = true;
  double last_number = -std::numeric_limits<double>::infinity();
  bool many = false;  // more than kMaxCategories different texts
  std::unordered_map<std::string, std::uint64_t> values;
  std::string last;  // rows of one class often follow one another
  std::uint64_t* last_count = nullptr;

  // Returns: whether there is a value.
  bool Take(std::string_view cell, std::uint64_t line) {
    double value = 0;
    if (IsMissing(cell)) {
      ++missing;
      return false;
    }
    if (ParseNumber(cell, value)) {
      Number(value);
    } else {
      ++texts;
      if (IsInfinite(cell)) Infinite(cell, line);
    }
    Value(cell);
    return true;
  }
  void Infinite(std::string_view cell, std::uint64_t line) {
    if (infinite++ > 0) return;
    first_infinite = cell.substr(0, 40);
    infinite_line = line;
  }
  void Number(double value) {
    ++numbers;
    least = std::min(least, value);
    most = std::max(most, value);
    const double distance = value - mean;
    mean += distance / static_cast<double>(numbers);
    square += distance * (value - mean);
    whole = whole && value == std::floor(value);
    rising = rising && value > last_number;
    last_number = value;
  }
  void Value(std::string_view cell) {
    if (many) return;
    if (last_count == nullptr || last != cell) {
      last = cell;
      last_count = &values[last];
      many = values.size() > kMaxCategories;
    }
    ++*last_count;
  }
};

CsvColumn Finish(std::string name, Observed& o, bool category) {
  using Type = CsvColumn::Type;
  CsvColumn column;
  column.name = std::move(name);
  column.missing = o.missing;
  column.type = o.numbers + o.texts == 0    ? Type::kEmpty
                : o.texts == 0 && !category ? Type::kNumber
                : o.many                    ? Type::kText
                                            : Type::kCategory;
  if (o.numbers > 0) {
    column.least = o.least;
    column.most = o.most;
    column.mean = o.mean;
    column.deviation = std::sqrt(o.square / static_cast<double>(o.numbers));
    column.whole = o.whole && o.texts == 0;
    column.rising = o.rising && o.texts == 0 && o.numbers > 1;
  }
  if (o.many) return column;
  for (const auto& value : o.values) column.values.push_back(value.first);
  SortNames(column.values);
  for (const std::string& value : column.values) column.counts.push_back(o.values[value]);
  return column;
}

}  // namespace

std::string_view Name(CsvColumn::Type type) {
  switch (type) {
    case CsvColumn::Type::kEmpty:
      return "empty";
    case CsvColumn::Type::kNumber:
      return "number";
    case CsvColumn::Type::kCategory:
      return "category";
    case CsvColumn::Type::kText:
      return "text";
  }
  return "?";
}

void SortNames(std::vector<std::string>& names) {
  const auto number = [](const std::string& name) {
    double value = 0;
    return ParseNumber(name, value) ? std::optional<double>(value) : std::nullopt;
  };
  std::sort(names.begin(), names.end(), [&number](const std::string& a, const std::string& b) {
    const auto of_a = number(a);
    const auto of_b = number(b);
    if (of_a && of_b && *of_a != *of_b) return *of_a < *of_b;
    if (of_a.has_value() != of_b.has_value()) return of_a.has_value();
    return a < b;
  });
}

Result<char> SeparatorOf(const CsvSettings& settings, std::string_view start) {
  if (settings.separator == "tab") return '\t';
  if (settings.separator.size() == 1 && settings.separator[0] != '"' &&
      settings.separator[0] != '\n' && settings.separator[0] != '\r') {
    return settings.separator[0];
  }
  if (!settings.separator.empty()) {
    return Fail(ErrorCode::kConfig, "data.csv.separator", "got '" + settings.separator + "'",
                "wanted one character, such as ',' or ';', or the word tab");
  }
  const std::string_view line = start.substr(0, start.find('\n'));
  char best = ',';
  std::ptrdiff_t most = 0;
  for (const char c : {',', ';', '\t'}) {
    const std::ptrdiff_t count = std::count(line.begin(), line.end(), c);
    if (count > most) {
      most = count;
      best = c;
    }
  }
  return best;
}

void NameColumns(const std::vector<std::string_view>& cells, CsvSettings::Header header,
                 CsvFile& csv) {
  csv.header = IsHeader(cells, header);
  csv.names.clear();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    csv.names.push_back(csv.header ? std::string(cells[i]) : std::to_string(i + 1));
    if (csv.names.back().empty()) csv.names.back() = std::to_string(i + 1);
  }
}

Result<CsvFile> OpenCsvFile(const std::string& path, const CsvSettings& settings) {
  Result<InputFile> file = OpenInput(path);
  if (!file) return tl::unexpected<Error>(file.error());
  std::vector<std::byte> start(std::size_t{64} << 10);
  const Result<std::size_t> got = ReadAt(*file, 0, start, path);
  if (!got) return tl::unexpected<Error>(got.error());
  const Result<char> separator =
      SeparatorOf(settings, {reinterpret_cast<const char*>(start.data()), *got});
  if (!separator) return tl::unexpected<Error>(separator.error());
  CsvFile csv;
  csv.separator = *separator;
  const ReadBytes read = ReaderOf(*file, path);
  CsvReader reader(read, csv.separator, path);
  const auto first = reader.Next();
  if (!first) return tl::unexpected<Error>(first.error());
  if (*first == nullptr) {
    return Fail(ErrorCode::kData, path, "no line with a cell", "wanted rows of a table");
  }
  NameColumns(**first, settings.header, csv);
  csv.file = std::move(*file);
  return csv;
}

Result<std::size_t> FindColumn(const CsvFile& csv, const std::string& name,
                               const std::string& key) {
  const auto found = std::find(csv.names.begin(), csv.names.end(), name);
  if (found != csv.names.end()) return static_cast<std::size_t>(found - csv.names.begin());
  double number = 0;
  const std::size_t columns = csv.names.size();
  if (ParseNumber(name, number) && number >= 1 && number <= static_cast<double>(columns) &&
      number == std::floor(number)) {
    return static_cast<std::size_t>(number) - 1;
  }
  std::string all;
  for (std::size_t i = 0; i < std::min<std::size_t>(columns, 12); ++i) {
    all += (all.empty() ? "" : ", ") + csv.names[i];
  }
  return Fail(ErrorCode::kConfig, key, "there is no column '" + name + "'",
              "columns are " + all + (columns > 12 ? ", ..." : "") + "; a number counts from 1");
}

namespace {

// Fills roles.features. Columns that are not listed, when some are, are no features.
Status OrderFeatures(const CsvFile& csv, const CsvSettings& settings, CsvRoles& roles) {
  std::vector<bool> listed(csv.names.size(), settings.features.empty());
  for (const std::string& name : settings.features) {
    const Result<std::size_t> found = FindColumn(csv, name, "data.csv.features");
    if (!found) return tl::unexpected<Error>(found.error());
    if (roles.of[*found] != Role::kFeature || listed[*found]) {
      return Fail(ErrorCode::kConfig, "data.csv.features",
                  "column '" + name + "' stands there twice, or is something else",
                  "a column is a feature, the answer, the key or ignored");
    }
    listed[*found] = true;
    roles.features.push_back(*found);
  }
  for (std::size_t i = 0; i < csv.names.size(); ++i) {
    if (roles.of[i] != Role::kFeature) continue;
    if (!listed[i]) roles.of[i] = Role::kNone;
    if (settings.features.empty()) roles.features.push_back(i);
  }
  return {};
}

}  // namespace

std::vector<std::string> FeatureNamesOf(const CsvSettings& settings) {
  std::vector<std::string> all;
  for (const std::string& name : settings.features) {
    std::vector<std::string> values;
    for (const std::string& text : settings.categories) {
      if (text.starts_with(name + '=')) values = SplitNames(text.substr(name.size() + 1));
    }
    if (values.empty()) all.push_back(name);
    for (const std::string& value : values) all.push_back(name + '=' + value);
  }
  return all;
}

Result<CsvRoles> RolesOf(const CsvFile& csv, const CsvSettings& settings, bool wants_label) {
  COVEY_CHECK(!csv.names.empty());
  CsvRoles roles;
  roles.of.assign(csv.names.size(), Role::kFeature);
  roles.category.assign(csv.names.size(), false);
  roles.names.resize(csv.names.size());
  Status wrong;
  const auto find = [&](const std::string& name, const char* key) {
    const Result<std::size_t> found = FindColumn(csv, name, std::string("data.csv.") + key);
    if (!found && wrong) wrong = tl::unexpected<Error>(found.error());
    return found.value_or(0);
  };
  for (const std::string& name : settings.ignore) roles.of[find(name, "ignore")] = Role::kNone;
  if (!settings.key.empty()) {
    roles.key = find(settings.key, "key");
    roles.of[*roles.key] = Role::kKey;
  }
  for (const std::string& text : settings.categories) {
    const std::size_t equals = text.find('=');
    const std::size_t column = find(text.substr(0, equals), "categories");
    roles.category[column] = true;
    if (equals != std::string::npos) roles.names[column] = SplitNames(text.substr(equals + 1));
  }
  for (const std::string& name : settings.targets) {
    roles.targets.push_back(find(name, "targets"));
    roles.of[roles.targets.back()] = Role::kTarget;
  }
  if (wants_label || (roles.targets.empty())) {
    const std::size_t answer =
        settings.label.empty() ? LikelyLabel(csv.names) : find(settings.label, "label");
    if (wants_label) roles.label = answer;
    if (!wants_label) roles.targets.push_back(answer);
    roles.of[answer] = wants_label ? Role::kLabel : Role::kTarget;
  }
  if (Status ordered = OrderFeatures(csv, settings, roles); wrong && !ordered) wrong = ordered;
  if (!wrong) return tl::unexpected<Error>(wrong.error());
  return roles;
}

tl::unexpected<Error> RaggedRow(const CsvReader& reader, std::size_t got, std::size_t wanted) {
  return Fail(
      ErrorCode::kData, reader.AtLine(),
      std::to_string(got) + " cells, wanted " + std::to_string(wanted) + " as in the first line",
      "is a separator missing, or a cell with a separator not in quotes?");
}

Result<CsvSummary> Survey(const std::string& path, const CsvFile& csv, const CsvRoles& roles,
                          std::uint64_t most) {
  const ReadBytes read = ReaderOf(csv.file, path);
  CsvReader reader(read, csv.separator, path);
  std::vector<Observed> observed(csv.names.size());
  CsvSummary summary;
  summary.separator = csv.separator;
  summary.header = csv.header;
  summary.label = roles.label.value_or(roles.targets.empty() ? 0 : roles.targets[0]);
  bool skip = csv.header;
  while (reader.offset() < most) {
    const auto cells = reader.Next();
    if (!cells) return tl::unexpected<Error>(cells.error());
    if (*cells == nullptr) break;
    if ((*cells)->size() != observed.size()) {
      return RaggedRow(reader, (*cells)->size(), observed.size());
    }
    if (std::exchange(skip, false)) continue;
    ++summary.rows;
    bool missing = false;
    for (std::size_t i = 0; i < observed.size(); ++i) {
      missing |= !observed[i].Take((**cells)[i], reader.line());
    }
    if (missing) ++summary.rows_with_missing;
  }
  if (summary.rows == 0) {
    return Fail(ErrorCode::kData, path, "no row behind the header", "wanted samples");
  }
  for (std::size_t i = 0; i < observed.size(); ++i) {
    const Observed& o = observed[i];
    const bool numbers = o.numbers > 0 && o.texts == o.infinite && !roles.category[i];
    if (numbers && o.infinite > 0 && roles.of[i] != Role::kNone) {
      return Fail(ErrorCode::kData, path + ':' + std::to_string(o.infinite_line),
                  "column '" + csv.names[i] + "': '" + o.first_infinite + "' is infinite",
                  "wanted numbers up to 3.4e38, or a cell without a value; or name the column in "
                  "data.csv.ignore");
    }
    summary.columns.push_back(Finish(csv.names[i], observed[i], roles.category[i]));
  }
  return summary;
}

Result<CsvSummary> DescribeCsv(const std::string& path, const CsvSettings& settings) {
  const Result<CsvFile> csv = OpenCsvFile(path, settings);
  if (!csv) return tl::unexpected<Error>(csv.error());
  const Result<CsvRoles> roles = RolesOf(*csv, settings, settings.targets.empty());
  if (!roles) return tl::unexpected<Error>(roles.error());
  return Survey(path, *csv, *roles, std::numeric_limits<std::uint64_t>::max());
}

}  // namespace covey::data
