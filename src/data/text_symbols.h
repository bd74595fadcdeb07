// A text as symbols: bytes that stand for its characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/result.h"
#include "covey/data/normalization.h"

namespace covey::data {

struct TextSymbols {
  std::vector<std::uint8_t> symbols;
  std::vector<char32_t> alphabet;  // code point of each symbol
  LabelNames names;                // the same in UTF-8
};

// alphabet: the characters, one a name, in the order of their symbols; empty: in the order of their
// first appearance.
// Errors: kData: not UTF-8 (names the byte), more than kMaxSymbols different characters, one that
// is not in the alphabet; a name that is not one character.
Result<TextSymbols> SymbolsOf(std::string_view text, const LabelNames& alphabet,
                              const std::string& where);

// "got 3 characters, wanted more than the window's 40".
tl::unexpected<Error> TooShort(std::size_t characters, std::size_t window,
                               const std::string& where);

}  // namespace covey::data
