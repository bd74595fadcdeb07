// A second reader of frames and bodies, from docs/protocol.md and proto/covey/v1/peer.proto alone:
// no library, no shared code, one byte after another. What it makes of any bytes must be what the
// product makes of them.
//
// Rules of the protobuf encoding (developers.google.com/protocol-buffers/docs/encoding): a field is
// a key (number << 3 | wire type) and a value; the last of several wins; unknown numbers, and known
// ones with another wire type, are skipped; a number is cut to the width of its field.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "covey/base/bytes.h"
#include "covey/wire/bodies.h"
#include "covey/wire/envelope.h"

namespace covey::test {

class SecondCodec {
 public:
  // Each field as it stands in the frame, or nothing for what is no frame.
  static std::optional<wire::Envelope> Header(ByteView frame) {
    if (frame.size() < 64 || frame.size() > 64 + 256 * 1024) return std::nullopt;
    const auto number = [&](std::size_t at, int bytes) {
      std::uint64_t value = 0;
      for (int i = bytes - 1; i >= 0; --i) {
        value =
            value * 256 + std::to_integer<std::uint64_t>(frame[at + static_cast<std::size_t>(i)]);
      }
      return value;
    };
    if (frame[0] != std::byte{'C'} || frame[1] != std::byte{'V'} || frame[2] != std::byte{'Y'} ||
        frame[3] != std::byte{'1'} || number(4, 1) == 0 || number(40, 4) + 64 != frame.size()) {
      return std::nullopt;
    }
    wire::Envelope envelope;
    envelope.version = static_cast<std::uint8_t>(number(4, 1));
    envelope.kind = static_cast<wire::FrameKind>(number(5, 1));
    envelope.flags = static_cast<std::uint16_t>(number(6, 2));
    envelope.fleet = number(8, 8);
    envelope.session.value = number(16, 8);
    envelope.exchange.value = number(24, 8);
    envelope.index = static_cast<std::uint32_t>(number(32, 4));
    envelope.count = static_cast<std::uint32_t>(number(36, 4));
    envelope.body_length = static_cast<std::uint32_t>(number(40, 4));
    envelope.crc = static_cast<std::uint32_t>(number(44, 4));
    envelope.model = number(48, 8);
    return envelope;
  }

  static std::optional<wire::Hello> Hello(ByteView body) {
    const std::optional<Fields> fields = Read(body);
    if (!fields) return std::nullopt;
    wire::Hello hello;
    hello.protocol_min = fields->Narrow(1);
    hello.protocol_max = fields->Narrow(2);
    hello.session.value = fields->Fixed(4, 1);
    hello.model_summary = Cleaned(fields->Text(7), 240);
    hello.max_chunk = fields->Narrow(8);
    hello.credit = fields->Narrow(9);
    hello.join = fields->Varint(10) != 0;
    hello.software = Cleaned(fields->Text(11), 64);
    hello.normalization_summary = Cleaned(fields->Text(13), 240);
    hello.labels_summary = Cleaned(fields->Text(15), 240);
    hello.takes = tensor::EncodingSet::FromBits(fields->Narrow(16));
    const bool whole = Key(fields->Text(3), hello.key.bytes) &&
                       Key(fields->Text(5), hello.fleet.bytes) &&
                       Key(fields->Text(6), hello.model.bytes);
    const auto optional = [](const std::string& text, std::array<std::uint8_t, 32>& to) {
      return text.empty() || Key(text, to);
    };
    if (!whole || !optional(fields->Text(12), hello.normalization.bytes) ||
        !optional(fields->Text(14), hello.labels.bytes)) {
      return std::nullopt;
    }
    return hello;
  }

  static std::optional<wire::Begin> Begin(ByteView body) {
    const std::optional<Fields> fields = Read(body);
    if (!fields) return std::nullopt;
    wire::Begin begin;
    begin.kind = static_cast<consensus::MessageKind>(Byte(fields->Enum(1)));
    begin.encoding = static_cast<tensor::Encoding>(Byte(fields->Narrow(2)));
    begin.total = fields->Varint(3);
    begin.chunk = fields->Narrow(4);
    begin.samples = fields->Varint(6);
    begin.segment = {fields->Narrow(7), std::max(fields->Narrow(8), 1U)};
    const auto bits = static_cast<std::uint32_t>(fields->Fixed(5, 5));
    std::memcpy(&begin.gamma_max, &bits, sizeof bits);
    return begin;
  }

  static std::optional<wire::Nack> Nack(ByteView body) {
    const std::optional<Fields> fields = Read(body);
    if (!fields) return std::nullopt;
    wire::Nack nack;
    const std::uint8_t reason = Byte(fields->Narrow(1));
    nack.reason =
        reason < wire::kReasons ? static_cast<wire::Reason>(reason) : wire::Reason::kUnknown;
    if (fields->Enum(2) != 0)
      nack.kind = static_cast<consensus::MessageKind>(Byte(fields->Enum(2)));
    nack.text = Cleaned(fields->Text(3), 240);
    return nack;
  }

 private:
  struct Field {
    std::uint32_t number = 0;
    unsigned type = 0;  // 0 varint, 1 eight bytes, 2 text, 5 four bytes
    std::uint64_t value = 0;
    std::string text;
  };
  struct Fields {
    std::vector<Field> all;

    const Field* Last(std::uint32_t number, unsigned type) const {
      const Field* last = nullptr;
      for (const Field& field : all) {
        if (field.number == number && field.type == type) last = &field;
      }
      return last;
    }
    std::uint64_t Fixed(std::uint32_t number, unsigned type) const {
      const Field* field = Last(number, type);
      return field == nullptr ? 0 : field->value;
    }
    std::uint64_t Varint(std::uint32_t number) const { return Fixed(number, 0); }
    std::uint32_t Narrow(std::uint32_t number) const {
      return static_cast<std::uint32_t>(Varint(number));
    }
    // An enum is a signed number of 32 bits: a negative one is none of ours.
    std::uint64_t Enum(std::uint32_t number) const {
      const std::uint32_t value = Narrow(number);
      return value >= 0x80000000u ? UINT64_MAX : value;
    }
    std::string Text(std::uint32_t number) const {
      const Field* field = Last(number, 2);
      return field == nullptr ? std::string() : field->text;
    }
  };

  struct Cursor {
    ByteView bytes;
    std::size_t at = 0;
    bool good = true;

    unsigned Next() {
      if (at == bytes.size()) good = false;
      return good ? std::to_integer<unsigned>(bytes[at++]) : 0;
    }
    // Base 128, low digits first, in at most `most` bytes.
    std::uint64_t Varint(int most) {
      std::uint64_t value = 0;
      for (int i = 0; i < most; ++i) {
        const unsigned byte = Next();
        value |= std::uint64_t{byte & 127u} << (7 * i);
        if (!good || byte < 128) return value;
      }
      good = false;
      return 0;
    }
    std::uint64_t Fixed(int size) {
      std::uint64_t value = 0;
      for (int i = 0; i < size; ++i) value |= std::uint64_t{Next()} << (8 * i);
      return value;
    }
    std::string Text() {
      const std::uint64_t size = Varint(5);
      std::string text;
      if (size > bytes.size()) good = false;
      for (std::uint64_t i = 0; good && i < size; ++i) text.push_back(static_cast<char>(Next()));
      return text;
    }
  };

  static std::optional<Fields> Read(ByteView body) {
    if (body.size() > 4096) return std::nullopt;
    Cursor cursor{body};
    Fields fields;
    std::vector<std::uint32_t> groups;  // of earlier days; skipped, at most 100 deep
    while (cursor.good && cursor.at < body.size()) {
      const auto key = static_cast<std::uint32_t>(cursor.Varint(5));
      Field field;
      field.number = key >> 3;
      field.type = key & 7;
      if (!cursor.good || field.number == 0) return std::nullopt;
      if (field.type == 0) {
        field.value = cursor.Varint(10);
      } else if (field.type == 1) {
        field.value = cursor.Fixed(8);
      } else if (field.type == 2) {
        field.text = cursor.Text();
      } else if (field.type == 3) {
        groups.push_back(field.number);
        if (groups.size() > 100) return std::nullopt;
        continue;
      } else if (field.type == 4) {
        if (groups.empty() || groups.back() != field.number) return std::nullopt;
        groups.pop_back();
        continue;
      } else if (field.type == 5) {
        field.value = cursor.Fixed(4);
      } else {
        return std::nullopt;
      }
      if (groups.empty()) fields.all.push_back(std::move(field));
    }
    if (!cursor.good || !groups.empty()) return std::nullopt;
    return fields;
  }

  static bool Key(const std::string& text, std::array<std::uint8_t, 32>& to) {
    if (text.size() != 32) return false;
    for (std::size_t i = 0; i < 32; ++i) to[i] = static_cast<std::uint8_t>(text[i]);
    return true;
  }
  // 255 stands for all that no version will use.
  static std::uint8_t Byte(std::uint64_t value) {
    return value < 255 ? static_cast<std::uint8_t>(value) : std::uint8_t{255};
  }
  static std::string Cleaned(const std::string& text, std::size_t most) {
    std::string clean;
    for (const char c : text) {
      if (clean.size() == most) break;
      clean.push_back(c >= ' ' && c <= '~' ? c : '?');
    }
    return clean;
  }
};

}  // namespace covey::test
