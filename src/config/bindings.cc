#include "config/bindings.h"

#include <array>
#include <charconv>
#include <cmath>

#include "config/source.h"
#include "covey/config/suggest.h"

namespace covey::config {
namespace {

bool AllDigits(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return true;
}

// Whether YAML 1.1 takes the text for an octal number: 010.
bool LooksOctal(const std::string& text) {
  return text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

std::string WithoutZeros(const std::string& text) {
  const std::size_t first = text.find_first_not_of('0');
  if (first == std::string::npos) return "0";
  return text[first] == '.' ? "0" + text.substr(first) : text.substr(first);
}

template <class T>
std::string ShortestReal(T value) {
  std::array<char, 32> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), result.ptr);
}

// The end of a range, without an exponent.
std::string End(double value) {
  std::array<char, 64> buffer;
  const auto result =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  return std::string(buffer.data(), result.ptr);
}

std::string IntervalText(Interval interval) {
  const bool open = interval.high == std::numeric_limits<double>::infinity();
  if (interval.above) {
    return "above " + End(interval.low) + (open ? "" : ", at most " + End(interval.high));
  }
  return open ? "at least " + End(interval.low) : End(interval.low) + " to " + End(interval.high);
}

template <class T>
std::optional<Refusal> ReadReal(const std::string& text, Interval interval, T& value) {
  if (LooksOctal(text)) {
    return Refusal{Quoted(text) + " starts with 0 and could be read as octal",
                   "write " + WithoutZeros(text)};
  }
  T number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = end == text.data() + text.size() && !text.empty();
  if (text == ".nan" || text == ".NaN" || text == ".NAN" || text.ends_with(".inf") ||
      text.ends_with(".Inf") || text.ends_with(".INF") ||
      (whole && failure == std::errc{} && !std::isfinite(number))) {
    return Refusal{Quoted(text) + " is not a finite number",
                   "want a number, " + IntervalText(interval)};
  }
  if (!whole || failure == std::errc::invalid_argument) {
    return Refusal{Quoted(text) + " is not a number", "want a number, " + IntervalText(interval)};
  }
  const double exact = static_cast<double>(number);
  const bool low_enough = exact <= interval.high;
  const bool high_enough = interval.above ? exact > interval.low : exact >= interval.low;
  if (failure != std::errc{} || !low_enough || !high_enough) {
    return Refusal{Quoted(text) + " is out of range", "want a number, " + IntervalText(interval)};
  }
  value = number;
  return std::nullopt;
}

std::optional<Refusal> ReadFraction(const std::string& text, double& value) {
  if (!text.ends_with('%')) {
    double number = 0;
    const Interval interval{.low = 0, .high = 1};
    std::optional<Refusal> refusal = ReadReal(text, interval, number);
    if (!refusal) {
      value = number;
    } else if (AllDigits(text)) {
      refusal->note = "want a fraction, 0 to 1, or per cent, e.g. " +
                      (LooksOctal(text) ? WithoutZeros(text) : Shown(text)) + "%";
    } else {
      refusal->note = "want a fraction, 0 to 1, or per cent, e.g. 25%";
    }
    return refusal;
  }
  std::string number_text = text.substr(0, text.size() - 1);
  while (number_text.ends_with(' ')) number_text.pop_back();
  double percent = 0;
  if (const auto refusal = ReadReal(number_text, {.low = 0, .high = 100}, percent)) {
    return Refusal{Quoted(text) + " is not a fraction", "want 0% to 100%"};
  }
  value = percent / 100;
  return std::nullopt;
}

// Returns: "3%" when that reads back as the same value, else the number itself.
std::string FractionText(double value) {
  const double percent = std::round(value * 100 * 1e6) / 1e6;
  return percent / 100 == value ? ShortestReal(percent) + "%" : ShortestReal(value);
}

bool HasControlCharacter(const std::string& text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return true;
  }
  return false;
}

template <class T, class Read>
auto IntoOptional(std::optional<T>& value, Read read) {
  return [&value, read](const std::string& text) -> std::optional<Refusal> {
    T number{};
    std::optional<Refusal> refusal = read(text, number);
    if (!refusal) value = number;
    return refusal;
  };
}

}  // namespace

std::string IntegerRange(std::uint64_t low, std::uint64_t high) {
  if (high >= std::numeric_limits<std::uint32_t>::max()) {
    return low == 0 ? "" : "at least " + std::to_string(low);
  }
  return std::to_string(low) + " to " + std::to_string(high);
}

std::optional<std::uint64_t> ReadInteger(const std::string& text, std::uint64_t low,
                                         std::uint64_t high) {
  if (!AllDigits(text) || LooksOctal(text)) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || number < low || number > high) return std::nullopt;
  return number;
}

Refusal NotAnInteger(const std::string& text, std::uint64_t low, std::uint64_t high) {
  const std::string range = low == 0 && high == std::numeric_limits<std::uint64_t>::max()
                                ? "0 or more"
                                : std::to_string(low) + " to " + std::to_string(high);
  const std::string want = "want an integer, " + range;
  if (LooksOctal(text)) {
    return {Quoted(text) + " starts with 0 and could be read as octal",
            AllDigits(text) ? "write " + WithoutZeros(text) : want};
  }
  const bool negative = text.size() > 1 && text[0] == '-' && AllDigits(text.substr(1));
  if (AllDigits(text) || negative) return {Quoted(text) + " is out of range", want};
  return {Quoted(text) + " is not an integer", want};
}

Refusal NotAWord(const std::string& text, const std::vector<std::string>& words) {
  const std::string near = Nearest(text, words);
  return {Quoted(text) + " is not one of " + Joined(words),
          near.empty() ? "" : "did you mean '" + near + "'?"};
}

Binding OptionalInteger(std::optional<std::uint32_t>& value) {
  Binding binding;
  binding.type = "integer";
  binding.read = [&value](const std::string& text) -> std::optional<Refusal> {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
    const std::optional<std::uint64_t> number = ReadInteger(text, 0, kMost);
    if (!number) return NotAnInteger(text, 0, kMost);
    value = static_cast<std::uint32_t>(*number);
    return std::nullopt;
  };
  binding.write = [&value] { return value ? std::to_string(*value) : std::string(); };
  return binding;
}

Binding OrWord(Binding integer, std::string word, std::function<void()> to_zero) {
  Binding binding = integer;
  binding.type = "integer or " + word;
  binding.read = [read = integer.read, word,
                  to_zero](const std::string& text) -> std::optional<Refusal> {
    if (text == word) {
      to_zero();
      return std::nullopt;
    }
    std::optional<Refusal> refusal = read(text);
    if (refusal) refusal->note += (refusal->note.empty() ? "or " : ", or ") + word;
    return refusal;
  };
  binding.write = [write = integer.write, word] {
    const std::string text = write();
    return text == "0" ? word : text;
  };
  return binding;
}

namespace {

template <class T>
Binding RealOf(T& value, Interval interval) {
  Binding binding;
  binding.type = "number";
  binding.range = IntervalText(interval);
  binding.read = [&value, interval](const std::string& text) {
    return ReadReal(text, interval, value);
  };
  binding.write = [&value] { return ShortestReal(value); };
  return binding;
}

}  // namespace

Binding Real(double& value, Interval interval) { return RealOf(value, interval); }
Binding Real(float& value, Interval interval) { return RealOf(value, interval); }

Binding OptionalReal(std::optional<double>& value, Interval interval) {
  Binding binding;
  binding.type = "number";
  binding.range = IntervalText(interval);
  binding.read = IntoOptional(value, [interval](const std::string& text, double& number) {
    return ReadReal(text, interval, number);
  });
  binding.write = [&value] { return value ? ShortestReal(*value) : std::string(); };
  return binding;
}

Binding Fraction(double& value) {
  Binding binding;
  binding.type = "fraction";
  binding.range = "0 to 1, or per cent";
  binding.read = [&value](const std::string& text) { return ReadFraction(text, value); };
  binding.write = [&value] { return value == 0 ? "0" : FractionText(value); };
  return binding;
}

Binding Share(double& value) {
  Binding binding = Fraction(value);
  binding.range = "above 0 to 1, or per cent";
  binding.read = [&value](const std::string& text) -> std::optional<Refusal> {
    double share = 0;
    std::optional<Refusal> refusal = ReadFraction(text, share);
    if (!refusal && share == 0) {
      return Refusal{Quoted(text) + " is out of range", "want a share above 0, such as 10%"};
    }
    if (!refusal) value = share;
    return refusal;
  };
  return binding;
}

Binding OptionalFraction(std::optional<double>& value) {
  Binding binding;
  binding.type = "fraction";
  binding.range = "0 to 1, or per cent";
  binding.read = IntoOptional(value, ReadFraction);
  binding.write = [&value] { return value ? ShortestReal(*value) : std::string(); };
  return binding;
}

Binding AutoInteger(std::optional<std::uint32_t>& value, std::uint64_t low, std::uint64_t high) {
  Binding binding;
  binding.type = "integer or auto";
  binding.range = IntegerRange(low, high);
  binding.read = [&value, low, high](const std::string& text) -> std::optional<Refusal> {
    if (text == "auto") {
      value.reset();
      return std::nullopt;
    }
    const std::optional<std::uint64_t> number = ReadInteger(text, low, high);
    if (number) {
      value = static_cast<std::uint32_t>(*number);
      return std::nullopt;
    }
    Refusal refusal = NotAnInteger(text, low, high);
    refusal.note += refusal.note.empty() ? "or auto" : ", or auto";
    return refusal;
  };
  binding.write = [&value] { return value ? std::to_string(*value) : std::string("auto"); };
  return binding;
}

Binding AutoReal(std::optional<float>& value, Interval interval) {
  Binding binding;
  binding.type = "number or auto";
  binding.range = IntervalText(interval);
  binding.read = [&value, interval](const std::string& text) -> std::optional<Refusal> {
    if (text == "auto") {
      value.reset();
      return std::nullopt;
    }
    float number = 0;
    std::optional<Refusal> refusal = ReadReal(text, interval, number);
    if (!refusal) value = number;
    if (refusal) refusal->note += ", or auto";
    return refusal;
  };
  binding.write = [&value] { return value ? ShortestReal(*value) : std::string("auto"); };
  return binding;
}

Binding Boolean(bool& value) {
  Binding binding;
  binding.type = "true or false";
  binding.read = [&value](const std::string& text) -> std::optional<Refusal> {
    if (text != "true" && text != "false") {
      return Refusal{Quoted(text) + " is neither true nor false", "write true or false"};
    }
    value = text == "true";
    return std::nullopt;
  };
  binding.write = [&value] { return value ? "true" : "false"; };
  return binding;
}

Binding Text(std::string& value, std::size_t longest) {
  Binding binding;
  binding.type = "text";
  binding.text = true;
  binding.read = [&value, longest](const std::string& text) -> std::optional<Refusal> {
    if (text.size() > longest) {
      return Refusal{"longer than " + std::to_string(longest) + " bytes", ""};
    }
    if (HasControlCharacter(text)) return Refusal{"control characters are not accepted", ""};
    value = text;
    return std::nullopt;
  };
  binding.write = [&value] { return value; };
  return binding;
}

ListBinding Texts(std::vector<std::string>& texts, std::size_t longest) {
  return {.size = [&texts] { return texts.size(); },
          .resize = [&texts](std::size_t size) { texts.resize(size); },
          .at = [&texts, longest](std::size_t i) { return Text(texts[i], longest); }};
}

Binding Path(std::string& value) {
  Binding binding = Text(value, 4096);
  binding.type = "path";
  return binding;
}

Binding Name(std::string& value) {
  Binding binding = Text(value, 64);
  binding.type = "name";
  binding.range = "letters, digits, '.', '_', '-'";
  binding.read = [&value](const std::string& text) -> std::optional<Refusal> {
    bool good = !text.empty() && text.size() <= 64 && text[0] != '.' && text[0] != '-';
    for (const char c : text) {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      good = good && (letter || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-');
    }
    if (!good) {
      return Refusal{Quoted(text) + " is not a name",
                     "want 1 to 64 letters, digits, '.', '_' or '-', a letter or digit first"};
    }
    value = text;
    return std::nullopt;
  };
  return binding;
}

}  // namespace covey::config
