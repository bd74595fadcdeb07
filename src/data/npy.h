// The header of an NPY file, the format of numpy.save: magic, version, length, and a dictionary of
// Python such as {'descr': '<f4', 'fortran_order': False, 'shape': (100, 28, 28), }.
// Source: NEP 1, "A Simple File Format for NumPy Arrays", versions 1.0 to 3.0.
// Where we differ: only numbers; C order; one to kMaxIdxDimensions dimensions, none of them 0.
#pragma once

#include <string>

#include "covey/base/bytes.h"
#include "covey/base/result.h"
#include "data/idx.h"
#include "data/input_file.h"

namespace covey::data {

inline constexpr std::size_t kMaxNpyHeaderBytes = std::size_t{64} << 10;

// Returns whether a file that starts so is NPY.
bool IsNpy(ByteView start);

// `bytes` is the start of the file: kMaxNpyHeaderBytes of it or, if it is shorter, all.
// Errors: kData with `where` and the offset: another version, a header that is cut, too long or not
// understood, type, order, dimensions, sizes whose product overflows.
Result<IdxHeader> ParseNpyHeader(ByteView bytes, const std::string& where);

// Opens one array of an NPZ file (a zip of NPY files, stored or deflated), unpacked into the cache.
// Errors: as OpenInput; kData: not a zip file, no such array (names those that there are), damaged,
//   encrypted, packed in another way, empty, longer than it says, of 4 GiB or more; those of the
//   cache.
Result<InputFile> OpenNpzArray(const std::string& path, const std::string& array,
                               const std::string& cache_folder);

}  // namespace covey::data
