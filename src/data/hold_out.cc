#include <algorithm>
#include <cmath>
#include <charconv>

#include "covey/data/partition.h"

namespace covey::data {
namespace {

tl::unexpected<Error> BadKeys(const std::string& text) {
  return Fail(ErrorCode::kConfig, "hold_out.keys", "got '" + text + "'",
              "wanted numbers and ranges from 0 to " + std::to_string(kMaxKeys - 1) +
                  ", such as '0-9, 12'");
}

}  // namespace

Result<std::vector<std::uint32_t>> ParseKeys(const std::string& text) {
  std::vector<std::uint32_t> keys;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto blanks = [&] {
    while (at < end && *at == ' ') ++at;
  };
  const auto number = [&](std::uint32_t& value) {
    const std::from_chars_result got = std::from_chars(at, end, value);
    at = got.ptr;
    blanks();
    return got.ec == std::errc() && value < kMaxKeys;
  };
  for (blanks(); at < end; blanks()) {
    std::uint32_t first = 0;
    if (!number(first)) return BadKeys(text);
    std::uint32_t last = first;
    if (at < end && *at == '-') {
      ++at;
      blanks();
      if (!number(last) || last < first) return BadKeys(text);
    }
    for (std::uint32_t key = first; key <= last; ++key) keys.push_back(key);
    if (at == end) break;
    if (*at++ != ',') return BadKeys(text);
    blanks();
    if (at == end) return BadKeys(text);
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

std::uint32_t KeyBeside(const std::vector<std::uint32_t>& keys, std::uint32_t index) {
  for (const std::uint32_t key : keys) {
    if (key <= index) ++index;
  }
  return index;
}

Result<Held> Hold(std::size_t samples, const HoldOut& hold_out,
                  std::span<const std::uint32_t> keys) {
  const Result<std::vector<std::uint32_t>> out = ParseKeys(hold_out.keys);
  if (!out) return tl::unexpected<Error>(out.error());
  if (!out->empty() && keys.size() < samples) {
    return Fail(ErrorCode::kData, "hold_out.keys",
                std::to_string(keys.size()) + " keys, wanted one for each of " +
                    std::to_string(samples) + " samples",
                "name an IDX file in data.partition.key_file, or a column in data.csv.key");
  }
  Held held;
  for (std::uint32_t i = 0; i < samples; ++i) {
    const bool test = !out->empty() && std::binary_search(out->begin(), out->end(), keys[i]);
    (test ? held.test : held.rest).push_back(i);
  }
  const std::size_t last = std::min<std::size_t>(hold_out.last, held.rest.size());
  held.test.insert(held.test.end(), held.rest.end() - static_cast<std::ptrdiff_t>(last),
                   held.rest.end());
  held.rest.resize(held.rest.size() - last);
  if (!hold_out.any() || (!held.rest.empty() && !held.test.empty())) return held;
  return Fail(
      ErrorCode::kData, "hold_out",
      std::to_string(held.test.size()) + " of " + std::to_string(samples) + " samples are held out",
      "wanted some, and some that are left to train on");
}

bool IsSetAside(std::span<const std::uint8_t> sample, double share) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const std::uint8_t byte : sample) hash = (hash ^ byte) * 0x100000001B3u;
  hash = (hash ^ (hash >> 33)) * 0xFF51AFD7ED558CCDu;
  hash = (hash ^ (hash >> 33)) * 0xC4CEB9FE1A85EC53u;
  hash ^= hash >> 33;
  return std::ldexp(static_cast<double>(hash), -64) < share;
}

}  // namespace covey::data
