// One image file as pixels: PNG, JPEG and PGM/PPM, told by their first bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "covey/base/bytes.h"
#include "covey/base/result.h"

namespace covey::data {

inline constexpr std::size_t kMaxImageFile = std::size_t{64} << 20;    // bytes
inline constexpr std::size_t kMaxImagePixels = std::size_t{64} << 20;  // width times height

struct Pixels {
  std::size_t height = 0;
  std::size_t width = 0;
  std::size_t channels = 1;         // 1: grey, 3: red, green, blue
  std::vector<std::uint8_t> bytes;  // [height][width][channels]
};

// Decodes an image to grey (channels 1) or colour (3), whatever it is; transparency is laid over
// black, 16-bit samples are narrowed.
// Requires: channels 1 or 3.
// Errors: kData with `where`: another format, damaged, truncated, above kMaxImagePixels.
Result<Pixels> DecodeImage(ByteView file, std::size_t channels, const std::string& where);

// Returns: the image in another size; every new pixel is the mean of the area that it covers.
Pixels Resized(const Pixels& from, std::size_t height, std::size_t width);

}  // namespace covey::data
