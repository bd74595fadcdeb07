#include "covey/base/ids.h"

#include "covey/base/bytes.h"

namespace covey {
namespace {

std::string ToHex(const std::array<std::uint8_t, 32>& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(64);
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string PeerKey::Hex() const { return ToHex(bytes); }

std::string PeerKey::Short() const { return Hex().substr(0, 8); }

Result<PeerKey> PeerKey::FromHex(std::string_view text) {
  PeerKey key;
  bool valid = text.size() == 64;
  for (std::size_t i = 0; valid && i < 32; ++i) {
    const int high = HexDigit(text[2 * i]);
    const int low = HexDigit(text[2 * i + 1]);
    valid = high >= 0 && low >= 0;
    key.bytes[i] = static_cast<std::uint8_t>((high << 4) | low);
  }
  if (!valid) {
    return Fail(ErrorCode::kConfig, {}, "'" + std::string(text.substr(0, 80)) + "' is not a key",
                "a key is 64 hex digits, as coveyd prints it at its start");
  }
  return key;
}

std::uint64_t Digest::Prefix() const {
  return LoadLittle<std::uint64_t>(reinterpret_cast<const std::byte*>(bytes.data()));
}

std::string Digest::Hex() const { return ToHex(bytes); }

}  // namespace covey
