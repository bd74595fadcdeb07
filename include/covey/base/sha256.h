// SHA-256 (FIPS 180-4), streaming. Own code because portable modules have no library to call.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "covey/base/bytes.h"
#include "covey/base/ids.h"

namespace covey {

class Sha256 {
 public:
  Sha256();
  void Update(ByteView bytes);
  void Update(std::string_view text);
  Digest Finish();  // ends the stream; the object may not be used afterwards

  static Digest Of(std::string_view text);
  static Digest Of(ByteView bytes);

 private:
  void Block(const std::byte* block);

  std::array<std::uint32_t, 8> state_;
  std::array<std::byte, 64> buffer_{};
  std::uint64_t length_ = 0;  // bytes so far
};

}  // namespace covey
