// A JSON object, field by field: what the benchmarks print with --json. The library that the
// product uses can do more, and compiling it takes longer than compiling a benchmark.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace covey::bench {

class JsonObject {
 public:
  // A number that is not finite becomes null.
  JsonObject& Add(const char* name, double value) {
    char text[32] = "null";
    if (std::isfinite(value)) std::snprintf(text, sizeof text, "%.17g", value);
    return Field(name, text);
  }
  JsonObject& Add(const char* name, std::size_t value) {
    return Field(name, std::to_string(value));
  }
  JsonObject& Add(const char* name, std::string_view value) { return Field(name, Quoted(value)); }

  std::string Text() const { return '{' + fields_ + '}'; }

 private:
  JsonObject& Field(const char* name, const std::string& value) {
    if (!fields_.empty()) fields_ += ", ";
    fields_ += Quoted(name) + ": " + value;
    return *this;
  }

  static std::string Quoted(std::string_view value) {
    std::string text = "\"";
    for (const char c : value) {
      if (c == '"' || c == '\\') text += '\\';
      text += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return text + '"';
  }

  std::string fields_;
};

}  // namespace covey::bench
