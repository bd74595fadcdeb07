// Makes any bytes safe inside one line of text or one JSON string.
#pragma once

#include <string>
#include <string_view>

namespace covey::log {

// Control characters become \n, \t or \xNN; bytes that are not UTF-8 become \xNN.
std::string EscapeText(std::string_view text);

// A value behind "name=": as EscapeText, in quotes when it is empty or has blanks, quotes or '='.
std::string EscapeValue(std::string_view text);

// The inside of a JSON string (RFC 8259, section 7); bytes that are not UTF-8 become U+FFFD.
std::string EscapeJson(std::string_view text);

}  // namespace covey::log
