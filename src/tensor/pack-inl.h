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
#include "covey/tensor/rows.h"
#include "hwy/highway.h"
#include "tensor/numerics-inl.h"

HWY_BEFORE_NAMESPACE();
namespace covey::tensor::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;

// Samples and features of one block that is transposed in registers.
constexpr std::size_t kBlock = 16;

// The elements at `from`, which may be at any address, as floats.
template <class T>
HWY_INLINE VF LoadElements(const std::uint8_t* HWY_RESTRICT from) {
  const DF df;
  const hn::RebindToSigned<DF> di;
  const hn::Rebind<T, DF> d;
  const auto raw = hn::LoadU(d, static_cast<const T*>(static_cast<const void*>(from)));
  if constexpr (sizeof(T) == sizeof(float)) {
    return raw;
  } else {
    return hn::ConvertTo(df, hn::PromoteTo(di, raw));
  }
}

// What turns elements into values.
struct Normalisation {
  VF scale;
  VF offset;
  HWY_INLINE explicit Normalisation(const RowInput& input)
      : scale(hn::Set(DF(), input.scale)), offset(hn::Set(DF(), input.offset)) {}
};

// value = element * scale + offset for `count` elements, a multiple of kBlock (of the lanes of
// every level).
template <class N, class T>
HWY_INLINE void ConvertElements(const std::uint8_t* HWY_RESTRICT from, std::size_t count,
                                const Normalisation& by, float* HWY_RESTRICT out) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  for (std::size_t i = 0; i < count; i += lanes) {
    const VF value = LoadElements<T>(from + i * sizeof(T));
    hn::StoreU(N::MulAdd(value, by.scale, by.offset), df, out + i);
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

// out[c][r] = in[r][c] for 4 x 4 floats.
HWY_INLINE void TransposeFour(const float* HWY_RESTRICT in, std::size_t in_stride,
                              float* HWY_RESTRICT out, std::size_t out_stride) {
#if HWY_TARGET == HWY_SCALAR
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t c = 0; c < 4; ++c) out[c * out_stride + r] = in[r * in_stride + c];
  }
#else
  const hn::FixedTag<float, 4> d4;
  const hn::RepartitionToWide<decltype(d4)> d2;  // pairs of floats move as one double
  hn::Vec<decltype(d4)> r[4];
  for (std::size_t i = 0; i < 4; ++i) r[i] = hn::LoadU(d4, in + i * in_stride);
  const auto a = hn::BitCast(d2, hn::InterleaveLower(d4, r[0], r[1]));
  const auto b = hn::BitCast(d2, hn::InterleaveLower(d4, r[2], r[3]));
  const auto c = hn::BitCast(d2, hn::InterleaveUpper(d4, r[0], r[1]));
  const auto d = hn::BitCast(d2, hn::InterleaveUpper(d4, r[2], r[3]));
  hn::StoreU(hn::BitCast(d4, hn::InterleaveLower(d2, a, b)), d4, out);
  hn::StoreU(hn::BitCast(d4, hn::InterleaveUpper(d2, a, b)), d4, out + out_stride);
  hn::StoreU(hn::BitCast(d4, hn::InterleaveLower(d2, c, d)), d4, out + 2 * out_stride);
  hn::StoreU(hn::BitCast(d4, hn::InterleaveUpper(d2, c, d)), d4, out + 3 * out_stride);
#endif
}

// Sixteen rows whose last, short block was copied behind zeros, because rows end where a mapping
// may end.
template <class T>
struct Tails {
  std::uint8_t copy[kBlock][kBlock * sizeof(T)];
  const std::uint8_t* rows[kBlock];

  HWY_INLINE void Copy(const std::uint8_t* const* from, std::size_t first, std::size_t count) {
    for (std::size_t b = 0; b < kBlock; ++b) {
      std::memset(copy[b], 0, sizeof(copy[b]));
      std::memcpy(copy[b], from[b] + first * sizeof(T), count * sizeof(T));
      rows[b] = copy[b];
    }
  }
};

// out[i][b] = value of element first + i of rows[b], 16 x 16.
template <class N, class T>
HWY_INLINE void PackBlock(const std::uint8_t* const* rows, std::size_t first,
                          const Normalisation& by, float* HWY_RESTRICT out, std::size_t stride) {
  if constexpr (sizeof(T) == 1) {
    HWY_ALIGN std::uint8_t transposed[kBlock * kBlock];
    TransposeBytes(rows, first, transposed);
    for (std::size_t i = 0; i < kBlock; ++i) {
      ConvertElements<N, T>(transposed + i * kBlock, kBlock, by, out + i * stride);
    }
  } else {
    HWY_ALIGN float values[kBlock * kBlock];
    for (std::size_t b = 0; b < kBlock; ++b) {
      ConvertElements<N, T>(rows[b] + first * sizeof(T), kBlock, by, values + b * kBlock);
    }
    for (std::size_t i = 0; i < kBlock; i += 4) {
      for (std::size_t b = 0; b < kBlock; b += 4) {
        TransposeFour(values + b * kBlock + i, kBlock, out + i * stride + b, stride);
      }
    }
  }
}

// out[k][b] = value of element first + k of rows[from + b], for `count` features and `columns`
// samples (a multiple of 16).
// Shapes: out [count rounded up to 16][columns].
template <class N, class T>
void PackRowsByFeatureAs(const RowInput& input, std::size_t from, std::size_t first,
                         std::size_t count, std::size_t columns, float* HWY_RESTRICT out) {
  const Normalisation by(input);
  const std::uint8_t* const* rows = input.rows + from;
  Tails<T> tails;
  for (std::size_t k = 0; k < count; k += kBlock) {
    for (std::size_t b = 0; b < columns; b += kBlock) {
      float* to = out + k * columns + b;
      if (count - k >= kBlock) {
        PackBlock<N, T>(rows + b, first + k, by, to, columns);
      } else {
        tails.Copy(rows + b, first + k, count - k);
        PackBlock<N, T>(tails.rows, 0, by, to, columns);
      }
    }
  }
}

// out[b][k] = value of element first + k of rows[b], for `count` features; then rubbish up to
// `stride`.
// Shapes: out [batch][stride], stride a multiple of 16.
template <class N, class T>
void PackRowsBySampleAs(const RowInput& input, std::size_t first, std::size_t count,
                        std::size_t batch, std::size_t stride, float* HWY_RESTRICT out) {
  const Normalisation by(input);
  const std::size_t whole = count / kBlock * kBlock;
  for (std::size_t b = 0; b < batch; ++b) {
    const std::uint8_t* row = input.rows[b] + first * sizeof(T);
    ConvertElements<N, T>(row, whole, by, out + b * stride);
    if (whole == count) continue;
    HWY_ALIGN std::uint8_t tail[kBlock * sizeof(T)] = {};
    std::memcpy(tail, row + whole * sizeof(T), (count - whole) * sizeof(T));
    ConvertElements<N, T>(tail, kBlock, by, out + b * stride + whole);
  }
}

// Calls body(T()) with the type of the input's elements.
template <class Body>
HWY_INLINE void WithElement(Element element, Body body) {
  switch (element) {
    case Element::kUint8:
      return body(std::uint8_t());
    case Element::kInt16:
      return body(std::int16_t());
    case Element::kFloat32:
      return body(float());
  }
}

template <class N>
HWY_INLINE void PackRowsByFeature(const RowInput& input, std::size_t from, std::size_t first,
                                  std::size_t count, std::size_t columns, float* out) {
  WithElement(input.element, [&](auto type) HWY_ATTR {
    PackRowsByFeatureAs<N, decltype(type)>(input, from, first, count, columns, out);
  });
}

template <class N>
HWY_INLINE void PackRowsBySample(const RowInput& input, std::size_t first, std::size_t count,
                                 std::size_t batch, std::size_t stride, float* out) {
  WithElement(input.element, [&](auto type) HWY_ATTR {
    PackRowsBySampleAs<N, decltype(type)>(input, first, count, batch, stride, out);
  });
}

// out[b][k] = in[first + k][b]; rows of `in` are `columns` long (a multiple of 4).
// Shapes: out [columns][stride]; features from `count` up to a multiple of 4 become zero.
inline void PackActivationsBySample(const float* HWY_RESTRICT in, std::size_t first,
                                    std::size_t count, std::size_t columns, std::size_t stride,
                                    float* HWY_RESTRICT out) {
  const std::size_t whole = count / 4 * 4;
  for (std::size_t k = 0; k < whole; k += 4) {
    for (std::size_t b = 0; b < columns; b += 4) {
      TransposeFour(in + (first + k) * columns + b, columns, out + b * stride + k, stride);
    }
  }
  if (whole == count) return;
  for (std::size_t b = 0; b < columns; ++b) {
    for (std::size_t k = whole; k < whole + 4; ++k) {
      out[b * stride + k] = k < count ? in[(first + k) * columns + b] : 0.0f;
    }
  }
}

}  // namespace covey::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
