// A file for readers that open files, in a folder of the process that goes with it. It lies where
// temporary files do: TMPDIR=/dev/shm makes fuzzing ten times as fast.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "covey/base/bytes.h"
#include "covey/base/check.h"
#include "covey/data/dataset.h"
#include "support/temporary_folder.h"

namespace covey::fuzz {

class OneFile {
 public:
  // name: of the file, with what its format is told by.
  explicit OneFile(const std::string& name) : path_(folder_ / name) {}

  // Returns: the path of the file, which holds `bytes` now; nothing of it is in the cache.
  const std::string& Write(ByteView bytes) const {
    std::filesystem::remove_all(cache());
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    COVEY_CHECK(file.good());
    return path_;
  }
  std::string cache() const { return folder_ / "cache"; }

 private:
  test::TemporaryFolder folder_;
  std::string path_;
};

inline ByteView BytesOf(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const std::byte*>(data), size};
}

// What is refused names where and what; what is accepted has samples, and labels of its classes.
inline void CheckOpened(const Result<data::Dataset>& set) {
  if (!set) {
    const ErrorCode code = set.error().code;
    COVEY_CHECK(code == ErrorCode::kData || code == ErrorCode::kConfig, set.error().what);
    COVEY_CHECK(!set.error().what.empty() && !set.error().where.empty());
    return;
  }
  COVEY_CHECK(set->size() > 0 && set->features() > 0);
  for (const std::uint32_t label : set->labels()) COVEY_CHECK(label < set->classes());
  // Touches all that was mapped.
  const std::uint8_t* last = set->row(set->size() - 1) + set->row_bytes() - 1;
  COVEY_CHECK(*set->row(0) <= 255 && *last <= 255);
}

}  // namespace covey::fuzz
