// Bindings of values that carry a unit or have a syntax of their own.
#include <array>
#include <charconv>
#include <utility>

#include "config/bindings.h"
#include "config/source.h"

namespace covey::config {
namespace {

bool IsBareNumber(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
}

Refusal FromError(const Error& error) { return {error.what, error.hint}; }

}  // namespace

Binding Time(Duration& value, Duration low, Duration high) {
  Binding binding;
  binding.type = "duration";
  binding.range = FormatDuration(low) + " to " + FormatDuration(high);
  binding.read = [&value, low, high,
                  range = binding.range](const std::string& text) -> std::optional<Refusal> {
    if (IsBareNumber(text)) {
      return Refusal{Quoted(text) + " has no unit",
                     "write " + Shown(text) + "s or " + Shown(text) + "ms (ns, us, ms, s, min, h)"};
    }
    const Result<Duration> duration = ParseDuration(text);
    if (!duration) return Refusal{Quoted(text) + " is not a duration", duration.error().hint};
    if (*duration < low || *duration > high) {
      return Refusal{Quoted(text) + " is out of range", "want " + range};
    }
    value = *duration;
    return std::nullopt;
  };
  binding.write = [&value] { return FormatDuration(value); };
  return binding;
}

Binding Size(ByteCount& value, ByteCount low, ByteCount high) {
  Binding binding;
  binding.type = "size";
  binding.range = FormatByteCount(low) + " to " + FormatByteCount(high);
  binding.read = [&value, low, high,
                  range = binding.range](const std::string& text) -> std::optional<Refusal> {
    if (IsBareNumber(text)) {
      return Refusal{Quoted(text) + " has no unit",
                     "write a unit behind it: B, kB, KiB, MB, MiB, GB, GiB"};
    }
    const Result<ByteCount> size = ParseByteCount(text);
    if (!size) return Refusal{Quoted(text) + " is not a size", size.error().hint};
    if (*size < low || *size > high) {
      return Refusal{Quoted(text) + " is out of range", "want " + range};
    }
    value = *size;
    return std::nullopt;
  };
  binding.write = [&value] { return FormatByteCount(value); };
  return binding;
}

Binding OptionalSize(std::optional<ByteCount>& value, ByteCount low, ByteCount high) {
  Binding binding;
  binding.type = "size or none";
  binding.range = FormatByteCount(low) + " to " + FormatByteCount(high);
  binding.read = [&value, low, high](const std::string& text) -> std::optional<Refusal> {
    if (text == "none") {
      value.reset();
      return std::nullopt;
    }
    ByteCount size{};
    std::optional<Refusal> refusal = Size(size, low, high).read(text);
    if (!refusal) value = size;
    if (refusal) refusal->note += ", or none";
    return refusal;
  };
  binding.write = [&value] { return value ? FormatByteCount(*value) : std::string("none"); };
  return binding;
}

Binding PublicKey(PeerKey& value) {
  Binding binding;
  binding.type = "public key";
  binding.range = "64 hex digits";
  binding.text = true;  // a key of digits alone may stand in quotes
  binding.read = [&value](const std::string& text) -> std::optional<Refusal> {
    const Result<PeerKey> key = PeerKey::FromHex(text);
    if (!key) {
      return Refusal{Quoted(text) + " is not a public key",
                     "want 64 hex digits, as a node prints them when it starts"};
    }
    value = *key;
    return std::nullopt;
  };
  binding.write = [&value] { return value.Hex(); };
  return binding;
}

namespace {

// Makes of the binding of a T one that also takes "none", which unsets `value`.
template <class T>
Binding OrNone(std::optional<T>& value, Binding (*binding_of)(T&),
               std::string (*text_of)(const T&)) {
  T some{};
  Binding binding = binding_of(some);
  binding.type += " or none";
  binding.read = [&value, binding_of](const std::string& text) -> std::optional<Refusal> {
    if (text == "none") {
      value.reset();
      return std::nullopt;
    }
    T read{};
    std::optional<Refusal> refusal = binding_of(read).read(text);
    if (!refusal) value = read;
    if (refusal) refusal->note += ", or none";
    return refusal;
  };
  binding.write = [&value, text_of] { return value ? text_of(*value) : std::string("none"); };
  return binding;
}

}  // namespace

Binding OptionalPublicKey(std::optional<PeerKey>& value) {
  return OrNone<PeerKey>(value, PublicKey, [](const PeerKey& key) { return key.Hex(); });
}

Binding OptionalListenAddress(std::optional<HostPort>& value) {
  return OrNone<HostPort>(value, ListenAddress,
                          [](const HostPort& address) { return address.Text(); });
}

Binding ListenAddress(HostPort& value) {
  Binding binding;
  binding.type = "HOST:PORT";
  binding.text = true;
  binding.read = [&value](const std::string& text) -> std::optional<Refusal> {
    Result<HostPort> address = ParseHostPort(text);
    if (!address) return FromError(address.error());
    value = *std::move(address);
    return std::nullopt;
  };
  binding.write = [&value] { return value.Text(); };
  return binding;
}

Binding DialAddress(HostPort& value) {
  Binding binding = ListenAddress(value);
  binding.read = [&value](const std::string& text) -> std::optional<Refusal> {
    Result<HostPort> address = ParseHostPort(text);
    if (!address) return FromError(address.error());
    if (address->port == 0) {
      return Refusal{Quoted(text) + " has port 0, which nobody can dial",
                     "write the port that the peer listens on, e.g. 7420"};
    }
    value = *std::move(address);
    return std::nullopt;
  };
  return binding;
}

Binding AdvertisedAddress(Advertise& value) {
  Binding binding = DialAddress(value.address);
  binding.type = "HOST:PORT, auto or none";
  binding.read = [&value, dial = binding.read](const std::string& text) -> std::optional<Refusal> {
    value = Advertise{};
    if (text == "auto") return std::nullopt;
    value.kind = text == "none" ? Advertise::Kind::kNone : Advertise::Kind::kAddress;
    return value.kind == Advertise::Kind::kNone ? std::nullopt : dial(text);
  };
  binding.write = [&value]() -> std::string {
    if (value.kind == Advertise::Kind::kAddress) return value.address.Text();
    return value.kind == Advertise::Kind::kNone ? "none" : "auto";
  };
  return binding;
}

Binding SettleLength(Settle& value) {
  Binding binding;
  binding.type = "fraction or rounds";
  binding.range = "0 to 100% of the training rounds, or e.g. '120 rounds'";
  binding.read = [&value](const std::string& text) -> std::optional<Refusal> {
    const Refusal refusal{Quoted(text) + " is not a length of the tail",
                          "write a fraction of the training rounds, e.g. 3%, or e.g. '120 rounds'"};
    for (const std::string_view unit : {" rounds", " round"}) {
      if (!text.ends_with(unit)) continue;
      const std::string number = text.substr(0, text.size() - unit.size());
      const auto rounds = ReadInteger(number, 0, 1'000'000'000);
      if (!rounds) return refusal;
      value = Settle{.fraction = 0, .rounds = static_cast<std::uint32_t>(*rounds)};
      return std::nullopt;
    }
    double fraction = 0;
    if (Fraction(fraction).read(text)) return refusal;
    value = Settle{.fraction = fraction, .rounds = std::nullopt};
    return std::nullopt;
  };
  binding.write = [&value] {
    if (value.rounds) return std::to_string(*value.rounds) + " rounds";
    return Fraction(value.fraction).write();
  };
  return binding;
}

Binding LingerTime(Linger& value) {
  Binding binding;
  binding.type = "duration, forever or none";
  binding.read = [&value](const std::string& text) -> std::optional<Refusal> {
    if (text == "forever" || text == "none") {
      value = Linger{.forever = text == "forever", .time = Duration::zero()};
      return std::nullopt;
    }
    Duration time{};
    std::optional<Refusal> refusal =
        Time(time, Duration::zero(), std::chrono::hours(24 * 365)).read(text);
    if (refusal) {
      refusal->note += "; or forever or none";
      return refusal;
    }
    value = Linger{.forever = false, .time = time};
    return std::nullopt;
  };
  binding.write = [&value]() -> std::string {
    if (value.forever) return "forever";
    return value.time == Duration::zero() ? "none" : FormatDuration(value.time);
  };
  return binding;
}

}  // namespace covey::config
