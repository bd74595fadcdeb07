// Brings a layer's input into the two orders that the dense kernels read: [feature][sample] for the
// forward pass and [sample][feature] for the weight gradient. Compiled once for each level.
#if defined(COVEY_TENSOR_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef COVEY_TENSOR_PACK_INL_H_
#undef COVEY_TENSOR_PACK_INL_H_
#else
#define COVEY_TENSOR_PACK_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "covey/tensor/dense.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;

// Samples and features of one block that is transposed in registers.
constexpr std::size_t kBlock = 16;

// value = byte * scale + offset for `count` bytes, a multiple of kBlock (of the lanes of every
// level).
HWY_INLINE void ConvertBytes(const std::uint8_t* HWY_RESTRICT bytes, std::size_t count, VF scale,
                             VF offset, float* HWY_RESTRICT out) {
  const DF df;
  const hn::RebindToSigned<DF> di;
  const hn::Rebind<std::uint8_t, DF> db;
  const std::size_t lanes = hn::Lanes(df);
  for (std::size_t i = 0; i < count; i += lanes) {
    const auto value = hn::ConvertTo(df, hn::PromoteTo(di, hn::LoadU(db, bytes + i)));
    hn::StoreU(hn::MulAdd(value, scale, offset), df, out + i);
  }
}

// out[k][b] = block[b][k] for 16 x 16 bytes; out 16-byte aligned.
HWY_INLINE void TransposeBytes(const std::uint8_t* const* rows, std::size_t first,
                               std::uint8_t* HWY_RESTRICT out) {
#if HWY_TARGET == HWY_SCALAR
  for (std::size_t b = 0; b < kBlock; ++b) {
    for (std::size_t k = 0; k < kBlock; ++k) out[k * kBlock + b] = rows[b][first + k];
  }
#else
  // Four times the same shuffle: vectors i and i + 8 are interleaved into 2 i and 2 i + 1.
  const hn::FixedTag<std::uint8_t, kBlock> d;
  hn::Vec<decltype(d)> a[kBlock];
  hn::Vec<decltype(d)> b[kBlock];
  for (std::size_t i = 0; i < kBlock; ++i) a[i] = hn::LoadU(d, rows[i] + first);
  for (std::size_t i = 0; i < kBlock / 2; ++i) {
    b[2 * i] = hn::InterleaveLower(d, a[i], a[i + 8]);
    b[2 * i + 1] = hn::InterleaveUpper(d, a[i], a[i + 8]);
  }
  for (std::size_t i = 0; i < kBlock / 2; ++i) {
    a[2 * i] = hn::InterleaveLower(d, b[i], b[i + 8]);
    a[2 * i + 1] = hn::InterleaveUpper(d, b[i], b[i + 8]);
  }
  for (std::size_t i = 0; i < kBlock / 2; ++i) {
    b[2 * i] = hn::InterleaveLower(d, a[i], a[i + 8]);
    b[2 * i + 1] = hn::InterleaveUpper(d, a[i], a[i + 8]);
  }
  for (std::size_t i = 0; i < kBlock / 2; ++i) {
    hn::StoreU(hn::InterleaveLower(d, b[i], b[i + 8]), d, out + 2 * i * kBlock);
    hn::StoreU(hn::InterleaveUpper(d, b[i], b[i + 8]), d, out + (2 * i + 1) * kBlock);
  }
#endif
}

// Copies the last, short block of 16 rows behind zeros, because rows end where the mapping may end.
HWY_INLINE void CopyTail(const std::uint8_t* const* rows, std::size_t first, std::size_t count,
                         std::uint8_t (*copy)[kBlock], const std::uint8_t** copies) {
  for (std::size_t b = 0; b < kBlock; ++b) {
    std::memset(copy[b], 0, kBlock);
    std::memcpy(copy[b], rows[b] + first, count);
    copies[b] = copy[b];
  }
}

// out[k][b] = value of byte first + k of rows[b], for `count` features and `columns` samples (a
// multiple of 16).
// Shapes: out [count rounded up to 16][columns].
inline void PackBytesByFeature(const std::uint8_t* const* rows, std::size_t first,
                               std::size_t count, std::size_t columns, float scale, float offset,
                               float* HWY_RESTRICT out) {
  const DF df;
  const auto vscale = hn::Set(df, scale);
  const auto voffset = hn::Set(df, offset);
  HWY_ALIGN std::uint8_t transposed[kBlock * kBlock];
  std::uint8_t copy[kBlock][kBlock];
  const std::uint8_t* copies[kBlock];
  for (std::size_t k = 0; k < count; k += kBlock) {
    for (std::size_t b = 0; b < columns; b += kBlock) {
      if (count - k >= kBlock) {
        TransposeBytes(rows + b, first + k, transposed);
      } else {
        CopyTail(rows + b, first + k, count - k, copy, copies);
        TransposeBytes(copies, 0, transposed);
      }
      for (std::size_t i = 0; i < kBlock; ++i) {
        ConvertBytes(transposed + i * kBlock, kBlock, vscale, voffset, out + (k + i) * columns + b);
      }
    }
  }
}

// out[b][k] = value of byte first + k of rows[b], for `count` features; then rubbish up to
// `stride`.
// Shapes: out [batch][stride], stride a multiple of 16.
inline void PackBytesBySample(const std::uint8_t* const* rows, std::size_t first, std::size_t count,
                              std::size_t batch, float scale, float offset, std::size_t stride,
                              float* HWY_RESTRICT out) {
  const DF df;
  const auto vscale = hn::Set(df, scale);
  const auto voffset = hn::Set(df, offset);
  const std::size_t whole = count / kBlock * kBlock;
  for (std::size_t b = 0; b < batch; ++b) {
    ConvertBytes(rows[b] + first, whole, vscale, voffset, out + b * stride);
    if (whole == count) continue;
    HWY_ALIGN std::uint8_t tail[kBlock] = {};
    std::memcpy(tail, rows[b] + first + whole, count - whole);
    ConvertBytes(tail, kBlock, vscale, voffset, out + b * stride + whole);
  }
}

// out[b][k] = in[first + k][b]; rows of `in` are `columns` long (a multiple of 4).
// Shapes: out [columns][stride]; features from `count` up to a multiple of 4 become zero.
inline void PackActivationsBySample(const float* HWY_RESTRICT in, std::size_t first,
                                    std::size_t count, std::size_t columns, std::size_t stride,
                                    float* HWY_RESTRICT out) {
#if HWY_TARGET == HWY_SCALAR
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t b = 0; b < columns; ++b) out[b * stride + k] = in[(first + k) * columns + b];
  }
#else
  const hn::FixedTag<float, 4> d4;
  const hn::RepartitionToWide<decltype(d4)> d2;  // pairs of floats move as one double
  for (std::size_t k = 0; k < count; k += 4) {
    for (std::size_t b = 0; b < columns; b += 4) {
      hn::Vec<decltype(d4)> r[4];
      for (std::size_t i = 0; i < 4; ++i) {
        r[i] = k + i < count ? hn::LoadU(d4, in + (first + k + i) * columns + b) : hn::Zero(d4);
      }
      const auto a = hn::BitCast(d2, hn::InterleaveLower(d4, r[0], r[1]));
      const auto c = hn::BitCast(d2, hn::InterleaveLower(d4, r[2], r[3]));
      const auto e = hn::BitCast(d2, hn::InterleaveUpper(d4, r[0], r[1]));
      const auto f = hn::BitCast(d2, hn::InterleaveUpper(d4, r[2], r[3]));
      float* to = out + b * stride + k;
      hn::StoreU(hn::BitCast(d4, hn::InterleaveLower(d2, a, c)), d4, to);
      hn::StoreU(hn::BitCast(d4, hn::InterleaveUpper(d2, a, c)), d4, to + stride);
      hn::StoreU(hn::BitCast(d4, hn::InterleaveLower(d2, e, f)), d4, to + 2 * stride);
      hn::StoreU(hn::BitCast(d4, hn::InterleaveUpper(d2, e, f)), d4, to + 3 * stride);
    }
  }
#endif
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
