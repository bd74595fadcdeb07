// A text as windows of symbols with the character that follows: what a character model learns from.
//
// Equation: sample i is the `length` characters from position i * step on, its label the character
// behind them. A character's symbol is its rank in the order of first appearance, so a text always
// gets the same symbols.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/result.h"
#include "covey/data/dataset.h"

namespace covey::data {

struct TextWindows {
  std::size_t length = 40;
  std::size_t step = 3;
};

struct TextData {
  Dataset windows;                // rows of symbols as bytes, never normalised; shape {length}
  std::vector<char32_t> symbols;  // the alphabet: code point of each symbol
};

inline constexpr std::size_t kMaxSymbols = 256;  // a symbol is a byte

// text: UTF-8. where: its name in errors.
// Requires: length > 0, step > 0.
// Errors: kData: not UTF-8 (names the byte), more than kMaxSymbols different characters, no window.
// Cost: length / step bytes of memory a character.
Result<TextData> WindowsOfText(std::string_view text, const TextWindows& windows,
                               const std::string& where);

}  // namespace covey::data
