#include "data/table_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "covey/base/check.h"
#include "covey/base/sha256.h"
#include "data/dataset_builder.h"

namespace covey::data {
namespace {

constexpr std::size_t kTableBuffer = std::size_t{256} << 10;
constexpr std::uint64_t kTableMagic = 0x3130656c62615443;  // "CTable01"

struct TableHeader {
  std::uint64_t magic = kTableMagic;
  std::uint64_t rows = 0;
  std::uint64_t element = 0;
  std::uint64_t dimensions = 0;
  std::uint64_t outputs = 0;
  std::uint64_t classes = 0;
  std::uint64_t keys = 0;
  std::uint64_t text_bytes = 0;
  std::array<std::uint64_t, kMaxIdxDimensions> shape{};
};
static_assert(sizeof(TableHeader) == 128);

std::uint64_t RoundUp(std::uint64_t offset) { return (offset + 63) / 64 * 64; }

template <class T>
ByteView Bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(T)};
}

void AddTexts(std::vector<std::uint8_t>& to, const std::vector<std::string>& texts) {
  const auto number = [&to](std::size_t value) {
    const auto narrow = static_cast<std::uint32_t>(value);
    const std::size_t at = to.size();
    to.resize(at + sizeof narrow);
    std::memcpy(to.data() + at, &narrow, sizeof narrow);
  };
  number(texts.size());
  for (const std::string& text : texts) {
    number(text.size());
    to.insert(to.end(), text.begin(), text.end());
  }
}

// Returns: whether a list of texts was there.
bool TakeTexts(std::span<const std::uint8_t>& from, std::vector<std::string>& texts) {
  const auto number = [&from](std::uint32_t& value) {
    if (from.size() < sizeof value) return false;
    std::memcpy(&value, from.data(), sizeof value);
    from = from.subspan(sizeof value);
    return true;
  };
  std::uint32_t count = 0;
  if (!number(count)) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t size = 0;
    if (!number(size) || from.size() < size) return false;
    texts.emplace_back(reinterpret_cast<const char*>(from.data()), size);
    from = from.subspan(size);
  }
  return true;
}

// Where the parts of a table stand.
struct TablePlaces {
  std::uint64_t row_bytes = 0;
  std::uint64_t answers = 0;
  std::uint64_t keys = 0;
  std::uint64_t texts = 0;
  std::uint64_t end = 0;
};

TablePlaces PlacesOf(const TableHeader& header) {
  TablePlaces places;
  places.row_bytes = tensor::BytesOf(static_cast<tensor::Element>(header.element));
  for (std::uint64_t i = 0; i < header.dimensions; ++i) places.row_bytes *= header.shape[i];
  places.answers = RoundUp(sizeof header + header.rows * places.row_bytes);
  const std::uint64_t answer = header.outputs > 0 ? header.outputs * sizeof(float) : 1;
  places.keys = RoundUp(places.answers + header.rows * answer);
  places.texts =
      header.keys == 0 ? places.keys : RoundUp(places.keys + header.rows * sizeof(std::uint32_t));
  places.end = places.texts + header.text_bytes;
  return places;
}

struct OpenedTable {
  InputFile file;
  TableHeader header;
};

// The cache is this user's own (mode 0700): what is checked here is that a file was finished.
std::optional<OpenedTable> OpenIfFinished(const std::string& path) {
  Result<InputFile> file = OpenInput(path);
  if (!file) return std::nullopt;
  OpenedTable table{.file = std::move(*file), .header = {}};
  std::array<std::byte, sizeof(TableHeader)> bytes;
  const Result<std::size_t> got = ReadAt(table.file, 0, bytes, path);
  if (!got || *got != bytes.size()) return std::nullopt;
  std::memcpy(&table.header, bytes.data(), bytes.size());
  const TableHeader& header = table.header;
  const bool sane = header.magic == kTableMagic && header.rows > 0 && header.element <= 2 &&
                    header.dimensions >= 1 && header.dimensions <= kMaxIdxDimensions;
  if (!sane || PlacesOf(header).end != table.file.size) return std::nullopt;
  return table;
}

Result<Dataset> MapTable(const OpenedTable& table, const std::string& path) {
  const Result<std::shared_ptr<const Mapping>> mapping = Mapping::Open(table.file, path);
  if (!mapping) return tl::unexpected<Error>(mapping.error());
  const ByteView view = (*mapping)->view();
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(view.data());
  const TableHeader& header = table.header;
  const TablePlaces places = PlacesOf(header);
  DatasetBuilder::Parts parts;
  parts.owner = *mapping;
  parts.samples = static_cast<std::size_t>(header.rows);
  parts.element = static_cast<tensor::Element>(header.element);
  parts.rows = bytes + sizeof header;
  parts.outputs = static_cast<std::size_t>(header.outputs);
  parts.classes = static_cast<std::uint32_t>(header.classes);
  // A mapping starts a page, and places are multiples of 64.
  const void* const answers = bytes + places.answers;
  if (parts.outputs > 0) {
    parts.targets = static_cast<const float*>(answers);
  } else {
    parts.labels = {bytes + places.answers, parts.samples};
  }
  if (header.keys != 0) {
    const void* const keys = bytes + places.keys;
    parts.keys = {static_cast<const std::uint32_t*>(keys), parts.samples};
  }
  for (std::uint64_t i = 0; i < header.dimensions; ++i) {
    parts.shape.push_back(static_cast<std::size_t>(header.shape[i]));
  }
  std::span<const std::uint8_t> texts(bytes + places.texts,
                                      static_cast<std::size_t>(header.text_bytes));
  if (!TakeTexts(texts, parts.feature_names) || !TakeTexts(texts, parts.label_names)) {
    return Fail(ErrorCode::kIo, path, "is damaged", "remove it; it is made again");
  }
  return DatasetBuilder::Build(std::move(parts));
}

}  // namespace

Status TableFile::Restart() {
  if (ftruncate(file_, 0) != 0) return SystemError(path_, "can't be made empty");
  return {};
}

Status TableFile::Write(std::uint64_t offset, ByteView bytes) {
  if (lseek(file_, static_cast<off_t>(offset), SEEK_SET) < 0) {
    return SystemError(path_, "can't be written");
  }
  return WriteAll(file_, bytes, path_);
}

TableWriter::TableWriter(TableFile& file, TableForm form)
    : file_(file), form_(std::move(form)), at_(sizeof(TableHeader)) {
  COVEY_CHECK(!form_.shape.empty() && form_.shape.size() <= kMaxIdxDimensions, form_.shape.size());
  row_bytes_ = tensor::BytesOf(form_.element);
  for (const std::size_t extent : form_.shape) row_bytes_ *= extent;
}

Status TableWriter::Flush() {
  if (buffer_.empty()) return {};
  Status done = file_.Write(at_, Bytes(buffer_));
  at_ += buffer_.size();
  buffer_.clear();
  return done;
}

Status TableWriter::Row(std::span<const std::uint8_t> bytes) {
  COVEY_CHECK(bytes.size() == row_bytes_, bytes.size(), row_bytes_);
  if (++rows_ * row_bytes_ > kMaxUnpackedBytes.value) {
    return Fail(ErrorCode::kData, "cache",
                "the converted samples need more than " + FormatByteCount(kMaxUnpackedBytes),
                "divide the data, or leave out columns");
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return buffer_.size() >= kTableBuffer ? Flush() : Status();
}

void TableWriter::Renumber(const std::vector<std::uint8_t>& order) {
  for (std::uint8_t& label : labels_) label = order[label];
}

void TableWriter::RenumberKeys(const std::vector<std::uint32_t>& order) {
  for (std::uint32_t& key : keys_) key = order[key];
}

Status TableWriter::Append(ByteView bytes) {
  at_ = RoundUp(at_);
  Status done = file_.Write(at_, bytes);
  at_ += bytes.size();
  return done;
}

Status TableWriter::Finish(LabelNames label_names, std::uint32_t classes) {
  COVEY_CHECK(
      form_.outputs > 0 ? targets_.size() == rows_ * form_.outputs : labels_.size() == rows_,
      targets_.size(), labels_.size(), rows_);
  COVEY_CHECK(keys_.size() == (form_.keys ? rows_ : 0), keys_.size(), rows_);
  Status done = Flush();
  if (done) done = Append(form_.outputs > 0 ? Bytes(targets_) : Bytes(labels_));
  if (done && form_.keys) done = Append(Bytes(keys_));
  std::vector<std::uint8_t> texts;
  AddTexts(texts, form_.feature_names);
  AddTexts(texts, label_names);
  if (done) done = Append(Bytes(texts));
  TableHeader header;
  header.rows = rows_;
  header.element = static_cast<std::uint64_t>(form_.element);
  header.dimensions = form_.shape.size();
  header.outputs = form_.outputs;
  header.classes = classes;
  header.keys = form_.keys ? 1 : 0;
  header.text_bytes = texts.size();
  std::copy(form_.shape.begin(), form_.shape.end(), header.shape.begin());
  if (done) {
    done = file_.Write(0, ByteView(reinterpret_cast<const std::byte*>(&header), sizeof header));
  }
  return done;
}

Result<Dataset> OpenTable(const std::string& key, const std::string& cache_folder,
                          const std::function<Status(TableFile&)>& make) {
  const std::string name = Sha256::Of(key).Hex().substr(0, 32) + ".idx";
  std::optional<OpenedTable> table;
  const std::string path = (std::filesystem::path(cache_folder) / name).string();
  const Status made = MakeInCache(
      {.folder = cache_folder, .name = name},
      [&] {
        table = OpenIfFinished(path);
        return table.has_value();
      },
      [&](int file, const std::string& temporary) -> Status {
        TableFile table_file(file, temporary);
        return make(table_file);
      });
  if (!made) return tl::unexpected<Error>(made.error());
  return MapTable(*table, path);
}

std::string StateOf(const InputFile& file, const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path whole = std::filesystem::canonical(path, ignored);
  return (whole.empty() ? path : whole.string()) + '\0' + std::to_string(file.size) + '\0' +
         std::to_string(file.changed_ns);
}

}  // namespace covey::data
