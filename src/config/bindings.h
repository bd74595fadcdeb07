// Bindings of the scalar types: how each is written in a file, and what is refused.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/visitor.h"

namespace covey::config {

// An integer, decimal only: 010 and 0x10 are refused, because YAML's readers disagree about them.
Refusal NotAnInteger(const std::string& text, std::uint64_t low, std::uint64_t high);
std::optional<std::uint64_t> ReadInteger(const std::string& text, std::uint64_t low,
                                         std::uint64_t high);
std::string IntegerRange(std::uint64_t low, std::uint64_t high);

template <class T>
Binding Integer(T& value, std::uint64_t low = 0,
                std::uint64_t high = std::numeric_limits<T>::max()) {
  Binding binding;
  binding.type = "integer";
  binding.range = IntegerRange(low, high);
  binding.read = [&value, low, high](const std::string& text) -> std::optional<Refusal> {
    const std::optional<std::uint64_t> number = ReadInteger(text, low, high);
    if (!number) return NotAnInteger(text, low, high);
    value = static_cast<T>(*number);
    return std::nullopt;
  };
  binding.write = [&value] { return std::to_string(value); };
  return binding;
}

Binding OptionalInteger(std::optional<std::uint32_t>& value);
// Makes of a binding of `value` to an integer of at least 1 one that also takes `word`: 0.
Binding OrWord(Binding integer, std::string word, std::function<void()> to_zero);

// An integer of at least 1, or a word: 0.
template <class T>
Binding IntegerOr(std::string word, T& value, std::uint64_t high) {
  return OrWord(Integer(value, 1, high), std::move(word), [&value] { value = 0; });
}

// A range of reals. `above`: the lower end does not belong to it.
struct Interval {
  double low = 0;
  double high = 1;
  bool above = false;
};

Binding Real(double& value, Interval interval);
Binding Real(float& value, Interval interval);
Binding OptionalReal(std::optional<double>& value, Interval interval);
// 0 to 1, also written in per cent: 25%.
Binding Fraction(double& value);
Binding Share(double& value);  // a fraction above 0
Binding OptionalFraction(std::optional<double>& value);
// An integer or `auto` (unset).
Binding AutoInteger(std::optional<std::uint32_t>& value, std::uint64_t low, std::uint64_t high);
// A number or `auto` (unset).
Binding AutoReal(std::optional<float>& value, Interval interval);

Binding Boolean(bool& value);
Binding Text(std::string& value, std::size_t longest);
ListBinding Texts(std::vector<std::string>& values, std::size_t longest);
Binding Path(std::string& value);
// Letters, digits, '.', '_' and '-': fit for a file name.
Binding Name(std::string& value);
Binding Time(Duration& value, Duration low, Duration high);
Binding Size(ByteCount& value, ByteCount low, ByteCount high);
// A size, or "none".
Binding OptionalSize(std::optional<ByteCount>& value, ByteCount low, ByteCount high);
Binding PublicKey(PeerKey& value);
Binding OptionalPublicKey(std::optional<PeerKey>& value);       // or none
Binding ListenAddress(HostPort& value);                         // port 0 allowed
Binding OptionalListenAddress(std::optional<HostPort>& value);  // or none
Binding DialAddress(HostPort& value);
Binding AdvertisedAddress(Advertise& value);  // or auto, none
Binding SettleLength(Settle& value);
Binding LingerTime(Linger& value);

// One of several words. `words`: every value of the enum with its word.
template <class E>
Binding Word(E& value, std::vector<std::pair<E, std::string_view>> words);

Refusal NotAWord(const std::string& text, const std::vector<std::string>& words);

template <class E>
Binding Word(E& value, std::vector<std::pair<E, std::string_view>> words) {
  Binding binding;
  for (const auto& [unused, word] : words) binding.words.emplace_back(word);
  binding.type = "word";
  binding.read = [&value, words,
                  known = binding.words](const std::string& text) -> std::optional<Refusal> {
    for (const auto& entry : words) {
      if (entry.second != text) continue;
      value = entry.first;
      return std::nullopt;
    }
    return NotAWord(text, known);
  };
  binding.write = [&value, words] {
    for (const auto& entry : words) {
      if (entry.first == value) return std::string(entry.second);
    }
    return std::string();
  };
  return binding;
}

}  // namespace covey::config
