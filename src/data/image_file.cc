#include "data/image_file.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <utility>

// jpeglib.h wants stdio.h before it.
#include <jpeglib.h>
#include <png.h>

#include "covey/base/check.h"

namespace covey::data {
namespace {

tl::unexpected<Error> BadImage(const std::string& where, std::string what) {
  return Fail(ErrorCode::kData, where, std::move(what),
              "remove or replace the file; wanted PNG, JPEG, PGM or PPM");
}

Status CheckExtent(std::size_t height, std::size_t width, const std::string& where) {
  if (height > 0 && width > 0 && height <= kMaxImagePixels / width) return {};
  return BadImage(where, "says that it has " + std::to_string(height) + " x " +
                             std::to_string(width) + " pixels, wanted 1 to " +
                             std::to_string(kMaxImagePixels));
}

Result<Pixels> DecodePng(ByteView file, std::size_t channels, const std::string& where) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  const auto refuse = [&image, &where] {
    const std::string said = image.message;
    png_image_free(&image);
    return BadImage(where, "damaged PNG: " + said);
  };
  if (png_image_begin_read_from_memory(&image, file.data(), file.size()) == 0) return refuse();
  if (Status extent = CheckExtent(image.height, image.width, where); !extent) {
    png_image_free(&image);
    return tl::unexpected<Error>(extent.error());
  }
  image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  Pixels pixels{image.height, image.width, channels, {}};
  pixels.bytes.resize(pixels.height * pixels.width * channels);
  const png_color black{};
  if (png_image_finish_read(&image, &black, pixels.bytes.data(), 0, nullptr) == 0) return refuse();
  return pixels;
}

// libjpeg leaves by longjmp.
struct JpegFailure {
  jpeg_error_mgr manager;
  std::jmp_buf back;
  char message[JMSG_LENGTH_MAX];
};

void FailJpeg(j_common_ptr info) {
  auto* const failure = reinterpret_cast<JpegFailure*>(info->err);
  info->err->format_message(info, failure->message);
  std::longjmp(failure->back, 1);
}

// A truncated file is a warning to libjpeg, which fills the rest with grey.
void FailOnWarning(j_common_ptr info, int level) {
  if (level < 0) FailJpeg(info);
}

struct JpegReading {
  jpeg_decompress_struct info;
  JpegFailure failure;
  bool too_large = false;
};

// No object with a destructor lives in here: a longjmp would leap over it.
// Returns: whether the image was read.
bool RunJpeg(JpegReading& reading, const unsigned char* bytes, unsigned long size, int channels,
             Pixels& pixels) {
  jpeg_decompress_struct& info = reading.info;
  if (setjmp(reading.failure.back) != 0) return false;
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, bytes, size);
  jpeg_read_header(&info, TRUE);
  // Before libjpeg takes memory for it.
  if (info.image_height == 0 || info.image_width == 0 ||
      info.image_height > kMaxImagePixels / info.image_width) {
    reading.too_large = true;
    return false;
  }
  info.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(&info);
  pixels.height = info.output_height;
  pixels.width = info.output_width;
  const std::size_t row = pixels.width * pixels.channels;
  pixels.bytes.resize(pixels.height * row);
  while (info.output_scanline < info.output_height) {
    JSAMPROW to = pixels.bytes.data() + info.output_scanline * row;
    jpeg_read_scanlines(&info, &to, 1);
  }
  jpeg_finish_decompress(&info);
  return true;
}

Result<Pixels> DecodeJpeg(ByteView file, std::size_t channels, const std::string& where) {
  JpegReading reading{};
  reading.info.err = jpeg_std_error(&reading.failure.manager);
  reading.failure.manager.error_exit = FailJpeg;
  reading.failure.manager.emit_message = FailOnWarning;
  Pixels pixels;
  pixels.channels = channels;
  const bool read =
      RunJpeg(reading, reinterpret_cast<const unsigned char*>(file.data()),
              static_cast<unsigned long>(file.size()), static_cast<int>(channels), pixels);
  jpeg_destroy_decompress(&reading.info);
  if (reading.too_large) return BadImage(where, "has more pixels than are read");
  if (!read) return BadImage(where, std::string("damaged JPEG: ") + reading.failure.message);
  return pixels;
}

// "P5 width height most" and bytes; P6 is colour. Source: the netpbm manual, "pgm", "ppm".
class PnmReader {
 public:
  explicit PnmReader(ByteView file) : file_(file) {}

  // Returns: the next number of the header, or nothing above 2^31 or when there is none.
  std::size_t Number() {
    while (at_ < file_.size() && (IsSpace(Byte()) || Byte() == '#')) {
      if (Byte() == '#') {
        while (at_ < file_.size() && Byte() != '\n') ++at_;
      } else {
        ++at_;
      }
    }
    std::size_t value = 0;
    while (at_ < file_.size() && Byte() >= '0' && Byte() <= '9' && value < (1u << 31)) {
      value = value * 10 + static_cast<std::size_t>(Byte() - '0');
      ++at_;
    }
    return value;
  }
  void Skip(std::size_t bytes) { at_ += bytes; }
  ByteView Rest() const { return file_.subspan(std::min(at_, file_.size())); }

 private:
  char Byte() const { return static_cast<char>(file_[at_]); }
  static bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

  ByteView file_;
  std::size_t at_ = 0;
};

Result<Pixels> DecodePnm(ByteView file, std::size_t channels, const std::string& where) {
  PnmReader reader(file);
  reader.Skip(2);
  const std::size_t of_file = static_cast<char>(file[1]) == '6' ? 3 : 1;
  const std::size_t width = reader.Number();
  const std::size_t height = reader.Number();
  const std::size_t most = reader.Number();
  reader.Skip(1);
  if (Status extent = CheckExtent(height, width, where); !extent) {
    return tl::unexpected<Error>(extent.error());
  }
  if (most == 0 || most > 65535) return BadImage(where, "damaged PGM: no largest value");
  const std::size_t bytes_each = most > 255 ? 2 : 1;
  const std::size_t count = height * width;
  const ByteView rest = reader.Rest();
  if (rest.size() < count * of_file * bytes_each) {
    return BadImage(where, "truncated: got " + std::to_string(rest.size()) +
                               " bytes of pixels, "
                               "wanted " +
                               std::to_string(count * of_file * bytes_each));
  }
  const auto sample = [&](std::size_t index) {
    const std::size_t high = std::to_integer<std::size_t>(rest[index * bytes_each]);
    const std::size_t value =
        bytes_each == 1 ? high
                        : high << 8 | std::to_integer<std::size_t>(rest[index * bytes_each + 1]);
    return std::min(value, most) * 255 / most;
  };
  Pixels pixels{height, width, channels, {}};
  pixels.bytes.reserve(count * channels);
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t red = sample(i * of_file);
    std::size_t green = of_file == 3 ? sample(i * 3 + 1) : red;
    std::size_t blue = of_file == 3 ? sample(i * 3 + 2) : red;
    // Luma of ITU-R BT.601, as JPEG has it.
    if (channels == 1) red = (299 * red + 587 * green + 114 * blue + 500) / 1000;
    pixels.bytes.push_back(static_cast<std::uint8_t>(red));
    if (channels == 1) continue;
    pixels.bytes.push_back(static_cast<std::uint8_t>(green));
    pixels.bytes.push_back(static_cast<std::uint8_t>(blue));
  }
  return pixels;
}

bool StartsWith(ByteView file, std::string_view magic) {
  return file.size() > magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

}  // namespace

Result<Pixels> DecodeImage(ByteView file, std::size_t channels, const std::string& where) {
  COVEY_CHECK(channels == 1 || channels == 3, channels);
  if (StartsWith(file, "\x89PNG")) return DecodePng(file, channels, where);
  if (StartsWith(file, "\xff\xd8\xff")) return DecodeJpeg(file, channels, where);
  if (StartsWith(file, "P5") || StartsWith(file, "P6")) return DecodePnm(file, channels, where);
  return BadImage(where, "is no image that is known");
}

Pixels Resized(const Pixels& from, std::size_t height, std::size_t width) {
  Pixels to{height, width, from.channels, {}};
  to.bytes.resize(height * width * from.channels);
  const double down = static_cast<double>(from.height) / static_cast<double>(height);
  const double across = static_cast<double>(from.width) / static_cast<double>(width);
  for (std::size_t y = 0; y < height; ++y) {
    const double top = static_cast<double>(y) * down;
    const double bottom = std::min(top + down, static_cast<double>(from.height));
    for (std::size_t x = 0; x < width; ++x) {
      const double left = static_cast<double>(x) * across;
      const double right = std::min(left + across, static_cast<double>(from.width));
      double sums[3] = {};
      double area = 0;
      for (auto v = static_cast<std::size_t>(top); static_cast<double>(v) < bottom; ++v) {
        const double part_y =
            std::min(bottom, static_cast<double>(v + 1)) - std::max(top, static_cast<double>(v));
        for (auto u = static_cast<std::size_t>(left); static_cast<double>(u) < right; ++u) {
          const double part = part_y * (std::min(right, static_cast<double>(u + 1)) -
                                        std::max(left, static_cast<double>(u)));
          area += part;
          const std::size_t at = (v * from.width + u) * from.channels;
          for (std::size_t c = 0; c < from.channels; ++c) sums[c] += part * from.bytes[at + c];
        }
      }
      for (std::size_t c = 0; c < from.channels; ++c) {
        to.bytes[(y * width + x) * from.channels + c] =
            static_cast<std::uint8_t>(std::min(255.0, sums[c] / area + 0.5));
      }
    }
  }
  return to;
}

}  // namespace covey::data
