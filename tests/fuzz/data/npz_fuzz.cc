// Arrays in zip files: what is opened is as long as the archive says, whatever else it says.
#include "data/npy.h"
#include "fuzz/data/one_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const covey::fuzz::OneFile file("set.npz");
  if (size == 0) return 0;  // OpenInput has its own tests
  const std::string& path = file.Write(covey::fuzz::BytesOf(data, size));
  const auto array = covey::data::OpenNpzArray(path, "x", file.cache());
  if (!array) {
    COVEY_CHECK(array.error().code == covey::ErrorCode::kData && !array.error().what.empty());
    return 0;
  }
  // Deflate packs at most 1,032 bytes into one.
  COVEY_CHECK(array->size > 0 && array->size <= 1032 * size, array->size, size);
  covey::fuzz::CheckOpened(covey::data::Open(
      {.images = path + ":x", .labels = path + ":y", .normalize = covey::data::Normalize::kNone},
      file.cache()));
  return 0;
}
