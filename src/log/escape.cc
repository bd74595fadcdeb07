#include "log/escape.h"

#include <cstddef>

namespace covey::log {
namespace {

unsigned At(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

// Returns: the length of the UTF-8 sequence at `i`, 0 when there is none (Unicode 15, table 3-7).
std::size_t SequenceLength(std::string_view text, std::size_t i) {
  const unsigned first = At(text, i);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  unsigned low = 0x80;
  unsigned high = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  }
  if (length == 0 || i + length > text.size()) return 0;
  if (At(text, i + 1) < low || At(text, i + 1) > high) return 0;
  for (std::size_t k = 2; k < length; ++k) {
    if (At(text, i + k) < 0x80 || At(text, i + k) > 0xBF) return 0;
  }
  return length;
}

constexpr std::string_view kHex = "0123456789abcdef";

void AppendHex(std::string& out, std::string_view prefix, unsigned byte) {
  out += prefix;
  out += kHex[byte >> 4];
  out += kHex[byte & 15];
}

template <class Special>
std::string Escape(std::string_view text, const Special& special) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = SequenceLength(text, i);
    if (special(out, At(text, i), length != 0)) {
      ++i;
      continue;
    }
    out.append(text.substr(i, length));
    i += length;
  }
  return out;
}

bool TextSpecial(std::string& out, unsigned byte, bool valid) {
  if (valid && byte >= 0x20 && byte != 0x7F) return false;
  if (byte == '\n') {
    out += "\\n";
  } else if (byte == '\t') {
    out += "\\t";
  } else {
    AppendHex(out, "\\x", byte);
  }
  return true;
}

}  // namespace

std::string EscapeText(std::string_view text) { return Escape(text, TextSpecial); }

std::string EscapeValue(std::string_view text) {
  if (!text.empty() && text.find_first_of(" \"=\\") == std::string_view::npos) {
    return EscapeText(text);
  }
  return '"' +
         Escape(text,
                [](std::string& out, unsigned byte, bool valid) {
                  if (byte == '"' || byte == '\\') {
                    out += '\\';
                    out += static_cast<char>(byte);
                    return true;
                  }
                  return TextSpecial(out, byte, valid);
                }) +
         '"';
}

std::string EscapeJson(std::string_view text) {
  return Escape(text, [](std::string& out, unsigned byte, bool valid) {
    if (!valid) {
      out += "\xEF\xBF\xBD";
    } else if (byte == '"' || byte == '\\') {
      out += '\\';
      out += static_cast<char>(byte);
    } else if (byte == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7F) {
      AppendHex(out, "\\u00", byte);
    } else {
      return false;
    }
    return true;
  });
}

}  // namespace covey::log
