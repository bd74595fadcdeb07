// What was accepted, on the disk before anybody is told so: records that are appended, and found
// again after a crash.
//
// Grammar (little-endian):
//   file    = "CVYJ" u32:version=1 u64:form record*
//   record  = u32:length u32:crc32c(payload) payload      length at most kMaxRecord
// A record counts once it is whole; a torn one at the end is cut off when the file is opened. Bytes
// behind a damaged record are not read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "covey/base/bytes.h"
#include "covey/base/result.h"
#include "covey/store/file_system.h"

namespace covey::store {

class Journal {
 public:
  static constexpr std::size_t kMaxRecord = std::size_t{16} << 20;
  using Take = std::function<Status(ByteView record)>;

  // Opens the journal at `path`, or makes it (its folder exists), and calls take for each record.
  // form: of what is inside; another one is refused.
  // Errors: kProtocol: another form or version (says to move the file); kData: no journal;
  //   kCantCreate, kNoPermission, kIo; what `take` returns.
  // Cost: one pass over the file.
  static Result<Journal> Open(const std::string& path, std::uint64_t form, const Take& take,
                              FileSystem& files = RealFileSystem());
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&& other) noexcept;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  // Returns when the record is on the disk.
  // Errors: kIo; the file is as before then, or, when that can't be brought about or the disk did
  //   not confirm, this and all later calls fail.
  // Requires: record.size() <= kMaxRecord.
  Status Append(ByteView record);

  // Replaces the content by the records that `write` puts; at any moment, also across a power cut,
  // the old or the new content is there.
  // Errors: as Append; the old content stays.
  using Put = std::function<Status(ByteView record)>;
  Status Rewrite(const std::function<Status(const Put& put)>& write);

  std::uint64_t bytes() const { return size_; }
  // Bytes that were cut off or not read when it was opened.
  std::uint64_t lost() const { return lost_; }

 private:
  Journal(std::string path, std::uint64_t form, FileSystem& files)
      : path_(std::move(path)), form_(form), files_(&files) {}
  Status Read(const Take& take);
  Status Create(const std::string& path, int& file) const;
  static Status WriteRecord(FileSystem& files, int file, const std::string& path, ByteView record);
  void Close();

  std::string path_;
  std::uint64_t form_;
  FileSystem* files_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t lost_ = 0;
  bool broken_ = false;
};

}  // namespace covey::store
