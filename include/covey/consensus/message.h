// What Algorithm 1 receives: one whole WEIGHTS or DELTAS message.
#pragma once

#include <cstdint>
#include <memory>

#include "covey/base/bytes.h"
#include "covey/base/ids.h"
#include "covey/consensus/segment.h"
#include "covey/tensor/codec.h"

namespace covey::consensus {

enum class MessageKind : std::uint8_t { kWeights = 1, kDeltas = 2 };

// Shapes: payload = EncodedSize(encoding, size of the segment) bytes, 64-byte aligned, immutable
// once made.
struct Message {
  MessageKind kind = MessageKind::kWeights;
  PeerKey peer;           // received: its sender; to be sent: its receiver
  ExchangeId exchange;    // unique for the sender of the WEIGHTS
  float gamma_max = 1;    // WEIGHTS: the receiver moves by min(own gamma, gamma_max); (0, 1]
  bool no_reply = false;  // WEIGHTS: its sender wants no DELTAS
  bool copy =
      false;  // WEIGHTS: answers a newcomer's request to join; a node that is not joining drops it
  std::uint64_t samples = 0;  // WEIGHTS: that its sender trains on; 0: it doesn't say
  bool training = false;      // its sender still trains (false: it settles or is done)
  Segment segment;            // of x that the payload holds
  tensor::Encoding encoding = tensor::Encoding::kFloat32;
  SharedBuffer payload;
};

}  // namespace covey::consensus
