// Unpacked copies of gzipped IDX files, made once and shared by all processes of a machine.
//
// Name: <cache folder>/<32 hex digits>.idx, a hash of the absolute path, size and time of change of
//   the source. A copy is used when its header equals the one inside the source and its size is
//   what that header says.
#pragma once

#include <string>

#include "covey/base/result.h"
#include "data/input_file.h"

namespace covey::data {

// Opens the unpacked copy of `source` (a gzip file at `path`), after making it when there is none
// or a bad one.
// Errors: those of GunzipIdx; kCantCreate, kNoPermission, kIo for the cache.
Result<InputFile> OpenUnpacked(const InputFile& source, const std::string& path,
                               const std::string& cache_folder);

}  // namespace covey::data
