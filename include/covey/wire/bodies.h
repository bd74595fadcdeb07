// Structured bodies of HELLO, BEGIN, NACK and MEMBERSHIP, and the codec that writes them.
//
// The codec is an interface because portable modules have no protobuf: wire_pb implements it
// (proto/covey/v1/peer.proto).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/bytes.h"
#include "covey/base/ids.h"
#include "covey/base/result.h"
#include "covey/consensus/message.h"
#include "covey/tensor/codec.h"
#include "covey/wire/limits.h"
#include "covey/wire/membership.h"
#include "covey/wire/reason.h"

namespace covey::wire {

// First frame in both directions of a link; repeated by a newcomer that asks for a copy of the
// model.
struct Hello {
  std::uint32_t protocol_min = kProtocolMin;
  std::uint32_t protocol_max = kProtocolMax;
  PeerKey key;                // of the sender; must be what the transport authenticated, if it did
  SessionId session;          // this life of the sender's process
  Digest fleet;               // hash of the fleet's name
  Digest model;               // fingerprint
  std::string model_summary;  // for people: "mlp 784-72-10"; at most kMaxText bytes
  std::uint32_t max_chunk =
      kMaxBody;              // largest CHUNK body that the sender takes, kMinChunk..kMaxBody
  std::uint32_t credit = 1;  // chunks that the receiver of this hello may send at first
  bool join = false;         // answer with WEIGHTS marked copy
  std::string software;      // "covey 0.1.0"; at most kMaxSoftware bytes
  // How the sender reads its samples; must agree, or the models have different inputs and outputs.
  // Hashes, and texts for people of at most kMaxText bytes; all zero: the sender doesn't say.
  Digest normalization;
  std::string normalization_summary;
  Digest labels;  // names of the classes
  std::string labels_summary;
  tensor::EncodingSet takes = tensor::EncodingSet::All();  // encodings that the sender decodes

  bool operator==(const Hello&) const = default;
};

// Announces one message of `total` bytes in ceil(total / chunk) chunks.
struct Begin {
  consensus::MessageKind kind = consensus::MessageKind::kWeights;  // any value after decoding
  tensor::Encoding encoding = tensor::Encoding::kFloat32;          // any value after decoding
  std::uint64_t total = 0;                                         // bytes
  std::uint32_t chunk = 0;     // bytes of every chunk but the last
  float gamma_max = 1;         // WEIGHTS: (0, 1]; any value after decoding
  std::uint64_t samples = 0;   // WEIGHTS: that its sender trains on; 0: it doesn't say
  consensus::Segment segment;  // any value after decoding

  bool operator==(const Begin&) const = default;
};

struct Nack {
  Reason reason = Reason::kUnknown;
  std::optional<consensus::MessageKind>
      kind;          // of the message refused; unset: the whole link is refused
  std::string text;  // for people, printable ASCII, at most kMaxText bytes

  bool operator==(const Nack&) const = default;
};

// Thread: const methods may be called from several threads.
class BodyCodec {
 public:
  virtual ~BodyCodec() = default;

  virtual std::vector<std::byte> Encode(const Hello& hello) const = 0;
  virtual std::vector<std::byte> Encode(const Begin& begin) const = 0;
  virtual std::vector<std::byte> Encode(const Nack& nack) const = 0;
  // Leaves out peers at the end that no longer fit into kMaxStructuredBody.
  virtual std::vector<std::byte> Encode(const Membership& membership) const = 0;

  // Errors: kProtocol for bytes that are no such body, or longer than kMaxStructuredBody. Texts
  // come back cleaned (CleanText); fields of later versions are ignored. Ranges are for the caller
  // to judge.
  virtual Result<Hello> DecodeHello(ByteView body) const = 0;
  virtual Result<Begin> DecodeBegin(ByteView body) const = 0;
  virtual Result<Nack> DecodeNack(ByteView body) const = 0;
  virtual Result<Membership> DecodeMembership(ByteView body) const = 0;
};

// Makes a peer's text fit for logs: at most `limit` bytes, printable ASCII, '?' for the rest.
std::string CleanText(std::string_view text, std::size_t limit);

}  // namespace covey::wire
