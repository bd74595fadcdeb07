// The folder of checkpoints: saving, finding, pruning.
#include "covey/store/checkpoint.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "store/checkpoint_format.h"
#include "store/system_error.h"

namespace covey::store {
namespace {

namespace fs = std::filesystem;

constexpr ByteCount kMaxFileBytes{std::uint64_t{64} << 30};
constexpr std::string_view kPrefix = "ckpt-";
constexpr std::string_view kSuffix = ".covey";
constexpr std::size_t kDigits = 20;  // of any 64-bit number, so that names sort like numbers

bool AllDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string FileName(std::uint64_t batches) {
  const std::string digits = std::to_string(batches);
  return std::string(kPrefix) + std::string(kDigits - digits.size(), '0') + digits +
         std::string(kSuffix);
}

bool IsCheckpointName(std::string_view name) {
  return name.size() == kPrefix.size() + kDigits + kSuffix.size() && name.starts_with(kPrefix) &&
         name.ends_with(kSuffix) && AllDigits(name.substr(kPrefix.size(), kDigits));
}

// "<anything>.tmp.<pid>.<number>": what WriteAtomically uses.
bool IsTemporaryName(std::string_view name) {
  const std::size_t last = name.rfind('.');
  if (last == std::string_view::npos || !AllDigits(name.substr(last + 1))) return false;
  const std::string_view rest = name.substr(0, last);
  const std::size_t before = rest.rfind('.');
  return before != std::string_view::npos && AllDigits(rest.substr(before + 1)) &&
         rest.substr(0, before).ends_with(".tmp");
}

// The names in a folder that pass a test, newest first. A missing folder has none.
Result<std::vector<std::string>> List(const std::string& folder, bool (*wanted)(std::string_view)) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator it(folder, error);
  for (const fs::directory_iterator end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (wanted(name)) names.push_back(std::move(name));
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return SystemError(folder, "can't be listed", error.value());
  }
  std::sort(names.rbegin(), names.rend());
  return names;
}

// Removes all but the newest kKeep, of those that are not newer than what was just written: a file
// from the future belongs to a history that this run left (it was damaged or of another model), and
// is not ours to judge here.
void Prune(const std::string& folder, const std::string& written) {
  const Result<std::vector<std::string>> names = List(folder, IsCheckpointName);
  if (!names) return;
  std::size_t kept = 0;
  for (const std::string& name : *names) {
    if (name > written || kept++ < kKeep) continue;
    unlink((fs::path(folder) / name).c_str());
  }
}

struct Candidate {
  std::string path;
  std::string name;
  std::uint64_t batches = 0;
};

// The batch count by the header; by the name when the header can't be read.
std::uint64_t BatchesOf(const std::string& path, const std::string& name) {
  const Result<AlignedBuffer> file = ReadFile(path, kMaxFileBytes);
  if (file) {
    const Result<std::uint64_t> batches = CheckpointBatches(file->view(), path);
    if (batches) return *batches;
  }
  std::uint64_t value = 0;
  for (const char c : name.substr(kPrefix.size(), kDigits)) {
    value = value * 10 + static_cast<std::uint64_t>(c - '0');  // may wrap: order only
  }
  return value;
}

Result<Checkpoint> ReadExpected(const std::string& path, const Expected& expected) {
  Result<Checkpoint> checkpoint = ReadCheckpoint(path);
  if (!checkpoint) return checkpoint;
  if (checkpoint->model != expected.model || checkpoint->x.size() != expected.size) {
    return Fail(ErrorCode::kProtocol, path,
                "holds another model: got " + checkpoint->model_summary + " (" +
                    std::to_string(checkpoint->x.size()) + " values, " +
                    checkpoint->model.Hex().substr(0, 8) + "), wanted " + expected.model_summary +
                    " (" + std::to_string(expected.size) + " values, " +
                    expected.model.Hex().substr(0, 8) + ")",
                "set the model back, or give this node another state_dir");
  }
  return checkpoint;
}

Error NoneUsable(const std::string& folder, const std::vector<Skipped>& skipped) {
  const Skipped& newest = skipped.front();
  Error error;
  error.code = newest.reason.code;
  for (const Skipped& file : skipped) {
    if (file.reason.code == ErrorCode::kProtocol) error.code = ErrorCode::kProtocol;
  }
  error.where = folder;
  error.what = "none of " + std::to_string(skipped.size()) +
               " checkpoints can be used; the newest, " + newest.reason.where + ": " +
               newest.reason.what;
  error.hint = newest.reason.hint.empty() ? "move them away to start from the beginning"
                                          : newest.reason.hint;
  return error;
}

}  // namespace

const NamedVector* Checkpoint::FindOptimizer(const std::string& name) const {
  for (const NamedVector& slice : optimizer) {
    if (slice.name == name) return &slice;
  }
  return nullptr;
}

std::uint64_t Checkpoint::Counter(const std::string& name, std::uint64_t otherwise) const {
  for (const auto& [key, value] : counters) {
    if (key == name) return value;
  }
  return otherwise;
}

Result<std::string> Save(const std::string& folder, const Checkpoint& checkpoint,
                         FileSystem& files) {
  const Result<AlignedBuffer> bytes = EncodeCheckpoint(checkpoint);
  if (!bytes) return tl::unexpected<Error>(bytes.error());
  if (const Status made = MakeFolder(folder); !made) return tl::unexpected<Error>(made.error());
  const std::string name = FileName(checkpoint.batches);
  const std::string path = (fs::path(folder) / name).string();
  WriteOptions options;
  options.read_back = true;
  if (const Status written = WriteAtomically(path, bytes->view(), options, files); !written) {
    return tl::unexpected<Error>(written.error());
  }
  Prune(folder, name);
  return path;
}

Result<Checkpoint> ReadCheckpoint(const std::string& path) {
  const Result<AlignedBuffer> bytes = ReadFile(path, kMaxFileBytes);
  if (!bytes) return tl::unexpected<Error>(bytes.error());
  return DecodeCheckpoint(bytes->view(), path);
}

Result<Loaded> Load(const std::string& folder, const Expected& expected) {
  const Result<std::vector<std::string>> names = List(folder, IsCheckpointName);
  if (!names) return tl::unexpected<Error>(names.error());
  std::vector<Candidate> candidates;
  for (const std::string& name : *names) {
    Candidate candidate;
    candidate.path = (fs::path(folder) / name).string();
    candidate.name = name;
    candidate.batches = BatchesOf(candidate.path, name);
    candidates.push_back(std::move(candidate));
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.batches > b.batches; });
  Loaded loaded;
  for (const Candidate& candidate : candidates) {
    Result<Checkpoint> checkpoint = ReadExpected(candidate.path, expected);
    if (checkpoint) {
      loaded.checkpoint = std::move(*checkpoint);
      loaded.path = candidate.path;
      return loaded;
    }
    Skipped skipped;
    skipped.path = candidate.path;
    skipped.reason = std::move(checkpoint.error());
    loaded.skipped.push_back(std::move(skipped));
  }
  if (!loaded.skipped.empty()) return tl::unexpected<Error>(NoneUsable(folder, loaded.skipped));
  return loaded;
}

Result<std::size_t> RemoveTemporary(const std::string& folder) {
  const Result<std::vector<std::string>> names = List(folder, IsTemporaryName);
  if (!names) return tl::unexpected<Error>(names.error());
  for (const std::string& name : *names) {
    const std::string path = (fs::path(folder) / name).string();
    if (unlink(path.c_str()) != 0) return SystemError(path, "can't be removed", errno);
  }
  return names->size();
}

}  // namespace covey::store
