#include "covey/store/journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "covey/base/check.h"
#include "store/system_error.h"

namespace covey::store {
namespace {

constexpr std::size_t kJournalHead = 16;
constexpr std::size_t kRecordHead = 8;
constexpr std::uint32_t kJournalVersion = 1;

std::vector<std::byte> JournalHead(std::uint64_t form) {
  std::vector<std::byte> head(kJournalHead);
  std::memcpy(head.data(), "CVYJ", 4);
  StoreLittle(head.data() + 4, kJournalVersion);
  StoreLittle(head.data() + 8, form);
  return head;
}

Status WriteWhole(FileSystem& files, int file, const std::string& path, ByteView bytes) {
  while (!bytes.empty()) {
    const std::ptrdiff_t done = files.Write(file, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return SystemError(path, "can't be written", done < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return {};
}

// Reads until the buffer is full or the file ends.
Result<std::size_t> ReadWhole(FileSystem& files, int file, const std::string& path,
                              MutableByteView buffer) {
  std::size_t done = 0;
  while (done < buffer.size()) {
    const std::ptrdiff_t got = files.Read(file, buffer.data() + done, buffer.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError(path, "can't be read", errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Status SyncFolderOf(const std::string& path, FileSystem& files) {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  const int descriptor =
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return SystemError(folder, "can't be opened", errno);
  const int synced = files.SyncFolder(descriptor);
  const int cause = errno;
  ::close(descriptor);
  return synced == 0 ? Status() : SystemError(folder, "can't be synced", cause);
}

}  // namespace

Journal::Journal(Journal&& other) noexcept
    : path_(std::move(other.path_)),
      form_(other.form_),
      files_(other.files_),
      file_(std::exchange(other.file_, -1)),
      size_(other.size_),
      lost_(other.lost_),
      broken_(other.broken_) {}

Journal& Journal::operator=(Journal&& other) noexcept {
  if (this == &other) return *this;
  Close();
  path_ = std::move(other.path_);
  form_ = other.form_;
  files_ = other.files_;
  file_ = std::exchange(other.file_, -1);
  size_ = other.size_;
  lost_ = other.lost_;
  broken_ = other.broken_;
  return *this;
}

Journal::~Journal() { Close(); }

void Journal::Close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

Status Journal::WriteRecord(FileSystem& files, int file, const std::string& path, ByteView record) {
  COVEY_CHECK(record.size() <= kMaxRecord, record.size());
  std::vector<std::byte> bytes(kRecordHead + record.size());
  StoreLittle(bytes.data(), static_cast<std::uint32_t>(record.size()));
  StoreLittle(bytes.data() + 4, Crc32c(record));
  std::memcpy(bytes.data() + kRecordHead, record.data(), record.size());
  return WriteWhole(files, file, path, bytes);
}

Status Journal::Create(const std::string& path, int& file) const {
  file = files_->Create(path.c_str(), 0600);
  if (file < 0) return SystemError(path, "can't be created", errno);
  return WriteWhole(*files_, file, path, JournalHead(form_));
}

Result<Journal> Journal::Open(const std::string& path, std::uint64_t form, const Take& take,
                              FileSystem& files) {
  Journal journal(path, form, files);
  ::unlink((path + ".new").c_str());  // of a rewriting that was cut short
  journal.file_ = ::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
  if (journal.file_ < 0 && errno != ENOENT) return SystemError(path, "can't be opened", errno);
  if (journal.file_ < 0) {
    Status made = journal.Rewrite([](const Put&) { return Status(); });
    if (!made) return tl::unexpected(made.error());
    return journal;
  }
  if (Status read = journal.Read(take); !read) return tl::unexpected(read.error());
  return journal;
}

Status Journal::Read(const Take& take) {
  std::vector<std::byte> head(kJournalHead);
  const auto got = ReadWhole(*files_, file_, path_, head);
  if (!got) return tl::unexpected(got.error());
  if (*got < kJournalHead || std::memcmp(head.data(), "CVYJ", 4) != 0) {
    return Fail(ErrorCode::kData, path_, "is no journal of samples", "move it aside");
  }
  const auto version = LoadLittle<std::uint32_t>(head.data() + 4);
  if (version != kJournalVersion || LoadLittle<std::uint64_t>(head.data() + 8) != form_) {
    return Fail(ErrorCode::kProtocol, path_,
                version != kJournalVersion ? "was written by another version"
                                           : "holds samples for another model or other columns",
                "move it aside to begin without them");
  }
  size_ = kJournalHead;
  std::vector<std::byte> record;
  while (true) {
    std::byte record_head[kRecordHead];
    const auto begun = ReadWhole(*files_, file_, path_, record_head);
    if (!begun) return tl::unexpected(begun.error());
    if (*begun < kRecordHead) break;
    const auto length = LoadLittle<std::uint32_t>(record_head);
    if (length > kMaxRecord) break;
    record.resize(length);
    const auto whole = ReadWhole(*files_, file_, path_, record);
    if (!whole) return tl::unexpected(whole.error());
    if (*whole < length || Crc32c(record) != LoadLittle<std::uint32_t>(record_head + 4)) break;
    if (Status taken = take(record); !taken) return taken;
    size_ += kRecordHead + length;
  }
  struct stat info {};
  if (::fstat(file_, &info) != 0) return SystemError(path_, "can't be examined", errno);
  const auto all = static_cast<std::uint64_t>(info.st_size);
  if (all == size_) return {};
  lost_ = all - size_;
  if (::ftruncate(file_, static_cast<::off_t>(size_)) != 0) {
    return SystemError(path_, "can't be shortened", errno);
  }
  return {};
}

Status Journal::Append(ByteView record) {
  if (broken_) {
    return Fail(ErrorCode::kIo, path_, "takes no more samples: an earlier write failed",
                "look at the disk, then restart the node");
  }
  if (Status written = WriteRecord(*files_, file_, path_, record); !written) {
    broken_ = ::ftruncate(file_, static_cast<::off_t>(size_)) != 0;
    return written;
  }
  // Once and never again: the kernel may have dropped the pages, and a second call would succeed.
  if (files_->Sync(file_) != 0) {
    broken_ = true;
    return SystemError(path_, "can't be synced", errno);
  }
  size_ += kRecordHead + record.size();
  return {};
}

Status Journal::Rewrite(const std::function<Status(const Put& put)>& write) {
  const std::string temporary = path_ + ".new";
  int file = -1;
  std::uint64_t size = kJournalHead;
  Status status = Create(temporary, file);
  if (status) {
    status = write([&](ByteView record) {
      size += kRecordHead + record.size();
      return WriteRecord(*files_, file, temporary, record);
    });
  }
  if (status && files_->Sync(file) != 0) status = SystemError(temporary, "can't be synced", errno);
  if (file >= 0) ::close(file);
  if (status && files_->Rename(temporary.c_str(), path_.c_str()) != 0) {
    status = SystemError(path_, "can't be renamed to its place", errno);
  }
  if (!status) {
    ::unlink(temporary.c_str());
    return status;
  }
  // From here on the old file has no name: appending to it would lose what is acknowledged.
  Close();
  size_ = size;
  file_ = ::open(path_.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
  broken_ = file_ < 0;
  if (broken_) return SystemError(path_, "can't be opened", errno);
  Status synced = SyncFolderOf(path_, *files_);
  broken_ = !synced;
  return synced;
}

}  // namespace covey::store
