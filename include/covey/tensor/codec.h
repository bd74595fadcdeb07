// How a vector is written into a message: encodings and the operations of Algorithm 1 on encoded
// bytes.
//
//   f32    4 B an element, exact
//   f16    2 B: binary16, rounded to nearest even; beyond +-65504 the nearest of these
//   bf16   2 B: upper half of binary32, rounded to nearest even; 8 bits of precision, full range
//   int8   1 B, and 4 B for each block of 128: scale = max |x| / 127 of the block, x = scale * int
//   top_k  DELTAS only: the tenth of the elements that are largest in magnitude, as binary16,
//          behind one bit an element that says which; the rest are zero. 0.33 B an element
//
// Both sides of an exchange must add the same numbers (docs/consensus.md, 1), so a reply is encoded
// first and x moves by what decodes from it. What an encoding loses of a DELTAS stays in the
// difference of the two nodes and comes back with their next exchange: no error feedback is needed.
// Determinism: the same bytes at every kernel level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "covey/base/bytes.h"
#include "covey/tensor/flat_vector.h"

namespace covey::tensor {

// Values stand in messages: never reuse one.
enum class Encoding : std::uint8_t {
  kFloat32 = 0,
  kFloat16 = 1,
  kBfloat16 = 2,
  kInt8 = 3,
  kTopK = 4,
};
inline constexpr std::uint8_t kEncodings = 5;

bool IsKnown(Encoding encoding);
// Whether parameters may travel so: an encoding that leaves elements out is for differences.
bool FitsWeights(Encoding encoding);
std::string_view Name(Encoding encoding);  // "f32"; "unknown"

// A set of encodings. Numbers of later versions are no members.
class EncodingSet {
 public:
  EncodingSet() = default;  // f32 alone, which every node takes
  static EncodingSet All() { return FromBits(~0U); }
  static EncodingSet FromBits(std::uint32_t bits);  // bit i: the encoding i

  std::uint32_t bits() const { return bits_; }
  bool contains(Encoding encoding) const;
  // Returns: `wanted` if it is a member, else f32.
  Encoding Choose(Encoding wanted) const { return contains(wanted) ? wanted : Encoding::kFloat32; }

  bool operator==(const EncodingSet&) const = default;

 private:
  std::uint32_t bits_ = 1;
};

// Returns: bytes of an encoded vector of n elements.
std::size_t EncodedSize(Encoding encoding, std::size_t n);

// out = encode(x). Not a number stays so, and is refused by AllFinite, except where it is not among
// the largest tenth.
// Requires: out.size() == EncodedSize(encoding, x.size()), 64-byte aligned.
void Encode(Encoding encoding, ConstVectorView x, MutableByteView out);

// x = decode(bytes). Requires: matching sizes, 64-byte aligned bytes. Used by newcomers that copy a
// peer.
void Decode(Encoding encoding, ByteView bytes, VectorView x);

// A vector under way: its bytes and what they are.
template <typename View>
struct Coded {
  Encoding encoding = Encoding::kFloat32;
  View bytes;
};

// d = gamma (decode(q) - x); reply = encode(d); x += own decode(reply). One pass for f32 and own 1.
// Requires: FitsWeights(q.encoding); sizes as EncodedSize(encoding, x.size()); 64-byte aligned
// bytes.
// Source: Algorithm 1 of Crandall & Webb 2020, branch WEIGHTS.
void Pull(Coded<ByteView> q, float gamma, VectorView x, Coded<MutableByteView> reply,
          float own = 1);

// x -= decode(d). Source: the same, branch DELTAS.
void Subtract(Encoding encoding, ByteView d, VectorView x);

// Returns: ||decode(q) - x||^2 and ||decode(d)||^2; infinite when it is beyond floats. One pass.
// Requires: as Pull and Subtract.
double SquaredDistance(Coded<ByteView> q, ConstVectorView x);
double SquaredNorm(Coded<ByteView> d, std::size_t n);

// Returns: whether the bytes are an encoded vector whose every element is finite and below 2^64 in
// magnitude. Tests bits, so no compiler flag can remove it.
bool AllFinite(Encoding encoding, ByteView bytes, std::size_t n);

}  // namespace covey::tensor
