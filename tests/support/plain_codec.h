// Bodies of frames as plain little-endian fields: shows that sessions need no protobuf.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "covey/wire/bodies.h"

namespace covey::test {

class PlainCodec final : public wire::BodyCodec {
 public:
  std::vector<std::byte> Encode(const wire::Hello& hello) const override {
    Writer out;
    out.Number(hello.protocol_min);
    out.Number(hello.protocol_max);
    out.Raw(hello.key.bytes);
    out.Number(hello.session.value);
    out.Raw(hello.fleet.bytes);
    out.Raw(hello.model.bytes);
    out.Text(hello.model_summary);
    out.Number(hello.max_chunk);
    out.Number(hello.credit);
    out.Number(static_cast<std::uint8_t>(hello.join));
    out.Text(hello.software);
    out.Raw(hello.normalization.bytes);
    out.Text(hello.normalization_summary);
    out.Raw(hello.labels.bytes);
    out.Text(hello.labels_summary);
    out.Number(hello.takes.bits());
    return out.bytes;
  }

  std::vector<std::byte> Encode(const wire::Begin& begin) const override {
    Writer out;
    out.Number(static_cast<std::uint8_t>(begin.kind));
    out.Number(static_cast<std::uint8_t>(begin.encoding));
    out.Number(begin.total);
    out.Number(begin.chunk);
    out.Number(std::bit_cast<std::uint32_t>(begin.gamma_max));
    out.Number(begin.samples);
    out.Number(begin.segment.index);
    out.Number(begin.segment.count);
    return out.bytes;
  }

  std::vector<std::byte> Encode(const wire::Nack& nack) const override {
    Writer out;
    out.Number(static_cast<std::uint8_t>(nack.reason));
    out.Number(nack.kind ? static_cast<std::uint8_t>(*nack.kind) : std::uint8_t{0});
    out.Text(nack.text);
    return out.bytes;
  }

  std::vector<std::byte> Encode(const wire::Membership& membership) const override {
    Writer out;
    out.Text(membership.own_address);
    out.Number(static_cast<std::uint8_t>(membership.wants_peers));
    for (const wire::ToldPeer& peer : membership.peers) {
      out.Raw(peer.key.bytes);
      out.Text(peer.address);
      out.Number(peer.age.count());
    }
    return out.bytes;
  }

  Result<wire::Hello> DecodeHello(ByteView body) const override {
    Reader in{body};
    wire::Hello hello;
    hello.protocol_min = in.Number<std::uint32_t>();
    hello.protocol_max = in.Number<std::uint32_t>();
    in.Raw(hello.key.bytes);
    hello.session.value = in.Number<std::uint64_t>();
    in.Raw(hello.fleet.bytes);
    in.Raw(hello.model.bytes);
    hello.model_summary = wire::CleanText(in.Text(), wire::kMaxText);
    hello.max_chunk = in.Number<std::uint32_t>();
    hello.credit = in.Number<std::uint32_t>();
    hello.join = in.Number<std::uint8_t>() != 0;
    hello.software = wire::CleanText(in.Text(), wire::kMaxSoftware);
    in.Raw(hello.normalization.bytes);
    hello.normalization_summary = wire::CleanText(in.Text(), wire::kMaxText);
    in.Raw(hello.labels.bytes);
    hello.labels_summary = wire::CleanText(in.Text(), wire::kMaxText);
    hello.takes = tensor::EncodingSet::FromBits(in.Number<std::uint32_t>());
    if (!in.whole()) return Fail(ErrorCode::kProtocol, "hello", "can't be parsed");
    return hello;
  }

  Result<wire::Begin> DecodeBegin(ByteView body) const override {
    Reader in{body};
    wire::Begin begin;
    begin.kind = static_cast<consensus::MessageKind>(in.Number<std::uint8_t>());
    begin.encoding = static_cast<tensor::Encoding>(in.Number<std::uint8_t>());
    begin.total = in.Number<std::uint64_t>();
    begin.chunk = in.Number<std::uint32_t>();
    begin.gamma_max = std::bit_cast<float>(in.Number<std::uint32_t>());
    begin.samples = in.Number<std::uint64_t>();
    begin.segment.index = in.Number<std::uint32_t>();
    begin.segment.count = in.Number<std::uint32_t>();
    if (!in.whole()) return Fail(ErrorCode::kProtocol, "begin", "can't be parsed");
    return begin;
  }

  Result<wire::Nack> DecodeNack(ByteView body) const override {
    Reader in{body};
    wire::Nack nack;
    const auto reason = static_cast<wire::Reason>(in.Number<std::uint8_t>());
    nack.reason = reason < wire::Reason::kCount ? reason : wire::Reason::kUnknown;
    const auto kind = in.Number<std::uint8_t>();
    if (kind != 0) nack.kind = static_cast<consensus::MessageKind>(kind);
    nack.text = wire::CleanText(in.Text(), wire::kMaxText);
    if (!in.whole()) return Fail(ErrorCode::kProtocol, "nack", "can't be parsed");
    return nack;
  }

  Result<wire::Membership> DecodeMembership(ByteView body) const override {
    Reader in{body};
    wire::Membership membership;
    membership.own_address = in.Text();
    membership.wants_peers = in.Number<std::uint8_t>() != 0;
    while (in.good && !in.left.empty()) {
      wire::ToldPeer peer;
      in.Raw(peer.key.bytes);
      peer.address = in.Text();
      peer.age = Duration(in.Number<Duration::rep>());
      membership.peers.push_back(std::move(peer));
    }
    if (!in.whole()) return Fail(ErrorCode::kProtocol, "membership", "can't be parsed");
    return membership;
  }

 private:
  struct Writer {
    std::vector<std::byte> bytes;
    template <class T>
    void Number(T value) {
      bytes.resize(bytes.size() + sizeof value);
      StoreLittle<T>(bytes.data() + bytes.size() - sizeof value, value);
    }
    template <class Array>
    void Raw(const Array& array) {
      for (const std::uint8_t byte : array) bytes.push_back(std::byte{byte});
    }
    void Text(const std::string& text) {
      Number(static_cast<std::uint16_t>(text.size()));
      for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
    }
  };
  struct Reader {
    ByteView left;
    bool good = true;

    ByteView Take(std::size_t size) {
      good = good && left.size() >= size;
      if (!good) return {};
      const ByteView taken = left.first(size);
      left = left.subspan(size);
      return taken;
    }
    template <class T>
    T Number() {
      const ByteView taken = Take(sizeof(T));
      return good ? LoadLittle<T>(taken.data()) : T{};
    }
    template <class Array>
    void Raw(Array& array) {
      const ByteView taken = Take(array.size());
      if (good) std::memcpy(array.data(), taken.data(), array.size());
    }
    std::string Text() {
      const ByteView taken = Take(Number<std::uint16_t>());
      return good ? std::string(reinterpret_cast<const char*>(taken.data()), taken.size())
                  : std::string();
    }
    bool whole() const { return good && left.empty(); }
  };
};

}  // namespace covey::test
