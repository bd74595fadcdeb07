#include <algorithm>
#include <array>
#include <utility>

#include "covey/data/dataset.h"
#include "data/cache.h"
#include "data/dataset_builder.h"
#include "data/gunzip.h"
#include "data/idx.h"
#include "data/input_file.h"

namespace covey::data {
namespace {

// One IDX file in memory.
struct MappedIdx {
  std::shared_ptr<const Mapping> mapping;
  IdxHeader header;

  std::span<const std::uint8_t> values() const {
    const ByteView view = mapping->view().subspan(header.header_bytes);
    return {reinterpret_cast<const std::uint8_t*>(view.data()), view.size()};
  }
};

// What keeps a data set's memory alive.
struct Owner {
  std::shared_ptr<const Mapping> images;
  std::shared_ptr<const Mapping> labels;
};

Status CheckSize(const IdxHeader& header, std::uint64_t size, const std::string& path) {
  if (size == header.file_bytes) return {};
  const std::string shape = FormatShape(header.dimensions);
  if (size < header.file_bytes) {
    return Fail(ErrorCode::kData, AtByte(path, size),
                "truncated: got " + std::to_string(size) + " bytes, wanted " +
                    std::to_string(header.file_bytes) + " for " + shape,
                "copy or download the file again");
  }
  return Fail(ErrorCode::kData, AtByte(path, header.file_bytes),
              "more bytes than its header says: got " + std::to_string(size) + ", wanted " +
                  std::to_string(header.file_bytes) + " for " + shape,
              "the header is damaged, or something was appended");
}

Result<MappedIdx> MapIdx(const std::string& path, const std::string& cache_folder) {
  Result<InputFile> file = OpenInput(path);
  if (!file) return tl::unexpected<Error>(file.error());
  std::array<std::byte, kMaxIdxHeaderBytes> buffer;
  Result<std::size_t> got = ReadAt(*file, 0, buffer, path);
  if (!got) return tl::unexpected<Error>(got.error());
  std::string mapped_path = path;
  if (IsGzip(ByteView(buffer.data(), *got))) {
    Result<InputFile> unpacked = OpenUnpacked(*file, path, cache_folder);
    if (!unpacked) return tl::unexpected<Error>(unpacked.error());
    file = std::move(unpacked);
    mapped_path = path + " (unpacked)";
    got = ReadAt(*file, 0, buffer, mapped_path);
    if (!got) return tl::unexpected<Error>(got.error());
  }
  Result<IdxHeader> header = ParseIdxHeader(ByteView(buffer.data(), *got), mapped_path);
  if (!header) return tl::unexpected<Error>(header.error());
  if (const Status size = CheckSize(*header, file->size, mapped_path); !size) {
    return tl::unexpected<Error>(size.error());
  }
  Result<std::shared_ptr<const Mapping>> mapping = Mapping::Open(*file, mapped_path);
  if (!mapping) return tl::unexpected<Error>(mapping.error());
  MappedIdx idx;
  idx.mapping = std::move(*mapping);
  idx.header = std::move(*header);
  return idx;
}

Result<MappedIdx> MapColumn(const std::string& path, const std::string& cache_folder) {
  Result<MappedIdx> idx = MapIdx(path, cache_folder);
  if (idx && idx->header.dimensions.size() != 1) {
    return Fail(ErrorCode::kData, AtByte(path, 3),
                "dimensions " + FormatShape(idx->header.dimensions) +
                    ", wanted one dimension: a number for each sample",
                "are the paths of images and labels exchanged?");
  }
  return idx;
}

// Returns: the number of classes.
Result<std::uint32_t> CheckLabels(const MappedIdx& labels, std::uint32_t classes,
                                  const std::string& path) {
  std::uint32_t most = 0;
  for (const std::uint8_t label : labels.values()) most = std::max<std::uint32_t>(most, label + 1u);
  if (classes == 0 || most <= classes) return classes == 0 ? most : classes;
  const std::span<const std::uint8_t> values = labels.values();
  const auto first = std::find_if(values.begin(), values.end(),
                                  [classes](std::uint8_t label) { return label >= classes; });
  const std::uint64_t index = static_cast<std::uint64_t>(first - values.begin());
  return Fail(ErrorCode::kData, AtByte(path, labels.header.header_bytes + index),
              "label " + std::to_string(*first) + " of sample " + std::to_string(index) +
                  ", wanted 0 to " + std::to_string(classes - 1),
              "check the number of classes, or the labels file");
}

}  // namespace

Result<Dataset> OpenIdx(const Source& source, const std::string& cache_folder) {
  const Result<MappedIdx> images = MapIdx(source.images, cache_folder);
  if (!images) return tl::unexpected<Error>(images.error());
  const std::vector<std::size_t>& dimensions = images->header.dimensions;
  if (dimensions.size() < 2) {
    return Fail(ErrorCode::kData, AtByte(source.images, 3),
                "one dimension, wanted at least two: samples and values",
                "are the paths of images and labels exchanged?");
  }
  const Result<MappedIdx> labels = MapColumn(source.labels, cache_folder);
  if (!labels) return tl::unexpected<Error>(labels.error());
  if (labels->header.dimensions[0] != dimensions[0]) {
    return Fail(ErrorCode::kData, source.labels,
                std::to_string(labels->header.dimensions[0]) + " labels, wanted " +
                    std::to_string(dimensions[0]) + ": one for each image of " + source.images,
                "take images and labels of the same set (train or t10k)");
  }
  const Result<std::uint32_t> classes = CheckLabels(*labels, source.classes, source.labels);
  if (!classes) return tl::unexpected<Error>(classes.error());

  auto owner = std::make_shared<Owner>();
  owner->images = images->mapping;
  owner->labels = labels->mapping;
  DatasetBuilder::Parts parts;
  parts.owner = std::move(owner);
  parts.rows = images->values().data();
  parts.labels = labels->values();
  parts.shape.assign(dimensions.begin() + 1, dimensions.end());
  parts.classes = *classes;
  parts.normalize = source.normalize;
  return DatasetBuilder::Build(std::move(parts));
}

Result<std::vector<std::uint32_t>> OpenIdxColumn(const std::string& path,
                                                 const std::string& cache_folder) {
  const Result<MappedIdx> column = MapColumn(path, cache_folder);
  if (!column) return tl::unexpected<Error>(column.error());
  const std::span<const std::uint8_t> values = column->values();
  return std::vector<std::uint32_t>(values.begin(), values.end());
}

}  // namespace covey::data
