#include "data/open_records.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "covey/base/sha256.h"
#include "covey/data/text.h"
#include "data/input_file.h"
#include "data/table_file.h"
#include "data/text_symbols.h"

namespace covey::data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSide = 32;
constexpr std::size_t kPlane = kSide * kSide;
constexpr std::size_t kPixels = 3 * kPlane;
constexpr std::uint64_t kMostText = std::uint64_t{1} << 30;

// The file, or those of a folder that hold the training samples.
Result<std::vector<std::string>> CifarFiles(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    const bool train = name.starts_with("data_batch_") || name == "train.bin";
    if (train && name.ends_with(".bin")) files.push_back(at->path().string());
  }
  if (files.empty()) {
    return Fail(ErrorCode::kNoInput, path, "has no data_batch_*.bin and no train.bin",
                "name the folder of the binary version, or one of its files");
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Bytes in front of an image: one label, or two of which the second is the finer one.
Result<std::size_t> LabelBytes(const InputFile& file, const std::string& path) {
  for (const std::size_t labels : {std::size_t{1}, std::size_t{2}}) {
    if (file.size % (labels + kPixels) == 0) return labels;
  }
  return Fail(ErrorCode::kData, path,
              "has " + std::to_string(file.size) +
                  " bytes, wanted a multiple of 3073 (CIFAR-10) "
                  "or 3074 (CIFAR-100)",
              "is it whole, unpacked, and the binary version?");
}

Status TakeImages(const std::string& path, TableWriter& table, std::uint32_t& classes) {
  const Result<InputFile> file = OpenInput(path);
  if (!file) return tl::unexpected<Error>(file.error());
  const Result<std::size_t> labels = LabelBytes(*file, path);
  if (!labels) return tl::unexpected<Error>(labels.error());
  const std::uint32_t known = *labels == 1 ? 10 : 100;
  classes = std::max(classes, known);
  std::vector<std::byte> record(*labels + kPixels);
  std::vector<std::uint8_t> pixels(kPixels);
  for (std::uint64_t at = 0; at < file->size; at += record.size()) {
    const Result<std::size_t> got = ReadAt(*file, at, record, path);
    if (!got) return tl::unexpected<Error>(got.error());
    const auto label = static_cast<std::uint8_t>(record[*labels - 1]);
    if (*got < record.size() || label >= known) {
      return Fail(ErrorCode::kData, path + ":byte " + std::to_string(at + *labels - 1),
                  "label " + std::to_string(label) + ", wanted one below " + std::to_string(known));
    }
    for (std::size_t channel = 0; channel < 3; ++channel) {
      for (std::size_t i = 0; i < kPlane; ++i) {
        pixels[i * 3 + channel] = static_cast<std::uint8_t>(record[*labels + channel * kPlane + i]);
      }
    }
    if (Status row = table.Row(pixels); !row) return row;
    table.Label(label);
  }
  return {};
}

Status CheckClassCount(const Dataset& set, const Source& source, const std::string& path) {
  if (source.classes == 0 || set.classes() <= source.classes) return {};
  return Fail(ErrorCode::kData, path,
              std::to_string(set.classes()) + " classes, wanted at most " +
                  std::to_string(source.classes) + ", the units of the model's last layer");
}

}  // namespace

Result<Dataset> OpenCifar(const Source& source, const std::string& cache_folder) {
  const Result<std::vector<std::string>> files = CifarFiles(source.cifar);
  if (!files) return tl::unexpected<Error>(files.error());
  std::string key = "cifar 1";
  for (const std::string& path : *files) {
    const Result<InputFile> file = OpenInput(path);
    if (!file) return tl::unexpected<Error>(file.error());
    key += StateOf(*file, path) + '\n';
  }
  const Result<Dataset> set = OpenTable(key, cache_folder, [&](TableFile& file) -> Status {
    TableForm form;
    form.element = tensor::Element::kUint8;
    form.shape = {kSide, kSide, 3};
    TableWriter table(file, form);
    std::uint32_t classes = 0;
    for (const std::string& path : *files) {
      if (Status taken = TakeImages(path, table, classes); !taken) return taken;
    }
    return table.Finish({}, classes);
  });
  if (!set) return set;
  if (Status few = CheckClassCount(*set, source, source.cifar); !few) {
    return tl::unexpected<Error>(few.error());
  }
  const float scale = source.normalize == Normalize::kScale  ? source.scale
                      : source.normalize == Normalize::kUnit ? 1.0f / 255.0f
                                                             : 1.0f;
  return set->Normalized(source.normalize, Normalization::Uniform(scale));
}

Result<Dataset> OpenText(const Source& source, const std::string& cache_folder) {
  if (source.shape.size() != 1) {
    return Fail(ErrorCode::kConfig, "model.input", "a text needs [length of a window]",
                "begin the layers with one_hot or embedding");
  }
  const Result<InputFile> file = OpenInput(source.text);
  if (!file) return tl::unexpected<Error>(file.error());
  if (file->size > kMostText) return Fail(ErrorCode::kData, source.text, "is larger than 1 GiB");
  const std::size_t length = source.shape[0];
  const std::string key = "text 1" + StateOf(*file, source.text) + '\0' + std::to_string(length) +
                          ' ' + std::to_string(source.text_step) + Canonical(source.label_names);
  const Result<Dataset> set = OpenTable(key, cache_folder, [&](TableFile& to) -> Status {
    std::vector<std::byte> bytes(static_cast<std::size_t>(file->size));
    const Result<std::size_t> got = ReadAt(*file, 0, bytes, source.text);
    if (!got) return tl::unexpected<Error>(got.error());
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), *got);
    const Result<TextSymbols> symbols = SymbolsOf(text, source.label_names, source.text);
    if (!symbols) return tl::unexpected<Error>(symbols.error());
    const std::vector<std::uint8_t>& all = symbols->symbols;
    if (all.size() <= length) return TooShort(all.size(), length, source.text);
    TableForm form;
    form.element = tensor::Element::kUint8;
    form.shape = {length};
    TableWriter table(to, form);
    for (std::size_t at = 0; at + length < all.size(); at += source.text_step) {
      if (Status row = table.Row(std::span(all).subspan(at, length)); !row) return row;
      table.Label(all[at + length]);
    }
    return table.Finish(symbols->names, static_cast<std::uint32_t>(symbols->names.size()));
  });
  if (!set) return set;
  if (Status few = CheckClassCount(*set, source, source.text); !few) {
    return tl::unexpected<Error>(few.error());
  }
  return set->Normalized(Normalize::kNone, Normalization::Uniform(1));
}

}  // namespace covey::data
