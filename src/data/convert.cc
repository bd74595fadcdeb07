#include "data/convert.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

namespace covey::data {
namespace {

using tensor::Element;

constexpr std::size_t kBuffered = std::size_t{64} << 10;

template <std::size_t kBytes>
using Unsigned = std::conditional_t<
    kBytes == 1, std::uint8_t,
    std::conditional_t<kBytes == 2, std::uint16_t,
                       std::conditional_t<kBytes == 4, std::uint32_t, std::uint64_t>>>;

enum class Order : bool { kBig, kLittle };

template <class From>
From Load(const std::byte* from, Order order) {
  using Bits = Unsigned<sizeof(From)>;
  Bits bits = 0;
  for (std::size_t i = 0; i < sizeof(From); ++i) {
    const std::byte byte = from[order == Order::kBig ? i : sizeof(From) - 1 - i];
    bits = static_cast<Bits>((std::uint64_t{bits} << 8) | std::to_integer<std::uint64_t>(byte));
  }
  return std::bit_cast<From>(bits);
}

// Whether `value` has a place in To.
template <class From, class To>
bool Fits(From value) {
  if constexpr (std::is_same_v<To, std::uint8_t>) {
    const double exact = static_cast<double>(value);
    return exact >= 0 && exact <= 255 && exact == std::floor(exact);
  } else if constexpr (std::is_floating_point_v<From>) {
    constexpr From kMost = static_cast<From>(std::numeric_limits<float>::max());
    return value >= -kMost && value <= kMost;  // written so that NaN fails
  } else {
    return true;
  }
}

// Returns: how many values were converted: all, or those before the first that doesn't fit.
template <class From, class To, Order kOrder>
std::size_t Convert(const std::byte* from, std::size_t count, std::byte* to) {
  for (std::size_t i = 0; i < count; ++i) {
    const From value = Load<From>(from + i * sizeof(From), kOrder);
    if (!Fits<From, To>(value)) return i;
    const To converted = static_cast<To>(value);
    std::memcpy(to + i * sizeof(To), &converted, sizeof(To));
  }
  return count;
}

using ConvertValues = std::size_t (*)(const std::byte*, std::size_t, std::byte*);

template <class From, Order kOrder>
ConvertValues To(Element element) {
  if (element == Element::kUint8) return Convert<From, std::uint8_t, kOrder>;
  if constexpr (std::is_same_v<From, std::uint8_t> || std::is_same_v<From, std::int8_t> ||
                std::is_same_v<From, std::int16_t>) {
    if (element == Element::kInt16) return Convert<From, std::int16_t, kOrder>;
  }
  return Convert<From, float, kOrder>;
}

template <class From>
ConvertValues To(Element element, bool little) {
  return little ? To<From, Order::kLittle>(element) : To<From, Order::kBig>(element);
}

// Calls visit with a value of the C++ type.
template <class Visit>
auto WithType(IdxType type, Visit visit) {
  switch (type) {
    case IdxType::kUint8:
      return visit(std::uint8_t{});
    case IdxType::kInt8:
      return visit(std::int8_t{});
    case IdxType::kInt16:
      return visit(std::int16_t{});
    case IdxType::kUint16:
      return visit(std::uint16_t{});
    case IdxType::kInt32:
      return visit(std::int32_t{});
    case IdxType::kUint32:
      return visit(std::uint32_t{});
    case IdxType::kInt64:
      return visit(std::int64_t{});
    case IdxType::kUint64:
      return visit(std::uint64_t{});
    case IdxType::kFloat32:
      return visit(float{});
    case IdxType::kFloat64:
      break;
  }
  return visit(double{});
}

ConvertValues FromTo(const IdxHeader& header, Element element) {
  return WithType(header.type,
                  [&](auto zero) { return To<decltype(zero)>(element, header.little); });
}

double AsDouble(const IdxHeader& header, const std::byte* at) {
  const Order order = header.little ? Order::kLittle : Order::kBig;
  return WithType(header.type,
                  [&](auto zero) { return static_cast<double>(Load<decltype(zero)>(at, order)); });
}

std::string Print(double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.9g", value);
  return text.data();
}

class Converter {
 public:
  Converter(const IdxHeader& header, Element element, TakeBytes take, std::string where)
      : header_(header),
        element_(element),
        bytes_(BytesOf(header.type)),
        convert_(FromTo(header, element)),
        take_(std::move(take)),
        where_(std::move(where)),
        converted_(kBuffered / 8 * tensor::BytesOf(element)) {}

  Status Take(ByteView bytes) {
    if (skipped_ < header_.header_bytes) {
      const std::size_t skip = std::min<std::size_t>(
          static_cast<std::size_t>(header_.header_bytes - skipped_), bytes.size());
      skipped_ += skip;
      bytes = bytes.subspan(skip);
      if (skipped_ < header_.header_bytes) return {};
      if (!started_) {
        started_ = true;
        if (Status sent = take_(HeaderOfCopy(header_, element_)); !sent) return sent;
      }
    }
    while (!bytes.empty()) {
      if (held_ > 0 || bytes.size() < bytes_) {  // a value that came in two pieces
        const std::size_t part = std::min(bytes_ - held_, bytes.size());
        std::memcpy(split_.data() + held_, bytes.data(), part);
        held_ += part;
        bytes = bytes.subspan(part);
        if (held_ < bytes_) return {};
        held_ = 0;
        if (Status sent = Send(split_.data(), 1); !sent) return sent;
        continue;
      }
      const std::size_t count = std::min(bytes.size() / bytes_, kBuffered / 8);
      if (Status sent = Send(bytes.data(), count); !sent) return sent;
      bytes = bytes.subspan(count * bytes_);
    }
    return {};
  }

 private:
  Status Send(const std::byte* values, std::size_t count) {
    const std::size_t done = convert_(values, count, converted_.data());
    if (done < count) return Refuse(done, AsDouble(header_, values + done * bytes_));
    done_ += count;
    return take_(ByteView(converted_.data(), count * tensor::BytesOf(element_)));
  }

  Status Refuse(std::size_t offset, double value) const {
    const std::uint64_t index = done_ + offset;
    const std::uint64_t of_sample = header_.values() / header_.dimensions[0];
    const bool label = element_ == Element::kUint8;
    std::string what = (label ? "label " : "value ") + Print(value) + " of sample " +
                       std::to_string(index / of_sample);
    what += label ? ", wanted a whole number from 0 to 255"
                  : ", wanted a finite number of at most 3.4e38";
    return Fail(ErrorCode::kData, AtByte(where_, header_.header_bytes + index * bytes_),
                std::move(what), "mend the file: leave such samples out");
  }

  IdxHeader header_;
  Element element_;
  std::size_t bytes_;  // of a value in the file
  ConvertValues convert_;
  TakeBytes take_;
  std::string where_;
  std::vector<std::byte> converted_;
  std::array<std::byte, 8> split_{};
  std::size_t held_ = 0;       // bytes in split_
  std::uint64_t skipped_ = 0;  // of the header
  std::uint64_t done_ = 0;     // values
  bool started_ = false;
};

IdxType StoredAs(Element element) {
  return element == Element::kUint8   ? IdxType::kUint8
         : element == Element::kInt16 ? IdxType::kInt16
                                      : IdxType::kFloat32;
}

}  // namespace

Element ElementFor(IdxType type, Use use) {
  if (use == Use::kLabels) return Element::kUint8;
  if (use == Use::kTargets) return Element::kFloat32;
  if (type == IdxType::kUint8) return Element::kUint8;
  return type == IdxType::kInt8 || type == IdxType::kInt16 ? Element::kInt16 : Element::kFloat32;
}

bool IsAsStored(IdxType type, Element element) {
  return type == IdxType::kUint8 && element == Element::kUint8;
}

std::vector<std::byte> HeaderOfCopy(const IdxHeader& header, Element element) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(header.header_bytes));
  if (!IsAsStored(header.type, element)) {
    bytes[0] = std::byte{'C'};
    bytes[1] = std::byte{'V'};
  }
  bytes[2] = static_cast<std::byte>(StoredAs(element));
  bytes[3] = static_cast<std::byte>(header.dimensions.size());
  for (std::size_t d = 0; d < header.dimensions.size(); ++d) {
    for (std::size_t i = 0; i < 4; ++i) {
      bytes[4 + 4 * d + i] = static_cast<std::byte>((header.dimensions[d] >> (24 - 8 * i)) & 0xff);
    }
  }
  return bytes;
}

std::uint64_t SizeOfCopy(const IdxHeader& header, Element element) {
  return header.header_bytes + header.values() * tensor::BytesOf(element);
}

TakeBytes Converting(const IdxHeader& header, Element element, TakeBytes take,
                     const std::string& where) {
  auto converter = std::make_shared<Converter>(header, element, std::move(take), where);
  return [converter](ByteView bytes) { return converter->Take(bytes); };
}

}  // namespace covey::data
