#include "node/live_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "covey/log/log.h"
#include "covey/store/file_system.h"

namespace covey::node {
namespace {

namespace fs = std::filesystem;

constexpr ByteCount kMaxTable{std::uint64_t{256} << 20};
constexpr std::size_t kTailBytes = std::size_t{256} << 10;  // at once; also the longest line
constexpr std::size_t kMostAtOnce = 1024;                   // names of a folder

// The line at `at`, without its end. Returns: where the next one begins.
std::size_t LineAt(std::string_view text, std::size_t at, std::string_view& line) {
  const std::size_t end = std::min(text.find('\n', at), text.size());
  line = text.substr(at, end - at);
  return std::min(end + 1, text.size());
}

bool IsWaiting(const std::string& name) {
  return name.starts_with('.') || name.ends_with(".tmp") || name.ends_with(".part");
}

// The numbers of "12:34:56".
std::vector<std::uint64_t> Numbers(const std::string& text) {
  std::vector<std::uint64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    std::uint64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc()) return {};
    numbers.push_back(number);
    at = next < end ? next + 1 : next;
  }
  return numbers;
}

}  // namespace

// --- Spool ---

Spool::Spool(Intake& intake, std::string folder, bool remove)
    : intake_(intake), folder_(std::move(folder)), remove_(remove) {}

Status Spool::Prepare() {
  for (const char* const part : {"", "/bad", "/done"}) {
    if (Status made = store::MakeFolder(folder_ + part); !made) return made;
  }
  return {};
}

Status Spool::Scan() {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    std::error_code unknown;
    if (!IsWaiting(name) && !at->is_directory(unknown)) names.push_back(std::move(name));
    if (names.size() == kMostAtOnce) break;
  }
  if (error) {
    return Fail(ErrorCode::kIo, folder_, "can't be listed: " + error.message());
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    if (Status taken = TakeFile(name); !taken) return taken;
  }
  return {};
}

void Spool::Quarantine(const std::string& name, const std::string& reason) {
  const std::string to = folder_ + "/bad/" + name;
  const std::string text = reason + '\n';
  const Status told = store::WriteAtomically(
      to + ".reason", {reinterpret_cast<const std::byte*>(text.data()), text.size()},
      {.mode = 0644});
  if (std::rename((folder_ + '/' + name).c_str(), to.c_str()) != 0) {
    log::WriteLimited(log::Level::kError, log::Category::kData, "spool",
                      "can't move a wrong file: " + std::generic_category().message(errno),
                      {{"file", to}});
    return;
  }
  intake_.CountQuarantined();
  log::Warning(log::Category::kData, "a file is wrong: " + reason,
               {{"file", to}, {"told", told.has_value()}});
}

Status Spool::TakeFile(const std::string& name) {
  const std::string path = folder_ + '/' + name;
  if (!name.ends_with(".csv")) {
    Quarantine(name, "is no table: its name does not end in .csv");
    return {};
  }
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};  // it has gone again
  const auto bytes = store::ReadFile(path, kMaxTable);
  if (!bytes) {
    Quarantine(name, bytes.error().Format());
    return {};
  }
  const std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  const std::string identity = name + ':' + std::to_string(text.size()) + ':' +
                               std::to_string(info.st_mtim.tv_sec) + ':' +
                               std::to_string(info.st_mtim.tv_nsec) + ':';
  const std::string mark = intake_.Mark("spool");
  std::size_t done = 0;
  if (mark.starts_with(identity)) {
    const std::vector<std::uint64_t> numbers = Numbers(mark.substr(identity.size()));
    if (numbers.size() == 1) done = static_cast<std::size_t>(numbers[0]);
  } else {
    const auto wrong = CheckRows(text);
    if (!wrong) {
      Quarantine(name, wrong.error().Format());
      return {};
    }
  }
  if (Status added = AddRows(text, identity, done); !added) return added;
  if (remove_) {
    ::unlink(path.c_str());
  } else if (std::rename(path.c_str(), (folder_ + "/done/" + name).c_str()) != 0) {
    return Fail(ErrorCode::kIo, path, "can't be moved: " + std::generic_category().message(errno));
  }
  return {};
}

// Errors: the first row that is wrong.
Result<std::string> Spool::CheckRows(const std::string& text) const {
  std::optional<data::LiveRows> rows;
  std::size_t samples = 0;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::string_view line;
    at = LineAt(text, at, line);
    ++number;
    if (data::IsBlank(line)) continue;
    if (!rows) {
      auto started = data::LiveRows::Start(line, intake_.form());
      if (!started) return tl::unexpected(started.error());
      rows.emplace(std::move(*started));
      if (rows->header()) continue;
    }
    const auto sample = rows->Parse(line);
    const Status good = sample ? intake_.Check(*sample) : tl::unexpected(sample.error());
    if (!good) {
      Error error = good.error();
      error.where = "line " + std::to_string(number) + ": " + error.where;
      return tl::unexpected(std::move(error));
    }
    ++samples;
  }
  if (samples == 0) return Fail(ErrorCode::kData, "table", "no row in it");
  return std::to_string(samples);
}

Status Spool::AddRows(const std::string& text, const std::string& identity, std::size_t done) {
  std::optional<data::LiveRows> rows;
  LiveBatch batch;
  for (std::size_t at = 0; at < text.size();) {
    std::string_view line;
    const std::size_t begin = at;
    at = LineAt(text, at, line);
    if (!data::IsBlank(line)) {
      const bool first = !rows;
      if (first) {
        auto started = data::LiveRows::Start(line, intake_.form());
        if (!started) return {};
        rows.emplace(std::move(*started));
      }
      if (begin >= done && !(first && rows->header())) {
        const auto sample = rows->Parse(line);
        if (sample && intake_.Check(*sample)) batch.Add(*sample);
      }
    }
    const bool full = batch.values.size() * sizeof(float) >= Intake::kBatchBytes;
    if (batch.size() == 0 || (!full && at < text.size())) continue;
    Status kept = intake_.Commit(batch, "spool", identity + std::to_string(at));
    if (!kept) return kept;
    batch.Clear();
  }
  return {};
}

// --- Tail ---

Tail::Tail(Intake& intake, std::string path) : intake_(intake), path_(std::move(path)) {
  const std::vector<std::uint64_t> mark = Numbers(intake_.Mark("csv"));
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
