#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "covey/data/split.h"
#include "data/cache.h"
#include "data/csv_columns.h"
#include "data/csv_plan.h"
#include "data/csv_reader.h"
#include "data/input_file.h"

namespace covey::data {
namespace {

constexpr std::size_t kPartBuffer = std::size_t{64} << 10;

// Calls take(reader, cells) for every row behind the header.
template <class Take>
Status ForRows(const CsvFile& csv, const std::string& path, Take take) {
  const ReadBytes read = ReaderOf(csv.file, path);
  CsvReader reader(read, csv.separator, path);
  bool skip = csv.header;
  while (true) {
    const auto cells = reader.Next();
    if (!cells) return tl::unexpected<Error>(cells.error());
    if (*cells == nullptr) return {};
    if (std::exchange(skip, false)) continue;
    if ((*cells)->size() != csv.names.size()) {
      return RaggedRow(reader, (*cells)->size(), csv.names.size());
    }
    if (Status taken = take(reader, **cells); !taken) return taken;
  }
}

void AppendCell(std::string_view cell, char separator, std::string& to) {
  const bool blank = !cell.empty() && (cell.front() == ' ' || cell.back() == ' ');
  if (!blank && cell.find_first_of("\"\r\n") == std::string_view::npos &&
      cell.find(separator) == std::string_view::npos) {
    to += cell;
    return;
  }
  to += '"';
  for (const char c : cell) to.append(c == '"' ? 2 : 1, c);
  to += '"';
}

void AppendRow(const std::vector<std::string_view>& cells, char separator, std::string& to) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) to += separator;
    AppendCell(cells[i], separator, to);
  }
  to += '\n';
}

bool IsPlainName(const std::string& text) {
  return !text.empty() && text.size() <= 64 && text[0] != '.' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

// Files that are written piece by piece, without keeping all of them open.
class PartFiles {
 public:
  PartFiles(std::vector<SplitPart> parts, bool overwrite)
      : parts_(std::move(parts)), overwrite_(overwrite), waiting_(parts_.size()) {}
  ~PartFiles() {
    if (finished_) return;
    for (std::size_t i = 0; i < begun_.size(); ++i) {
      if (begun_[i]) ::unlink(parts_[i].path.c_str());
    }
  }
  PartFiles(const PartFiles&) = delete;
  PartFiles& operator=(const PartFiles&) = delete;

  std::string& waiting(std::size_t part) { return waiting_[part]; }
  Status Row(std::size_t part) {
    ++parts_[part].rows;
    return waiting_[part].size() < kPartBuffer ? Status() : Flush(part);
  }
  Result<std::vector<SplitPart>> Finish() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (Status written = Flush(i); !written) return tl::unexpected<Error>(written.error());
    }
    finished_ = true;
    return parts_;
  }

 private:
  Status Flush(std::size_t part) {
    const std::string& path = parts_[part].path;
    const int how = begun_[part] ? O_APPEND : O_CREAT | (overwrite_ ? O_TRUNC : O_EXCL);
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | how, 0644));
    if (file.get() < 0) {
      return Fail(ErrorCode::kCantCreate, path, std::strerror(errno),
                  errno == EEXIST ? "choose another folder, or --force" : "");
    }
    begun_[part] = true;
    std::string_view rest = waiting_[part];
    while (!rest.empty()) {
      const ::ssize_t done = ::write(file.get(), rest.data(), rest.size());
      if (done < 0) return Fail(ErrorCode::kIo, path, std::strerror(errno));
      rest.remove_prefix(static_cast<std::size_t>(done));
    }
    waiting_[part].clear();
    return {};
  }

  std::vector<SplitPart> parts_;
  const bool overwrite_;
  std::vector<std::string> waiting_;
  std::vector<bool> begun_ = std::vector<bool>(parts_.size());
  bool finished_ = false;
};

// What a first pass learns of the rows.
struct RowFacts {
  std::vector<std::uint8_t> labels;
  std::vector<std::uint32_t> keys;
  std::uint32_t classes = 1;
  std::vector<std::string> key_names;
};

Result<RowFacts> Learn(const std::string& path, const CsvFile& csv, const SplitSettings& settings) {
  using Kind = PartitionSettings::Kind;
  const Kind kind = settings.partition.kind;
  const bool by_label = kind == Kind::kMixRate || kind == Kind::kDirichlet;
  const Result<CsvRoles> roles = RolesOf(csv, settings.csv, by_label);
  if (!roles) return tl::unexpected<Error>(roles.error());
  if (kind == Kind::kKey && !roles->key) {
    return Fail(ErrorCode::kConfig, "--key", "is missing", "name the column to divide by");
  }
  RowFacts facts;
  Numbered labels, keys;
  std::vector<std::uint32_t> of_label;
  Status read = ForRows(csv, path, [&](const CsvReader& reader, const auto& cells) -> Status {
    of_label.push_back(by_label ? labels.Of(cells[*roles->label]) : 0);
    if (roles->key) facts.keys.push_back(keys.Of(cells[*roles->key]));
    if (labels.names().size() > kMaxCategories || keys.names().size() > kMaxParts) {
      return Fail(ErrorCode::kData, reader.AtLine(),
                  "too many different " +
                      std::string(labels.names().size() > kMaxCategories ? "classes" : "keys"));
    }
    return {};
  });
  if (!read) return tl::unexpected<Error>(read.error());
  // Numbered by name, not by appearance: the order of the rows does not matter.
  std::vector<std::string> sorted = labels.names();
  SortNames(sorted);
  std::vector<std::uint8_t> place;
  for (const std::string& name : labels.names()) {
    const auto found = std::find(sorted.begin(), sorted.end(), name);
    place.push_back(static_cast<std::uint8_t>(found - sorted.begin()));
  }
  for (const std::uint32_t label : of_label) facts.labels.push_back(by_label ? place[label] : 0);
  facts.classes = static_cast<std::uint32_t>(std::max<std::size_t>(sorted.size(), 1));
  facts.key_names = keys.names();
  return facts;
}

}  // namespace

Result<std::vector<SplitPart>> SplitCsv(const std::string& path, const SplitSettings& settings) {
  const Result<CsvFile> csv = OpenCsvFile(path, settings.csv);
  if (!csv) return tl::unexpected<Error>(csv.error());
  const Result<RowFacts> facts = Learn(path, *csv, settings);
  if (!facts) return tl::unexpected<Error>(facts.error());
  const bool by_key = settings.partition.kind == PartitionSettings::Kind::kKey;
  const std::size_t count = by_key ? facts->key_names.size() : settings.partition.part.count;
  if (count < 1 || count > kMaxParts) {
    return Fail(ErrorCode::kConfig, "--parts", "got " + std::to_string(count),
                "wanted 1 to " + std::to_string(kMaxParts));
  }
  std::vector<std::uint32_t> part_of(facts->labels.size());
  std::vector<SplitPart> parts(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    PartitionSettings partition = settings.partition;
    partition.part = {i, static_cast<std::uint32_t>(count)};
    partition.key = i;
    const Result<Indices> rows =
        Partition(Labels(facts->labels), facts->classes, partition, facts->keys);
    if (!rows) return tl::unexpected<Error>(rows.error());
    for (const std::uint32_t row : *rows) part_of[row] = i;
    const bool named = by_key && IsPlainName(facts->key_names[i]);
    const std::string number = (by_key ? "part-" : "") + std::to_string(i + 1);
    parts[i].path = settings.folder + '/' + (named ? facts->key_names[i] : number) + ".csv";
  }
  if (::mkdir(settings.folder.c_str(), 0755) != 0 && errno != EEXIST) {
    return Fail(ErrorCode::kCantCreate, settings.folder, std::strerror(errno));
  }
  PartFiles files(std::move(parts), settings.overwrite);
  if (csv->header) {
    const std::vector<std::string_view> names(csv->names.begin(), csv->names.end());
    for (std::size_t i = 0; i < count; ++i) AppendRow(names, csv->separator, files.waiting(i));
  }
  std::size_t row = 0;
  Status written = ForRows(*csv, path, [&](const CsvReader&, const auto& cells) -> Status {
    const std::uint32_t part = part_of[row++];
    AppendRow(cells, csv->separator, files.waiting(part));
    return files.Row(part);
  });
  if (!written) return tl::unexpected<Error>(written.error());
  return files.Finish();
}

}  // namespace covey::data
