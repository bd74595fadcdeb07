// Checkpoints: what a node needs to go on where it stopped, in one file that is whole or not used.
//
// Format, little-endian:
//   file    = magic "COVEYCKP", version u32 (1), header length u32, header, CRC32C u32 of all that,
//             { section }, SHA-256 (32 bytes) of all that
//   header  = covey.v1.CheckpointHeader: counters, and name, length and CRC32C of every section
//   section = float32 values: "x", then "optimizer/<name>" ..., then "best" when it is kept
//
// Name: ckpt-<batches, 20 digits>.covey, and with .tmp.<pid>.<number> behind it while it is
//   written.
//
// Saving: free space checked, temporary file (O_EXCL), fdatasync, read back and compared, rename,
//   folder fsynced, all but the newest kKeep removed. A failed fsync is final for its file (its
//   pages may have been dropped): the file is removed, and a later Save starts a new one.
//
// There is no pointer to the latest file: it could disagree with the folder. Pending exchanges are
// not saved: a restarted node is a new session, so their replies no longer count.
//
// Source: Pillai et al., OSDI'14 (ALICE); Rebello et al., ATC'20 (fsync failures).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "covey/base/bytes.h"
#include "covey/base/ids.h"
#include "covey/base/result.h"
#include "covey/data/sampler.h"
#include "covey/store/file_system.h"
#include "covey/tensor/flat_vector.h"

namespace covey::store {

inline constexpr std::uint32_t kCheckpointVersion = 1;
inline constexpr std::size_t kKeep = 3;  // checkpoints left after a successful Save

// An optimizer's state by name ("adam.m").
struct NamedVector {
  std::string name;
  tensor::FlatVector values;
};

// The best evaluation on the validation set so far.
struct Best {
  double loss = 0;
  std::optional<double> accuracy;  // 0 to 1; absent in regression
  double epoch = 0;
  tensor::FlatVector x;  // may be empty: not kept
};

struct Checkpoint {
  Digest model;               // nn::FingerprintOf
  std::string model_summary;  // "mlp 784-72-10": for messages
  std::string created_by;     // program and version: for people
  SessionId session;          // the life of the process that wrote it

  tensor::FlatVector x;
  std::vector<NamedVector> optimizer;
  std::uint64_t optimizer_steps = 0;
  std::uint64_t batches = 0;  // orders checkpoints
  std::uint64_t rounds = 0;
  data::Cursor cursor;
  std::optional<Best> best;
  // Whatever else is counted or positioned: faults ("weights_dropped"), streams ("peers.position").
  std::vector<std::pair<std::string, std::uint64_t>> counters;

  // Returns: the named vector or nullptr; the counter or `otherwise`.
  const NamedVector* FindOptimizer(const std::string& name) const;
  std::uint64_t Counter(const std::string& name, std::uint64_t otherwise) const;
};

// Limits of the reader, each checked before memory is taken.
inline constexpr std::size_t kMaxHeaderBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxSections = 64;

// Writes one checkpoint into `folder` (made when missing, mode 0700). One of the same batch count
// is replaced.
// Requires: x not empty, names distinct.
// Returns: the path of the file.
// Errors: kIo (disk full, short write, fsync, read-back), kCantCreate, kNoPermission; kSoftware
//   when a value is not finite (such a file could never be loaded). The folder is as before then,
//   without a temporary file. A failure to prune is not an error.
// Cost: two passes over the data and one read; blocks on the disk, so it belongs on a thread of its
//   own.
Result<std::string> Save(const std::string& folder, const Checkpoint& checkpoint,
                         FileSystem& files = RealFileSystem());

// What the reader must find, else the file belongs to another model.
struct Expected {
  Digest model;
  std::string model_summary;  // for messages
  std::size_t size = 0;       // elements of x
};

struct Skipped {
  std::string path;
  Error reason;
};

struct Loaded {
  std::optional<Checkpoint> checkpoint;  // empty: the folder has none, start fresh
  std::string path;
  std::vector<Skipped> skipped;  // newer ones that could not be used
};

// Finds the newest checkpoint (by the batch count in its header) that is whole, finite and of the
// expected model.
// Errors: kData when there are checkpoints but all are damaged; kProtocol when at least one of them
//   is whole but of another model or of a newer format. The text names the newest file and its
//   reason. kNoPermission, kIo when the folder can't be read; a missing folder is an empty one.
Result<Loaded> Load(const std::string& folder, const Expected& expected);

// Reads one file without an expectation about its model, for `covey model`.
// Errors: kNoInput, kNoPermission, kIo; kData when damaged; kProtocol when of a newer format.
Result<Checkpoint> ReadCheckpoint(const std::string& path);

// The same on bytes; `where` goes into errors. For tests and fuzzing.
Result<Checkpoint> DecodeCheckpoint(ByteView bytes, const std::string& where);
Result<AlignedBuffer> EncodeCheckpoint(const Checkpoint& checkpoint);

// Removes what a killed Save left behind.
// Requires: the caller holds the folder's StateLock.
// Returns: the number of files removed.
// Errors: kIo, kNoPermission.
Result<std::size_t> RemoveTemporary(const std::string& folder);

}  // namespace covey::store
