// Bodies of frames as protobuf messages (proto/covey/v1/peer.proto).
#pragma once

#include "covey/wire/bodies.h"

namespace covey::wire_pb {

class ProtobufCodec final : public wire::BodyCodec {
 public:
  std::vector<std::byte> Encode(const wire::Hello& hello) const override;
  std::vector<std::byte> Encode(const wire::Begin& begin) const override;
  std::vector<std::byte> Encode(const wire::Nack& nack) const override;
  std::vector<std::byte> Encode(const wire::Membership& membership) const override;
  Result<wire::Hello> DecodeHello(ByteView body) const override;
  Result<wire::Begin> DecodeBegin(ByteView body) const override;
  Result<wire::Nack> DecodeNack(ByteView body) const override;
  Result<wire::Membership> DecodeMembership(ByteView body) const override;
};

}  // namespace covey::wire_pb
