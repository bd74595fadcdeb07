// Copies of IDX files as the kernels read them, made once and shared by all processes of a machine:
// unpacked, and values of several bytes in the machine's order (convert.h).
//
// Name: <cache folder>/<32 hex digits>.idx, a hash of the absolute path, size and time of change of
//   the source and of the element that its values become. A copy is used when its header is the one
//   that it must have and its size is what that header says.
#pragma once

#include <functional>
#include <string>

#include "covey/base/result.h"
#include "covey/tensor/rows.h"
#include "data/gunzip.h"
#include "data/idx.h"
#include "data/input_file.h"

namespace covey::data {

// A file whose values can't be mapped as they are.
struct CacheSource {
  const InputFile& file;
  const std::string& path;
  bool gzipped = false;
  IdxHeader header;  // of the unpacked file
};

// Opens the copy of `source` with values of `element`, after making it when there is none or a bad
// one.
// Errors: those of GunzipIdx and Converting; kData when the copy would be above kMaxUnpackedBytes;
// kCantCreate, kNoPermission, kIo for the cache.
Result<InputFile> OpenCopy(const CacheSource& source, tensor::Element element,
                           const std::string& cache_folder);

// A file in a cache folder.
struct CachePlace {
  const std::string& folder;
  const std::string& name;  // ends with .idx
};

// Calls open_good, which opens the file if it is there and good; otherwise makes it: `fill` writes
// to a descriptor of a new temporary file with this path, which then takes its place, and open_good
// is called again. Processes that need one file at once wait for one another.
// Errors: those of fill; kCantCreate, kNoPermission, kIo for the cache.
Status MakeInCache(const CachePlace& place, const std::function<bool()>& open_good,
                   const std::function<Status(int, const std::string&)>& fill);

// Errors: kNoPermission, kCantCreate, kIo by errno. path: for messages.
Status WriteAll(int file, ByteView bytes, const std::string& path);

// Returns: what reads the file from its start.
ReadBytes ReaderOf(const InputFile& file, const std::string& path);

}  // namespace covey::data
