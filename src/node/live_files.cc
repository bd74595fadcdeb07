#include "node/live_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "covey/log/log.h"
#include "node/live_text.h"

namespace covey::node {
namespace {

constexpr std::size_t kTailBytes = std::size_t{256} << 10;  // at once; also the longest line

}  // namespace

Tail::Tail(Intake& intake, std::string path) : intake_(intake), path_(std::move(path)) {
  const std::vector<std::uint64_t> mark = NumbersOf(intake_.Mark("csv"));
  if (mark.size() != 3) return;
  OpenAt(mark[0], mark[1]);
  if (file_ < 0 || device_ != mark[0] || inode_ != mark[1]) return;
  std::string start(kTailBytes, '\0');
  const ::ssize_t got = ::pread(file_, start.data(), start.size(), 0);
  start.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  std::string_view line;
  for (std::size_t at = 0; at < start.size() && !rows_;) {
    at = LineAt(start, at, line);
    if (data::IsBlank(line)) continue;
    auto started = data::LiveRows::Start(line, intake_.form());
    if (!started) return;
    rows_.emplace(std::move(*started));
    offset_ = mark[2];
  }
}

Tail::~Tail() { Close(); }

void Tail::Close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

void Tail::Forget() {
  offset_ = 0;
  rows_.reset();
  refused_ = false;
}

// Opens the file that has the name now; another one than `device`, `inode` is a fresh one.
void Tail::OpenAt(std::uint64_t device, std::uint64_t inode) {
  Close();
  // A FIFO would wait for a writer.
  file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat info {};
  if (file_ >= 0 && (::fstat(file_, &info) != 0 || !S_ISREG(info.st_mode))) Close();
  if (file_ < 0) return;
  device_ = info.st_dev;
  inode_ = info.st_ino;
  if (device_ != device || inode_ != inode) Forget();
}

Status Tail::Poll() {
  if (file_ < 0) OpenAt(device_, inode_);
  while (file_ >= 0) {
    Result<bool> more = ReadSome();
    while (more && *more) more = ReadSome();
    if (!more) return tl::unexpected(more.error());
    struct stat named {};
    if (::stat(path_.c_str(), &named) != 0) return {};  // between two files
    if (named.st_dev == device_ && named.st_ino == inode_) return {};
    OpenAt(device_, inode_);
  }
  return {};
}

Result<bool> Tail::ReadSome() {
  struct stat info {};
  if (::fstat(file_, &info) != 0) return false;
  if (static_cast<std::uint64_t>(info.st_size) < offset_) Forget();
  std::string text(kTailBytes, '\0');
  const ::ssize_t got = ::pread(file_, text.data(), text.size(), static_cast<::off_t>(offset_));
  if (got <= 0) return false;
  text.resize(static_cast<std::size_t>(got));
  const std::size_t last = text.rfind('\n');
  if (last == std::string::npos) {
    if (text.size() < kTailBytes) return false;
    intake_.CountRejected(1, path_ + ": a line is longer than 256 KiB");
    offset_ += text.size();  // its end is one more wrong line
    return true;
  }
  text.resize(last + 1);
  LiveBatch batch;
  std::size_t at = 0;
  while (at < text.size() && batch.values.size() * sizeof(float) < Intake::kBatchBytes) {
    std::string_view line;
    at = LineAt(text, at, line);
    TakeLine(line, batch);
  }
  const std::uint64_t behind = offset_ + at;
  if (batch.size() > 0) {
    Status kept = intake_.Commit(
        batch, "csv",
        std::to_string(device_) + ':' + std::to_string(inode_) + ':' + std::to_string(behind));
    if (!kept) return tl::unexpected(kept.error());
  }
  offset_ = behind;
  return true;
}

bool Tail::TakeLine(std::string_view line, LiveBatch& batch) {
  if (data::IsBlank(line)) return false;
  const auto reject = [this](const Error& error) {
    intake_.CountRejected(1, path_ + ": " + error.Format());
    log::WriteLimited(log::Level::kWarning, log::Category::kData, path_,
                      "a row is rejected: " + error.Format(), {{"file", path_}});
    return false;
  };
  if (!rows_ && !refused_) {
    auto started = data::LiveRows::Start(line, intake_.form());
    refused_ = !started;
    if (!started) return reject(started.error());
    rows_.emplace(std::move(*started));
    if (rows_->header()) return false;
  }
  if (refused_) {
    intake_.CountRejected(1, path_ + ": its columns are not the node's");
    return false;
  }
  const auto sample = rows_->Parse(line);
  if (!sample) return reject(sample.error());
  if (const Status good = intake_.Check(*sample); !good) return reject(good.error());
  batch.Add(*sample);
  return true;
}

}  // namespace covey::node
