// Models as safetensors files, which every machine-learning framework reads.
//
// Format: N u64 little-endian | N bytes of JSON, padded with spaces to a multiple of 8 | float32
//   values, little-endian. Names are those of the Layout ("dense1.weight", row-major [out, in]), so
//   PyTorch's load_state_dict takes them.
// Source: the format description and reader of the safetensors project.
// Where we differ: only F32 tensors and finite values are read.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "covey/base/bytes.h"
#include "covey/base/result.h"
#include "covey/store/file_system.h"
#include "covey/tensor/flat_vector.h"

namespace covey::store {

using Metadata = std::map<std::string, std::string>;

struct Tensors {
  tensor::Layout layout;  // in the order of the data
  tensor::FlatVector values;
  Metadata metadata;
};

inline constexpr ByteCount kMaxSafetensorsHeader{100'000'000};  // the format's own limit

// Requires: values.size() == layout.size(); names distinct, none of them "__metadata__".
AlignedBuffer EncodeSafetensors(const tensor::Layout& layout, tensor::ConstVectorView values,
                                const Metadata& metadata);

// Errors: as WriteAtomically, by which it is written.
Status WriteSafetensors(const std::string& path, const tensor::Layout& layout,
                        tensor::ConstVectorView values, const Metadata& metadata,
                        FileSystem& files = RealFileSystem());

// Errors: kData: header length above the limit or the file, not JSON, a name twice, unknown key,
// not F32,
//   a shape that overflows or does not match its data_offsets, holes, overlaps, bytes left over, a
//   value that is not finite.
Result<Tensors> DecodeSafetensors(ByteView bytes, const std::string& where);

// Errors: the same, and kNoInput, kNoPermission, kIo.
Result<Tensors> ReadSafetensors(const std::string& path);

}  // namespace covey::store
