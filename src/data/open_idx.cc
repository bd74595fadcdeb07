#include <algorithm>
#include <array>
#include <utility>

#include "covey/base/check.h"
#include "covey/data/dataset.h"
#include "data/cache.h"
#include "data/convert.h"
#include "data/dataset_builder.h"
#include "data/gunzip.h"
#include "data/idx.h"
#include "data/input_file.h"
#include "data/npy.h"

namespace covey::data {
namespace {

// The values of one IDX file in memory, in the machine's order.
struct MappedIdx {
  std::shared_ptr<const Mapping> mapping;
  IdxHeader header;  // of the file; a copy's has the same size
  tensor::Element element = tensor::Element::kUint8;

  std::span<const std::uint8_t> bytes() const {
    const ByteView view = mapping->view().subspan(static_cast<std::size_t>(header.header_bytes));
    return {reinterpret_cast<const std::uint8_t*>(view.data()), view.size()};
  }
  // Requires: element is kFloat32. A header has a multiple of 4 bytes, and a mapping starts a page.
  const float* floats() const {
    COVEY_CHECK(element == tensor::Element::kFloat32);
    return static_cast<const float*>(static_cast<const void*>(bytes().data()));
  }
};

// What keeps a data set's memory alive.
struct Owner {
  std::shared_ptr<const Mapping> images;
  std::shared_ptr<const Mapping> answers;
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

// "set.npz:x" names the array x of a file.
Result<InputFile> OpenArray(const std::string& path, const std::string& cache_folder) {
  const std::size_t colon = path.rfind(".npz:");
  if (colon == std::string::npos) return OpenInput(path);
  return OpenNpzArray(path.substr(0, colon + 4), path.substr(colon + 5), cache_folder);
}

Result<MappedIdx> MapIdx(const std::string& path, Use use, const std::string& cache_folder) {
  Result<InputFile> file = OpenArray(path, cache_folder);
  if (!file) return tl::unexpected<Error>(file.error());
  std::vector<std::byte> buffer(kMaxNpyHeaderBytes);
  const Result<std::size_t> got = ReadAt(*file, 0, buffer, path);
  if (!got) return tl::unexpected<Error>(got.error());
  const ByteView start(buffer.data(), *got);
  const ByteView idx_start = start.first(std::min(start.size(), kMaxIdxHeaderBytes));
  const bool gzipped = IsGzip(start);
  Result<IdxHeader> header = gzipped
                                 ? PeekGzippedIdx(ReaderOf(*file, path), kMaxUnpackedBytes, path)
                             : IsNpy(start) ? ParseNpyHeader(start, path)
                                            : ParseIdxHeader(idx_start, path);
  if (!header) return tl::unexpected<Error>(header.error());
  if (!gzipped) {
    if (const Status size = CheckSize(*header, file->size, path); !size) {
      return tl::unexpected<Error>(size.error());
    }
  }
  MappedIdx idx;
  idx.element = ElementFor(header->type, use);
  if (gzipped || !IsAsStored(header->type, idx.element)) {
    Result<InputFile> copy = OpenCopy({*file, path, gzipped, *header}, idx.element, cache_folder);
    if (!copy) return tl::unexpected<Error>(copy.error());
    file = std::move(copy);
  }
  Result<std::shared_ptr<const Mapping>> mapping = Mapping::Open(*file, path);
  if (!mapping) return tl::unexpected<Error>(mapping.error());
  idx.mapping = std::move(*mapping);
  idx.header = std::move(*header);
  return idx;
}

Result<MappedIdx> MapColumn(const std::string& path, const std::string& cache_folder) {
  Result<MappedIdx> idx = MapIdx(path, Use::kLabels, cache_folder);
  if (idx && idx->header.dimensions.size() != 1) {
    return Fail(ErrorCode::kData, AtByte(path, 3),
                "dimensions " + FormatShape(idx->header.dimensions) +
                    ", wanted one dimension: a number for each sample",
                "are the paths of images and labels exchanged?");
  }
  return idx;
}

Status CheckCount(const MappedIdx& answers, const MappedIdx& images, const std::string& what,
                  const std::string& path, const std::string& images_path) {
  if (answers.header.dimensions[0] == images.header.dimensions[0]) return {};
  return Fail(ErrorCode::kData, path,
              std::to_string(answers.header.dimensions[0]) + " " + what + ", wanted " +
                  std::to_string(images.header.dimensions[0]) + ": one for each sample of " +
                  images_path,
              "take samples and " + what + " of the same set (train or t10k)");
}

// Returns: the number of classes.
Result<std::uint32_t> CheckLabels(const MappedIdx& labels, std::uint32_t classes,
                                  const std::string& path) {
  std::uint32_t most = 0;
  for (const std::uint8_t label : labels.bytes()) most = std::max<std::uint32_t>(most, label + 1u);
  if (classes == 0 || most <= classes) return classes == 0 ? most : classes;
  const std::span<const std::uint8_t> values = labels.bytes();
  const auto first = std::find_if(values.begin(), values.end(),
                                  [classes](std::uint8_t label) { return label >= classes; });
  const std::uint64_t index = static_cast<std::uint64_t>(first - values.begin());
  return Fail(ErrorCode::kData, AtByte(path, labels.header.header_bytes + index),
              "label " + std::to_string(*first) + " of sample " + std::to_string(index) +
                  ", wanted 0 to " + std::to_string(classes - 1),
              "check the number of classes, or the labels file");
}

}  // namespace

Result<bool> IsIdx(const std::string& path) {
  if (path.find(".npz:") != std::string::npos) return true;
  const Result<InputFile> file = OpenInput(path);
  if (!file) return tl::unexpected<Error>(file.error());
  std::array<std::byte, 8> start{};
  const Result<std::size_t> got = ReadAt(*file, 0, start, path);
  if (!got) return tl::unexpected<Error>(got.error());
  if (IsNpy(ByteView(start.data(), *got))) return true;
  const bool zeros = *got >= 2 && start[0] == std::byte{0} && start[1] == std::byte{0};
  return zeros || IsGzip(ByteView(start.data(), *got));
}

Result<Dataset> OpenIdx(const Source& source, const std::string& cache_folder) {
  const Result<MappedIdx> images = MapIdx(source.images, Use::kSamples, cache_folder);
  if (!images) return tl::unexpected<Error>(images.error());
  const std::vector<std::size_t>& dimensions = images->header.dimensions;
  if (dimensions.size() < 2) {
    return Fail(ErrorCode::kData, AtByte(source.images, 3),
                "one dimension, wanted at least two: samples and values",
                "are the paths of images and labels exchanged?");
  }
  auto owner = std::make_shared<Owner>();
  owner->images = images->mapping;
  DatasetBuilder::Parts parts;
  parts.samples = dimensions[0];
  parts.element = images->element;
  parts.rows = images->bytes().data();
  parts.shape.assign(dimensions.begin() + 1, dimensions.end());
  parts.normalize = source.normalize;
  parts.scale = source.scale;
  const bool targets = !source.targets.empty();
  if (!targets && source.labels.empty()) {
    parts.owner = std::move(owner);
    return DatasetBuilder::Build(std::move(parts));
  }
  const std::string& path = targets ? source.targets : source.labels;
  const Result<MappedIdx> answers =
      targets ? MapIdx(path, Use::kTargets, cache_folder) : MapColumn(path, cache_folder);
  if (!answers) return tl::unexpected<Error>(answers.error());
  const Status count =
      CheckCount(*answers, *images, targets ? "targets" : "labels", path, source.images);
  if (!count) return tl::unexpected<Error>(count.error());

  owner->answers = answers->mapping;
  parts.owner = std::move(owner);
  if (targets) {
    parts.targets = answers->floats();
    parts.outputs = static_cast<std::size_t>(answers->header.values() / dimensions[0]);
  } else {
    const Result<std::uint32_t> classes = CheckLabels(*answers, source.classes, source.labels);
    if (!classes) return tl::unexpected<Error>(classes.error());
    parts.labels = answers->bytes();
    parts.classes = *classes;
  }
  return DatasetBuilder::Build(std::move(parts));
}

Result<std::vector<std::uint32_t>> OpenIdxColumn(const std::string& path,
                                                 const std::string& cache_folder) {
  const Result<MappedIdx> column = MapColumn(path, cache_folder);
  if (!column) return tl::unexpected<Error>(column.error());
  const std::span<const std::uint8_t> values = column->bytes();
  return std::vector<std::uint32_t>(values.begin(), values.end());
}

}  // namespace covey::data
