// COVEY_CHECK: programmer errors end the process in every build and print the values involved.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

namespace covey::internal {

template <class T>
std::string CheckText(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return std::string(std::string_view(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<long long>(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(value);
  } else {
    return "?";
  }
}

template <class... Ts>
std::string CheckValues(const Ts&... values) {
  std::string text;
  ((text += (text.empty() ? "" : ", ") + CheckText(values)), ...);
  return text;
}

// Prints "file:line: check failed: condition (names = values)" to stderr and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition, const char* names,
                              const std::string& values);

}  // namespace covey::internal

// COVEY_CHECK(condition, values...): values may be numbers, enums or strings.
#define COVEY_CHECK(condition, ...)                                                \
  do {                                                                             \
    if (!(condition)) [[unlikely]] {                                               \
      ::covey::internal::CheckFailed(__FILE__, __LINE__, #condition, #__VA_ARGS__, \
                                     ::covey::internal::CheckValues(__VA_ARGS__)); \
    }                                                                              \
  } while (false)
