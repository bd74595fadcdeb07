#include "covey/wire_pb/codec.h"

#include <algorithm>
#include <string>

#include "covey/base/check.h"
#include "covey/v1/peer.pb.h"

namespace covey::wire_pb {
namespace {

template <class Message>
std::vector<std::byte> Serialize(const Message& message) {
  std::vector<std::byte> bytes(message.ByteSizeLong());
  COVEY_CHECK(bytes.size() <= wire::kMaxStructuredBody, bytes.size());
  message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(bytes.data()));
  return bytes;
}

template <class Message>
Result<Message> Parse(ByteView body, const char* name) {
  if (body.size() > wire::kMaxStructuredBody) {
    return Fail(ErrorCode::kProtocol, name,
                std::to_string(body.size()) + " bytes, at most " +
                    std::to_string(wire::kMaxStructuredBody) + " are read");
  }
  Message message;
  if (!message.ParseFromArray(body.data(), static_cast<int>(body.size()))) {
    return Fail(ErrorCode::kProtocol, name, "can't be parsed");
  }
  return message;
}

// Reads 32 bytes. Returns: whether there were exactly so many.
bool Read32(const std::string& from, std::array<std::uint8_t, 32>& to) {
  if (from.size() != to.size()) return false;
  std::transform(from.begin(), from.end(), to.begin(),
                 [](char c) { return static_cast<std::uint8_t>(c); });
  return true;
}

// The same, or none: then `to` stays.
bool ReadOptional32(const std::string& from, std::array<std::uint8_t, 32>& to) {
  return from.empty() || Read32(from, to);
}

std::string Text(const std::array<std::uint8_t, 32>& bytes) {
  return std::string(bytes.begin(), bytes.end());
}

v1::MessageKind KindToWire(consensus::MessageKind kind) {
  return static_cast<v1::MessageKind>(static_cast<int>(kind));
}

// A value outside a byte can't be a kind; 255 is one that no version will use.
template <class Enum>
Enum NarrowEnum(std::uint64_t value) {
  return static_cast<Enum>(static_cast<std::uint8_t>(value < 255 ? value : 255));
}

}  // namespace

std::vector<std::byte> ProtobufCodec::Encode(const wire::Hello& hello) const {
  v1::Hello message;
  message.set_protocol_min(hello.protocol_min);
  message.set_protocol_max(hello.protocol_max);
  message.set_key(Text(hello.key.bytes));
  message.set_session(hello.session.value);
  message.set_fleet(Text(hello.fleet.bytes));
  message.set_model(Text(hello.model.bytes));
  message.set_model_summary(wire::CleanText(hello.model_summary, wire::kMaxText));
  message.set_max_chunk(hello.max_chunk);
  message.set_credit(hello.credit);
  message.set_join(hello.join);
  message.set_software(wire::CleanText(hello.software, wire::kMaxSoftware));
  if (hello.normalization != Digest{}) message.set_normalization(Text(hello.normalization.bytes));
  message.set_normalization_summary(wire::CleanText(hello.normalization_summary, wire::kMaxText));
  if (hello.labels != Digest{}) message.set_labels(Text(hello.labels.bytes));
  message.set_labels_summary(wire::CleanText(hello.labels_summary, wire::kMaxText));
  message.set_takes(hello.takes.bits());
  return Serialize(message);
}

std::vector<std::byte> ProtobufCodec::Encode(const wire::Begin& begin) const {
  v1::Begin message;
  message.set_kind(KindToWire(begin.kind));
  message.set_encoding(static_cast<std::uint32_t>(begin.encoding));
  message.set_total(begin.total);
  message.set_chunk(begin.chunk);
  message.set_gamma_max(begin.gamma_max);
  message.set_samples(begin.samples);
  if (begin.segment != consensus::Segment()) {
    message.set_segment(begin.segment.index);
    message.set_segments(begin.segment.count);
  }
  return Serialize(message);
}

std::vector<std::byte> ProtobufCodec::Encode(const wire::Nack& nack) const {
  v1::Nack message;
  message.set_reason(static_cast<std::uint32_t>(nack.reason));
  if (nack.kind) message.set_kind(KindToWire(*nack.kind));
  message.set_text(wire::CleanText(nack.text, wire::kMaxText));
  return Serialize(message);
}

Result<wire::Hello> ProtobufCodec::DecodeHello(ByteView body) const {
  const Result<v1::Hello> message = Parse<v1::Hello>(body, "hello");
  if (!message) return tl::unexpected<Error>(message.error());
  wire::Hello hello;
  hello.protocol_min = message->protocol_min();
  hello.protocol_max = message->protocol_max();
  hello.session.value = message->session();
  hello.model_summary = wire::CleanText(message->model_summary(), wire::kMaxText);
  hello.max_chunk = message->max_chunk();
  hello.credit = message->credit();
  hello.join = message->join();
  hello.software = wire::CleanText(message->software(), wire::kMaxSoftware);
  hello.normalization_summary = wire::CleanText(message->normalization_summary(), wire::kMaxText);
  hello.labels_summary = wire::CleanText(message->labels_summary(), wire::kMaxText);
  if (!ReadOptional32(message->normalization(), hello.normalization.bytes) ||
      !ReadOptional32(message->labels(), hello.labels.bytes)) {
    return Fail(ErrorCode::kProtocol, "hello", "normalization or labels is not of 32 bytes");
  }
  hello.takes = tensor::EncodingSet::FromBits(message->takes());
  if (!Read32(message->key(), hello.key.bytes) || !Read32(message->fleet(), hello.fleet.bytes) ||
      !Read32(message->model(), hello.model.bytes)) {
    return Fail(ErrorCode::kProtocol, "hello", "key, fleet or model is not of 32 bytes");
  }
  return hello;
}

Result<wire::Begin> ProtobufCodec::DecodeBegin(ByteView body) const {
  const Result<v1::Begin> message = Parse<v1::Begin>(body, "begin");
  if (!message) return tl::unexpected<Error>(message.error());
  wire::Begin begin;
  begin.kind = NarrowEnum<consensus::MessageKind>(
      static_cast<std::uint64_t>(static_cast<std::int64_t>(message->kind())));
  begin.encoding = NarrowEnum<tensor::Encoding>(message->encoding());
  begin.total = message->total();
  begin.chunk = message->chunk();
  begin.gamma_max = message->gamma_max();
  begin.samples = message->samples();
  begin.segment = {message->segment(), std::max(message->segments(), 1U)};
  return begin;
}

Result<wire::Nack> ProtobufCodec::DecodeNack(ByteView body) const {
  const Result<v1::Nack> message = Parse<v1::Nack>(body, "nack");
  if (!message) return tl::unexpected<Error>(message.error());
  wire::Nack nack;
  const auto reason = NarrowEnum<wire::Reason>(message->reason());
  nack.reason = reason < wire::Reason::kCount ? reason : wire::Reason::kUnknown;
  if (message->kind() != v1::MESSAGE_KIND_NONE) {
    nack.kind = NarrowEnum<consensus::MessageKind>(
        static_cast<std::uint64_t>(static_cast<std::int64_t>(message->kind())));
  }
  nack.text = wire::CleanText(message->text(), wire::kMaxText);
  return nack;
}

}  // namespace covey::wire_pb
