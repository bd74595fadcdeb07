#include "covey/data/samples.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "data/csv_columns.h"
#include "data/csv_reader.h"
#include "data/open_images.h"

namespace covey::data {
namespace {

constexpr std::string_view kBetween = ",; \t\r";
constexpr std::size_t kNamedAtMost = 12;  // names in an error

std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamedAtMost); ++i) {
    text += (i > 0 ? ", " : "") + names[i];
  }
  return text + (names.size() > kNamedAtMost ? ", ..." : "");
}

// Numbers of a sample; 0: not known.
std::size_t WidthOf(const InputForm& form) {
  std::size_t width = form.shape.empty() ? 0 : 1;
  for (const std::size_t extent : form.shape) width *= extent;
  return width;
}

std::string ColumnOf(const std::string& feature) { return feature.substr(0, feature.find('=')); }

// A table without a header has numbers for names; by those nobody names a column in a header.
bool HasNames(const InputForm& form) {
  double unused = 0;
  return std::any_of(form.features.begin(), form.features.end(), [&](const std::string& feature) {
    return !ParseNumber(ColumnOf(feature), unused);
  });
}

// Which cell a feature is made of, and by what text: "colour=red" of the cell colour.
struct Found {
  std::size_t cell = 0;
  std::string text;
};

using CellsByName = std::unordered_map<std::string_view, std::vector<std::size_t>>;

std::vector<Found> CellsOf(const std::string& feature, const CellsByName& names) {
  std::vector<Found> all;
  for (std::size_t end = feature.find('='); true; end = feature.find('=', end + 1)) {
    const bool whole = end == std::string::npos;
    const auto found = names.find(std::string_view(feature).substr(0, end));
    for (const std::size_t cell :
         found == names.end() ? std::vector<std::size_t>() : found->second) {
      all.push_back({cell, whole ? "" : feature.substr(end + 1)});
    }
    if (whole) return all;
  }
}

std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; (at = line.find_first_not_of(kBetween, at)) != line.npos;) {
    const std::size_t end = std::min(line.find_first_of(kBetween, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

Result<std::vector<float>> Numbers(const std::vector<std::string_view>& words,
                                   const std::string& where) {
  std::vector<float> values;
  for (const std::string_view word : words) {
    double value = 0;
    if (!ParseNumber(word, value) || !std::isfinite(static_cast<float>(value))) {
      return Fail(ErrorCode::kData, where, "'" + std::string(word) + "' is not a finite number",
                  "texts are known by their column: give a header, or name=value");
    }
    values.push_back(static_cast<float>(value));
  }
  return values;
}

bool AreNames(const std::vector<std::string_view>& words) {
  double unused = 0;
  return std::none_of(words.begin(), words.end(), [&unused](std::string_view word) {
    return IsMissing(word) || ParseNumber(word, unused);
  });
}

// One cell may be a row of words between blanks.
bool IsHeader(const std::vector<std::string_view>& cells) {
  return AreNames(cells.size() == 1 ? WordsOf(cells[0]) : cells);
}

Result<std::vector<float>> ByOrder(const InputForm& form, std::string_view text,
                                   const std::string& where) {
  std::vector<float> values;
  std::size_t width = WidthOf(form), number = 0;
  bool first = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::vector<std::string_view> words = WordsOf(text.substr(at, end - at));
    at = end + 1;
    ++number;
    if (words.empty()) continue;
    if (std::exchange(first, false) && AreNames(words)) continue;  // a header
    const std::string here = where + ":" + std::to_string(number);
    if (width == 0) width = words.size();
    if (words.size() != width) {
      return Fail(ErrorCode::kData, here,
                  std::to_string(words.size()) + " numbers, wanted " + std::to_string(width));
    }
    const Result<std::vector<float>> row = Numbers(words, here);
    if (!row) return row;
    values.insert(values.end(), row->begin(), row->end());
  }
  if (values.empty()) return Fail(ErrorCode::kData, where, "no row of numbers in it");
  return values;
}

Result<std::vector<float>> ByName(const InputForm& form, CsvReader& reader,
                                  const std::vector<std::string>& names, const std::string& where) {
  const Result<NamedColumns> columns = NamedColumns::Find(form, names, reader.AtLine());
  if (!columns) return tl::unexpected<Error>(columns.error());
  std::vector<float> values;
  while (true) {
    const auto cells = reader.Next();
    if (!cells) return tl::unexpected<Error>(cells.error());
    if (*cells == nullptr) break;
    if ((*cells)->size() != names.size()) return RaggedRow(reader, (*cells)->size(), names.size());
    if (Status read = columns->Append(**cells, reader.AtLine(), values); !read) {
      return tl::unexpected(std::move(read.error()));
    }
  }
  if (values.empty()) return Fail(ErrorCode::kData, where, "no row behind the header");
  const std::size_t width = WidthOf(form), in_a_row = form.features.size();
  if (width == 0 || width % in_a_row != 0) return values;
  values.resize(values.size() / width * width);
  if (!values.empty()) return values;
  return Fail(ErrorCode::kData, where,
              "has fewer rows than a window, which is " + std::to_string(width / in_a_row));
}

}  // namespace

Result<NamedColumns> NamedColumns::Find(const InputForm& form,
                                        const std::vector<std::string>& names,
                                        const std::string& where) {
  if (form.features.empty()) {
    return Fail(ErrorCode::kData, where, "the model does not know its columns by name",
                "give the numbers in the order of the training data");
  }
  CellsByName cells;
  for (std::size_t i = 0; i < names.size(); ++i) cells[names[i]].push_back(i);
  NamedColumns all;
  all.features_ = form.features.size();
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < form.features.size(); ++i) {
    const std::string column = ColumnOf(form.features[i]);
    const std::vector<Found> found = CellsOf(form.features[i], cells);
    if (found.size() > 1) {
      return Fail(ErrorCode::kData, where, "column '" + column + "' stands there twice");
    }
    if (found.empty()) {
      if (missing.empty() || missing.back() != column) missing.push_back(column);
      continue;
    }
    const auto& [cell, text] = found[0];
    if (all.columns_.empty() || all.columns_.back().cell != cell || text.empty()) {
      all.columns_.push_back({names[cell], cell, i, {}});
    }
    if (!text.empty()) all.columns_.back().texts.push_back(text);
  }
  if (missing.empty()) return all;
  return Fail(ErrorCode::kData, where,
              (missing.size() == 1 ? "lacks the column " : "lacks the columns ") + Listed(missing),
              "there are " + Listed(names));
}

Status NamedColumns::Put(const Column& column, std::string_view cell, const std::string& where,
                         float* features) {
  const std::string name = "column '" + column.name + "': ";
  if (column.texts.empty()) {
    double value = 0;
    const bool number = ParseNumber(cell, value);
    features[column.first] = static_cast<float>(value);
    if (number && std::isfinite(features[column.first])) return {};
    return Fail(ErrorCode::kData, where,
                name + (IsMissing(cell)
                            ? "no value"
                            : "'" + std::string(cell.substr(0, 40)) + "' is not a finite number"));
  }
  const auto at = std::find(column.texts.begin(), column.texts.end(), cell);
  if (at == column.texts.end()) {
    return Fail(ErrorCode::kData, where,
                name + "'" + std::string(cell.substr(0, 40)) + "' is none of its values",
                "the model knows " + Listed(column.texts));
  }
  features[column.first + static_cast<std::size_t>(at - column.texts.begin())] = 1;
  return {};
}

Status NamedColumns::Append(const std::vector<std::string_view>& cells, const std::string& where,
                            std::vector<float>& values) const {
  values.resize(values.size() + features_);
  float* const features = &values[values.size() - features_];
  for (const Column& column : columns_) {
    if (Status put = Put(column, cells[column.cell], where, features); !put) return put;
  }
  return {};
}

Result<std::vector<float>> SampleOf(const InputForm& form, const std::vector<NamedCell>& cells,
                                    const std::string& where) {
  std::vector<std::string> names;
  std::vector<std::string_view> texts;
  for (const NamedCell& cell : cells) {
    names.push_back(cell.first);
    texts.push_back(cell.second);
  }
  const Result<NamedColumns> columns = NamedColumns::Find(form, names, where);
  if (!columns) return tl::unexpected<Error>(columns.error());
  std::vector<float> values;
  if (Status read = columns->Append(texts, where, values); !read) {
    return tl::unexpected(std::move(read.error()));
  }
  return values;
}

Result<std::vector<float>> SamplesOf(const InputForm& form, std::string_view text,
                                     const std::string& where) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (!HasNames(form)) return ByOrder(form, text, where);
  const Result<char> separator = SeparatorOf({}, text.substr(0, std::size_t{64} << 10));
  if (!separator) return tl::unexpected<Error>(separator.error());
  std::size_t given = 0;
  const ReadBytes read = [&](MutableByteView buffer) -> Result<std::size_t> {
    const std::size_t count = std::min(buffer.size(), text.size() - given);
    if (count > 0) std::memcpy(buffer.data(), text.data() + given, count);
    given += count;
    return count;
  };
  CsvReader reader(read, *separator, where);
  const auto first = reader.Next();
  if (!first) return tl::unexpected<Error>(first.error());
  if (*first == nullptr || !IsHeader(**first)) return ByOrder(form, text, where);
  const std::vector<std::string> names((*first)->begin(), (*first)->end());
  return ByName(form, reader, names, where);
}

Result<std::vector<float>> NumbersOf(std::string_view row, const std::string& where) {
  return Numbers(WordsOf(row), where);
}

Result<std::vector<float>> ImageSampleOf(const InputForm& form, const std::string& path) {
  Result<std::vector<std::uint8_t>> pixels = ReadImageAs(form.shape, form.image_fit, path);
  if (!pixels) return tl::unexpected(std::move(pixels.error()));
  return std::vector<float>(pixels->begin(), pixels->end());
}

}  // namespace covey::data
