#include "covey/data/text.h"

#include <cstdint>
#include <map>
#include <utility>

#include "covey/base/check.h"
#include "data/text_symbols.h"

namespace covey::data {
namespace {

// One code point. bytes: how many it took; 0: not UTF-8.
struct Decoded {
  char32_t character = 0;
  std::size_t bytes = 0;
};

// Source: Unicode 15.0, table 3-7 (well-formed byte sequences).
Decoded Decode(std::string_view rest) {
  const auto byte = [rest](std::size_t i) { return static_cast<std::uint8_t>(rest[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {.character = lead, .bytes = 1};
  std::size_t bytes = 0;
  char32_t least = 0;
  char32_t value = 0;
  if (lead >= 0xc2 && lead < 0xe0) {
    bytes = 2;
    least = 0x80;
    value = lead & 0x1fu;
  } else if (lead >= 0xe0 && lead < 0xf0) {
    bytes = 3;
    least = 0x800;
    value = lead & 0x0fu;
  } else if (lead >= 0xf0 && lead < 0xf5) {
    bytes = 4;
    least = 0x10000;
    value = lead & 0x07u;
  }
  if (bytes == 0 || rest.size() < bytes) return {};
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0u) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3fu);
  }
  const bool surrogate = value >= 0xd800 && value < 0xe000;
  if (value < least || value > 0x10ffff || surrogate) return {};
  return {.character = value, .bytes = bytes};
}

}  // namespace

tl::unexpected<Error> TooShort(std::size_t characters, std::size_t window,
                               const std::string& where) {
  return Fail(ErrorCode::kData, where, "got " + std::to_string(characters) + " characters",
              "wanted more than the window's " + std::to_string(window));
}

Result<TextSymbols> SymbolsOf(std::string_view text, const LabelNames& alphabet,
                              const std::string& where) {
  TextSymbols found;
  std::map<char32_t, std::uint8_t> ranks;
  for (const std::string& name : alphabet) {
    const Decoded decoded = name.empty() ? Decoded() : Decode(name);
    if (decoded.bytes == 0 || decoded.bytes != name.size() || alphabet.size() > kMaxSymbols) {
      return Fail(ErrorCode::kData, where, "'" + name + "' in data.labels is not one character",
                  "list the alphabet of the fleet, at most 256 characters");
    }
    ranks.emplace(decoded.character, static_cast<std::uint8_t>(found.alphabet.size()));
    found.alphabet.push_back(decoded.character);
    found.names.push_back(name);
  }
  for (std::size_t at = 0; at < text.size();) {
    const Decoded decoded = Decode(text.substr(at));
    if (decoded.bytes == 0) {
      return Fail(ErrorCode::kData, where + ":byte " + std::to_string(at), "not UTF-8",
                  "convert the text, for example with iconv");
    }
    const std::string name(text.substr(at, decoded.bytes));
    at += decoded.bytes;
    const auto known = ranks.find(decoded.character);
    if (known != ranks.end()) {
      found.symbols.push_back(known->second);
      continue;
    }
    if (!alphabet.empty()) {
      return Fail(ErrorCode::kData, where + ":byte " + std::to_string(at - decoded.bytes),
                  "'" + name + "' is not in the alphabet", "add it to data.labels, on every node");
    }
    if (found.alphabet.size() == kMaxSymbols) {
      return Fail(ErrorCode::kData, where,
                  "got more than " + std::to_string(kMaxSymbols) + " different characters",
                  "a symbol is one byte; take rare characters out");
    }
    const auto rank = static_cast<std::uint8_t>(found.alphabet.size());
    ranks.emplace(decoded.character, rank);
    found.alphabet.push_back(decoded.character);
    found.names.push_back(name);
    found.symbols.push_back(rank);
  }
  return found;
}

Result<TextData> WindowsOfText(std::string_view text, const TextWindows& windows,
                               const std::string& where) {
  COVEY_CHECK(windows.length > 0 && windows.step > 0, windows.length, windows.step);
  Result<TextSymbols> found = SymbolsOf(text, {}, where);
  if (!found) return tl::unexpected<Error>(found.error());
  const std::vector<std::uint8_t>& symbols = found->symbols;
  if (symbols.size() <= windows.length) return TooShort(symbols.size(), windows.length, where);
  Dataset::Memory memory{.shape = {windows.length},
                         .rows = {},
                         .labels = {},
                         .classes = static_cast<std::uint32_t>(found->alphabet.size()),
                         .normalize = Normalize::kNone};
  for (std::size_t at = 0; at + windows.length < symbols.size(); at += windows.step) {
    const auto first = symbols.begin() + static_cast<std::ptrdiff_t>(at);
    const auto behind = first + static_cast<std::ptrdiff_t>(windows.length);
    memory.rows.insert(memory.rows.end(), first, behind);
    memory.labels.push_back(*behind);
  }
  return TextData{.windows = Dataset::FromMemory(std::move(memory)),
                  .symbols = std::move(found->alphabet)};
}

}  // namespace covey::data
