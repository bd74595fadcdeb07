// The image decoders: no input may crash them or make them take memory that its extent does not
// justify.
#include <cstdint>
#include <cstdlib>

#include "data/image_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const covey::ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
  for (const std::size_t channels : {std::size_t{1}, std::size_t{3}}) {
    const auto pixels = covey::data::DecodeImage(bytes, channels, "fuzz");
    if (!pixels) {
      if (pixels.error().code != covey::ErrorCode::kData) std::abort();
      continue;
    }
    const std::size_t count = pixels->height * pixels->width;
    if (count == 0 || count > covey::data::kMaxImagePixels) std::abort();
    if (pixels->bytes.size() != count * channels) std::abort();
    const auto small = covey::data::Resized(*pixels, 3, 2);
    if (small.bytes.size() != 6 * channels) std::abort();
  }
  return 0;
}
