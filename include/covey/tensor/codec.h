// How a vector is written into a message: encodings and the fused operations of Algorithm 1 on
// encoded bytes.
//
// Both sides of an exchange must add the same numbers (docs/consensus.md, 1), so a reply is encoded
// first and x moves by what decodes from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "covey/base/bytes.h"
#include "covey/tensor/flat_vector.h"

namespace covey::tensor {

// Values stand in envelopes: never reuse one.
enum class Encoding : std::uint8_t {
  kFloat32 = 0,  // little-endian IEEE 754 binary32, exact
};

bool IsKnown(Encoding encoding);
std::string_view Name(Encoding encoding);

// Returns: bytes of an encoded vector of n elements.
std::size_t EncodedSize(Encoding encoding, std::size_t n);

// out = encode(x). Requires: out.size() == EncodedSize(encoding, x.size()).
void Encode(Encoding encoding, ConstVectorView x, MutableByteView out);

// x = decode(bytes). Requires: matching sizes. Used by newcomers that copy a peer.
void Decode(Encoding encoding, ByteView bytes, VectorView x);

// One pass: d = gamma (decode(q) - x); reply = encode(d); x += decode(reply).
// Requires: q.size() == reply.size() == EncodedSize(encoding, x.size()); 64-byte aligned q and
// reply.
// Source: Algorithm 1 of Crandall & Webb 2020, branch WEIGHTS.
void Pull(Encoding encoding, ByteView q, float gamma, VectorView x, MutableByteView reply);

// x -= decode(d). Source: the same, branch DELTAS.
void Subtract(Encoding encoding, ByteView d, VectorView x);

// Returns: whether every element decodes to a finite number. Tests bits, so no compiler flag can
// remove it.
bool AllFinite(Encoding encoding, ByteView bytes);

}  // namespace covey::tensor
