#include "data/open_images.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "covey/base/sha256.h"
#include "data/image_file.h"
#include "data/input_file.h"
#include "data/table_file.h"

namespace covey::data {
namespace {

namespace fs = std::filesystem;

struct ImagePath {
  std::string path;
  std::uint8_t label = 0;
};

tl::unexpected<Error> FolderError(const std::string& path, const std::error_code& error) {
  const bool missing = error == std::errc::no_such_file_or_directory;
  const bool denied = error == std::errc::permission_denied;
  return Fail(missing  ? ErrorCode::kNoInput
              : denied ? ErrorCode::kNoPermission
                       : ErrorCode::kIo,
              path, "can't be listed: " + error.message(), "check the path");
}

// Returns: names of what a folder holds, sorted; those that begin with a dot are left out.
Result<std::vector<std::string>> NamesIn(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (!name.starts_with('.')) names.push_back(std::move(name));
  }
  if (error) return FolderError(folder, error);
  std::sort(names.begin(), names.end());
  return names;
}

// The classes: the folders, or those that are given, each of which must then be there or empty.
Result<LabelNames> ClassesIn(const Source& source) {
  Result<std::vector<std::string>> names = NamesIn(source.folder);
  if (!names) return names;
  LabelNames classes;
  std::error_code ignored;
  for (const std::string& name : *names) {
    if (fs::is_directory(fs::path(source.folder) / name, ignored)) classes.push_back(name);
  }
  if (classes.empty()) {
    return Fail(ErrorCode::kData, source.folder, "has no folder inside",
                "wanted a folder of images for each class: " + source.folder + "/cat/1.png");
  }
  if (classes.size() > kMaxCategories) {
    return Fail(ErrorCode::kData, source.folder,
                std::to_string(classes.size()) + " folders, wanted one for each of at most " +
                    std::to_string(kMaxCategories) + " classes");
  }
  if (source.label_names.empty()) return classes;
  for (const std::string& name : classes) {
    const auto& given = source.label_names;
    if (std::find(given.begin(), given.end(), name) != given.end()) continue;
    return Fail(ErrorCode::kData, source.folder, "class '" + name + "' is new",
                "known classes are " + Summary(given, 120) + "; list all of them in data.labels");
  }
  return source.label_names;
}

Result<std::vector<ImagePath>> ImagesOf(const std::string& folder, const LabelNames& classes) {
  std::vector<ImagePath> images;
  for (std::size_t label = 0; label < classes.size(); ++label) {
    const std::string inside = (fs::path(folder) / classes[label]).string();
    std::error_code ignored;
    if (!fs::exists(inside, ignored)) continue;
    const Result<std::vector<std::string>> names = NamesIn(inside);
    if (!names) return tl::unexpected<Error>(names.error());
    for (const std::string& name : *names) {
      images.push_back(
          {.path = (fs::path(inside) / name).string(), .label = static_cast<std::uint8_t>(label)});
    }
  }
  if (!images.empty()) return images;
  return Fail(ErrorCode::kData, folder, "holds no image", "wanted " + folder + "/CLASS/FILE");
}

// What the model reads: [height, width] is grey, [height, width, 1 or 3] as it says.
Result<Pixels> ShapeOf(const std::vector<std::size_t>& shape) {
  Pixels wanted;
  if (shape.size() == 2 || (shape.size() == 3 && (shape[2] == 1 || shape[2] == 3))) {
    wanted.height = shape[0];
    wanted.width = shape[1];
    wanted.channels = shape.size() == 3 ? shape[2] : 1;
    return wanted;
  }
  return Fail(ErrorCode::kConfig, "model.input",
              "images need [height, width], [height, width, 1] or [height, width, 3]",
              "1: grey, 3: colour");
}

Result<Pixels> ReadImage(const std::string& path, const Pixels& wanted, ImageFit fit) {
  const Result<InputFile> file = OpenInput(path);
  if (!file) return tl::unexpected<Error>(file.error());
  if (file->size > kMaxImageFile) {
    return Fail(ErrorCode::kData, path, "is larger than 64 MiB", "is it an image?");
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(file->size));
  const Result<std::size_t> got = ReadAt(*file, 0, bytes, path);
  if (!got) return tl::unexpected<Error>(got.error());
  Result<Pixels> pixels = DecodeImage(ByteView(bytes).first(*got), wanted.channels, path);
  if (!pixels || (pixels->height == wanted.height && pixels->width == wanted.width)) return pixels;
  if (fit == ImageFit::kResize) return Resized(*pixels, wanted.height, wanted.width);
  return Fail(ErrorCode::kData, path,
              "is " + std::to_string(pixels->height) + " x " + std::to_string(pixels->width) +
                  " pixels, wanted " + std::to_string(wanted.height) + " x " +
                  std::to_string(wanted.width) + " for model.input",
              "write data.image_fit: resize, or change model.input");
}

}  // namespace

Result<std::vector<std::uint8_t>> ReadImageAs(const std::vector<std::size_t>& shape, ImageFit fit,
                                              const std::string& path) {
  const Result<Pixels> wanted = ShapeOf(shape);
  if (!wanted) return tl::unexpected<Error>(wanted.error());
  Result<Pixels> pixels = ReadImage(path, *wanted, fit);
  if (!pixels) return tl::unexpected<Error>(pixels.error());
  return std::move(pixels->bytes);
}

Result<Dataset> OpenImages(const Source& source, const std::string& cache_folder) {
  const Result<Pixels> wanted = ShapeOf(source.shape);
  if (!wanted) return tl::unexpected<Error>(wanted.error());
  const Result<LabelNames> classes = ClassesIn(source);
  if (!classes) return tl::unexpected<Error>(classes.error());
  const Result<std::vector<ImagePath>> images = ImagesOf(source.folder, *classes);
  if (!images) return tl::unexpected<Error>(images.error());
  Sha256 states;
  for (const ImagePath& image : *images) {
    const Result<InputFile> file = OpenInput(image.path);
    if (!file) return tl::unexpected<Error>(file.error());
    states.Update(StateOf(*file, image.path) + '\n');
  }
  std::string key = "images 1" + states.Finish().Hex() + Canonical(*classes) +
                    (source.image_fit == ImageFit::kResize ? "resize" : "refuse");
  for (const std::size_t extent : source.shape) key += ' ' + std::to_string(extent);
  const Result<Dataset> set = OpenTable(key, cache_folder, [&](TableFile& file) -> Status {
    TableForm form;
    form.element = tensor::Element::kUint8;
    form.shape = source.shape;
    TableWriter table(file, form);
    for (const ImagePath& image : *images) {
      const Result<Pixels> pixels = ReadImage(image.path, *wanted, source.image_fit);
      if (!pixels) return tl::unexpected<Error>(pixels.error());
      if (Status row = table.Row(pixels->bytes); !row) return row;
      table.Label(image.label);
    }
    return table.Finish(*classes, static_cast<std::uint32_t>(classes->size()));
  });
  if (!set) return set;
  if (source.classes > 0 && set->classes() > source.classes) {
    return Fail(ErrorCode::kData, source.folder,
                std::to_string(set->classes()) + " classes, wanted at most " +
                    std::to_string(source.classes) + ", the units of the model's last layer");
  }
  const float scale = source.normalize == Normalize::kScale  ? source.scale
                      : source.normalize == Normalize::kUnit ? 1.0f / 255.0f
                                                             : 1.0f;
  return set->Normalized(source.normalize, Normalization::Uniform(scale));
}

}  // namespace covey::data
