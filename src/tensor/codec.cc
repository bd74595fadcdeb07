#include "covey/tensor/codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>

#include "covey/base/check.h"
#include "covey/tensor/kernels.h"
#include "tensor/narrow.h"
#include "tensor/passes.h"
#include "tensor/top_k.h"

namespace covey::tensor {
namespace {

static_assert(std::endian::native == std::endian::little,
              "payloads are little-endian floats; a big-endian machine needs a swapping codec");

constexpr std::size_t kAlignment = 64;
// Elements between two changes of format: they stay in the first cache, and are whole blocks of
// int8 and whole words of top_k's mask.
constexpr std::size_t kRun = 1024;
static_assert(kRun % kInt8Block == 0);

// Upper bounds of magnitudes, exclusive: infinity, or 2^64.
constexpr std::uint16_t kInfinity16 = 0x7c00;
constexpr std::uint16_t kTwoTo64Bfloat16 = kTwoTo64Bits >> 16;

using Run = std::array<float, kRun>;

constexpr std::array<std::string_view, kEncodings> kNames = {"f32", "f16", "bf16", "int8", "top_k"};

bool Aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % kAlignment == 0;
}

template <typename Bytes>
void CheckCoded(Encoding encoding, const Bytes& bytes, std::size_t n) {
  COVEY_CHECK(IsKnown(encoding), encoding);
  COVEY_CHECK(bytes.size() == EncodedSize(encoding, n), bytes.size(), n);
  COVEY_CHECK(Aligned(bytes.data()));
}

template <typename T>
T* At(MutableByteView bytes, std::size_t offset = 0) {
  return reinterpret_cast<T*>(bytes.data() + offset);
}

template <typename T>
const T* At(ByteView bytes, std::size_t offset = 0) {
  return reinterpret_cast<const T*>(bytes.data() + offset);
}

std::size_t Int8Blocks(std::size_t n) { return (n + kInt8Block - 1) / kInt8Block; }

// Elements begin .. begin + n of `out`. Requires: begin is a multiple of kRun; not top_k.
void EncodeRun(Encoding encoding, const float* x, std::size_t begin, std::size_t n,
               MutableByteView out, std::size_t size) {
  switch (encoding) {
    case Encoding::kFloat32:
      std::memcpy(At<float>(out) + begin, x, n * sizeof(float));
      return;
    case Encoding::kFloat16:
      return ToFloat16(x, n, At<std::uint16_t>(out) + begin);
    case Encoding::kBfloat16:
      return ToBfloat16(x, n, At<std::uint16_t>(out) + begin);
    case Encoding::kInt8: {
      auto* scales = At<float>(out);
      auto* whole = At<std::int8_t>(out, Int8Blocks(size) * sizeof(float));
      for (std::size_t at = 0; at < n; at += kInt8Block) {
        const std::size_t length = std::min(kInt8Block, n - at);
        scales[(begin + at) / kInt8Block] = ToInt8(x + at, length, whole + begin + at);
      }
      return;
    }
    case Encoding::kTopK:
      break;
  }
  COVEY_CHECK(false, encoding);
}

void DecodeRun(Encoding encoding, ByteView in, std::size_t begin, std::size_t n, float* x,
               std::size_t size) {
  switch (encoding) {
    case Encoding::kFloat32:
      std::memcpy(x, At<float>(in) + begin, n * sizeof(float));
      return;
    case Encoding::kFloat16:
      return FromFloat16(At<std::uint16_t>(in) + begin, n, x);
    case Encoding::kBfloat16:
      return FromBfloat16(At<std::uint16_t>(in) + begin, n, x);
    case Encoding::kInt8: {
      const auto* scales = At<float>(in);
      const auto* whole = At<std::int8_t>(in, Int8Blocks(size) * sizeof(float));
      for (std::size_t at = 0; at < n; at += kInt8Block) {
        const std::size_t length = std::min(kInt8Block, n - at);
        FromInt8(whole + begin + at, scales[(begin + at) / kInt8Block], length, x + at);
      }
      return;
    }
    case Encoding::kTopK:
      break;
  }
  COVEY_CHECK(false, encoding);
}

template <typename Function>
void ForRuns(std::size_t n, const Function& function) {
  for (std::size_t begin = 0; begin < n; begin += kRun) function(begin, std::min(kRun, n - begin));
}

// The reply is float32, or one of the formats that hold every element.
void PullDense(Coded<ByteView> q, float gamma, VectorView x, Coded<MutableByteView> reply,
               float own) {
  alignas(kAlignment) Run values;
  ForRuns(x.size(), [&](std::size_t begin, std::size_t n) {
    float* at = x.data() + begin;
    DecodeRun(q.encoding, q.bytes, begin, n, values.data(), x.size());
    Difference(values.data(), gamma, at, n, values.data());
    EncodeRun(reply.encoding, values.data(), begin, n, reply.bytes, x.size());
    DecodeRun(reply.encoding, reply.bytes, begin, n, values.data(), x.size());
    if (own != 1) std::for_each_n(values.data(), n, [own](float& value) { value *= own; });
    Add(values.data(), n, at);
  });
}

void PullTopK(Coded<ByteView> q, float gamma, VectorView x, MutableByteView reply, float own) {
  const auto difference = [&](std::size_t begin, std::size_t n, float* out) {
    DecodeRun(q.encoding, q.bytes, begin, n, out, x.size());
    Difference(out, gamma, x.data() + begin, n, out);
  };
  top_k::Write(x.size(), kRun, std::cref(difference), reply);
  top_k::ForEach(x.size(), reply, [&](std::size_t i, float value) { x[i] += own * value; });
}

bool Int8Finite(ByteView bytes, std::size_t n) {
  // 127 times a scale below 2^57 is below 2^64; a sign would be a second way to write a number.
  const auto* scales = At<float>(bytes);
  return std::all_of(scales, scales + Int8Blocks(n),
                     [](float scale) { return scale >= 0 && scale < 0x1p57f; });
}

}  // namespace

bool IsKnown(Encoding encoding) { return static_cast<std::uint8_t>(encoding) < kEncodings; }

bool FitsWeights(Encoding encoding) { return IsKnown(encoding) && encoding != Encoding::kTopK; }

std::string_view Name(Encoding encoding) {
  return IsKnown(encoding) ? kNames[static_cast<std::size_t>(encoding)] : "unknown";
}

EncodingSet EncodingSet::FromBits(std::uint32_t bits) {
  EncodingSet set;
  set.bits_ |= bits & ((1U << kEncodings) - 1);
  return set;
}

bool EncodingSet::contains(Encoding encoding) const {
  return IsKnown(encoding) && (bits_ >> static_cast<std::uint8_t>(encoding) & 1U) != 0;
}

std::size_t EncodedSize(Encoding encoding, std::size_t n) {
  switch (encoding) {
    case Encoding::kFloat32:
      return n * sizeof(float);
    case Encoding::kFloat16:
    case Encoding::kBfloat16:
      return n * sizeof(std::uint16_t);
    case Encoding::kInt8:
      return Int8Blocks(n) * sizeof(float) + n;
    case Encoding::kTopK:
      return top_k::Size(n);
  }
  COVEY_CHECK(false, encoding);
  return 0;
}

void Encode(Encoding encoding, ConstVectorView x, MutableByteView out) {
  CheckCoded(encoding, out, x.size());
  if (encoding == Encoding::kTopK) {
    const auto copy = [&](std::size_t begin, std::size_t n, float* to) {
      std::memcpy(to, x.data() + begin, n * sizeof(float));
    };
    return top_k::Write(x.size(), kRun, std::cref(copy), out);
  }
  ForRuns(x.size(), [&](std::size_t begin, std::size_t n) {
    EncodeRun(encoding, x.data() + begin, begin, n, out, x.size());
  });
}

void Decode(Encoding encoding, ByteView bytes, VectorView x) {
  CheckCoded(encoding, bytes, x.size());
  if (encoding == Encoding::kTopK) {
    std::fill(x.begin(), x.end(), 0.0f);
    return top_k::ForEach(x.size(), bytes, [&](std::size_t i, float value) { x[i] = value; });
  }
  ForRuns(x.size(), [&](std::size_t begin, std::size_t n) {
    DecodeRun(encoding, bytes, begin, n, x.data() + begin, x.size());
  });
}

void Pull(Coded<ByteView> q, float gamma, VectorView x, Coded<MutableByteView> reply, float own) {
  CheckCoded(q.encoding, q.bytes, x.size());
  CheckCoded(reply.encoding, reply.bytes, x.size());
  COVEY_CHECK(FitsWeights(q.encoding), q.encoding);
  if (reply.encoding == Encoding::kTopK) return PullTopK(q, gamma, x, reply.bytes, own);
  if (q.encoding == Encoding::kFloat32 && reply.encoding == Encoding::kFloat32 && own == 1) {
    return PullFloats(At<float>(q.bytes), gamma, x.size(), x.data(), At<float>(reply.bytes));
  }
  PullDense(q, gamma, x, reply, own);
}

void Subtract(Encoding encoding, ByteView d, VectorView x) {
  CheckCoded(encoding, d, x.size());
  if (encoding == Encoding::kFloat32) {
    return SubtractFloats(At<float>(d), x.size(), x.data());
  }
  if (encoding == Encoding::kTopK) {
    return top_k::ForEach(x.size(), d, [&](std::size_t i, float value) { x[i] -= value; });
  }
  alignas(kAlignment) Run values;
  ForRuns(x.size(), [&](std::size_t begin, std::size_t n) {
    DecodeRun(encoding, d, begin, n, values.data(), x.size());
    SubtractFloats(values.data(), n, x.data() + begin);
  });
}

double SquaredDistance(Coded<ByteView> q, ConstVectorView x) {
  CheckCoded(q.encoding, q.bytes, x.size());
  COVEY_CHECK(FitsWeights(q.encoding), q.encoding);
  if (q.encoding == Encoding::kFloat32) {
    return SquaredDistance(ConstVectorView(At<float>(q.bytes), x.size()), x);
  }
  double sum = 0;
  alignas(kAlignment) Run values;
  ForRuns(x.size(), [&](std::size_t begin, std::size_t n) {
    DecodeRun(q.encoding, q.bytes, begin, n, values.data(), x.size());
    sum += SquaredDistance(ConstVectorView(values.data(), n), x.subspan(begin, n));
  });
  return sum;
}

double SquaredNorm(Coded<ByteView> d, std::size_t n) {
  CheckCoded(d.encoding, d.bytes, n);
  if (d.encoding == Encoding::kFloat32) return SquaredNorm(ConstVectorView(At<float>(d.bytes), n));
  double sum = 0;
  if (d.encoding == Encoding::kTopK) {
    top_k::ForEach(n, d.bytes,
                   [&](std::size_t, float value) { sum += double{value} * double{value}; });
    return sum;
  }
  alignas(kAlignment) Run values;
  ForRuns(n, [&](std::size_t begin, std::size_t length) {
    DecodeRun(d.encoding, d.bytes, begin, length, values.data(), n);
    sum += SquaredNorm(ConstVectorView(values.data(), length));
  });
  return sum;
}

bool AllFinite(Encoding encoding, ByteView bytes, std::size_t n) {
  if (!IsKnown(encoding) || bytes.size() != EncodedSize(encoding, n)) return false;
  COVEY_CHECK(Aligned(bytes.data()));
  switch (encoding) {
    case Encoding::kFloat32:
      return BoundedFloats(At<float>(bytes), n);
    case Encoding::kFloat16:
      return GreatestMagnitude(At<std::uint16_t>(bytes), n) < kInfinity16;
    case Encoding::kBfloat16:
      return GreatestMagnitude(At<std::uint16_t>(bytes), n) < kTwoTo64Bfloat16;
    case Encoding::kInt8:
      return Int8Finite(bytes, n);
    case Encoding::kTopK:
      return top_k::IsWhole(n, bytes);
  }
  return false;
}

}  // namespace covey::tensor
