// Values of an IDX file as the kernels read them: in the machine's byte order, of one of their
// element types.
//
// Equation: the value itself, but integers above 2^24 and doubles are rounded to the nearest
// float.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "covey/base/bytes.h"
#include "covey/base/result.h"
#include "covey/tensor/rows.h"
#include "data/gunzip.h"
#include "data/idx.h"

namespace covey::data {

// What the values of a file are for.
//   kSamples  bytes stay bytes, signed bytes and 16-bit integers become int16, the rest float32
//   kLabels   uint8: whole numbers from 0 to 255
//   kTargets  float32
enum class Use : std::uint8_t { kSamples, kLabels, kTargets };

tensor::Element ElementFor(IdxType type, Use use);

// Whether a file of these values can be mapped as it is.
bool IsAsStored(IdxType type, tensor::Element element);

// Returns: the header of a copy with values of `element`: of bytes in an IDX file the header
// itself, otherwise one of the same size that starts with "CV", so that nobody takes it for IDX,
// whose values are big-endian.
std::vector<std::byte> HeaderOfCopy(const IdxHeader& header, tensor::Element element);

// Returns: size of the copy in bytes.
std::uint64_t SizeOfCopy(const IdxHeader& header, tensor::Element element);

// Returns: what takes a file's bytes in order, header first, and hands those of its copy to `take`.
// Errors: kData with the offset in the file: a value that is not finite or too large for float32; a
// label that is no whole number from 0 to 255; and what `take` returns.
// Cost: one buffer of 64 KiB.
TakeBytes Converting(const IdxHeader& header, tensor::Element element, TakeBytes take,
                     const std::string& where);

}  // namespace covey::data
