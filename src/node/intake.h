// The door of a live shard: checks samples, puts them into the journal, then into the shard.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/result.h"
#include "covey/config/node_config.h"
#include "covey/data/live.h"
#include "covey/data/live_rows.h"
#include "covey/node/report.h"
#include "covey/setup/assemble.h"
#include "covey/store/journal.h"
#include "node/clock.h"

namespace covey::node {

// Samples on their way to the shard, each of them checked.
struct LiveBatch {
  std::vector<float> values;          // [samples][features]
  std::vector<std::uint32_t> labels;  // [samples]; with targets: 0
  std::vector<float> targets;         // [samples][outputs]

  std::size_t size() const { return labels.size(); }
  void Add(const data::LiveSample& sample);
  void Clear();
};

// Files: <state_dir>/live.journal. A sample is accepted once it is in there; the journal holds at
// most about twice what the shard keeps.
// Thread: any.
class Intake {
 public:
  // A batch is committed when it has so many bytes.
  static constexpr std::size_t kBatchBytes = std::size_t{1} << 20;

  // Reads what was accepted in earlier lives. Requires: assembly.live, config.data.live.
  // Errors: as store::Journal::Open.
  static Result<std::unique_ptr<Intake>> Open(const config::NodeConfig& config,
                                              const setup::Assembly& assembly);

  // Takes samples that another program pushed. Shapes: values [samples][features]; classes
  // [samples], names or numbers, or targets [samples][outputs].
  // Returns: how many are on the disk now; a sample that is wrong is rejected, the others taken.
  // Errors: kData when the lists don't fit one another; kIo when the disk fails: none is taken, or
  // of more than kBatchBytes the first ones.
  Result<Pushed> Push(std::span<const float> values, const std::vector<std::string>& classes,
                      std::span<const float> targets);
  // The same for lines of a table. The first one may be a header.
  Result<Pushed> PushTable(std::string_view text);

  const data::LiveForm& form() const { return shard_.form(); }
  Status Check(const data::LiveSample& sample) const { return shard_.Check(sample); }

  // Errors: kData, with what to do, for a class that was not declared.
  Result<std::uint32_t> ClassOf(const std::string& name) const;

  // Puts samples into journal and shard, together with how far a source was read: the next life
  // finds the mark again exactly if it finds the samples. source: "spool" or "csv".
  Status Commit(const LiveBatch& batch, const std::string& source, const std::string& mark);
  std::string Mark(const std::string& source) const;

  void CountRejected(std::uint64_t samples, const std::string& reason);
  void CountQuarantined();

  // All that is kept now. Returns: nothing when nothing has changed since the last call.
  std::optional<data::LiveShard::Snapshot> TakeIfChanged();
  LiveReport report() const;

 private:
  Intake(const setup::Assembly& assembly, const data::LiveSettings& settings);
  Status Replay(ByteView record);
  Status CommitLocked(const LiveBatch& batch, const std::string& source, const std::string& mark);
  // Puts a good sample into the batch, and that on the disk once it is large enough.
  Status Take(const data::LiveSample& sample, LiveBatch& batch, Pushed& pushed);
  Result<Pushed> Finish(const LiveBatch& batch, Pushed pushed);
  Status Shorten();
  std::vector<std::byte> Encode(const LiveBatch& batch, std::uint8_t kind,
                                const std::string& source, const std::string& mark) const;
  std::size_t SampleBytes() const;

  const Clock clock_;
  const data::LiveSettings settings_;
  mutable std::mutex mutex_;
  data::LiveShard shard_;
  std::optional<store::Journal> journal_;
  std::map<std::string, std::string> marks_;
  LiveReport report_;
  std::optional<Time> last_at_;
  bool changed_ = true;
};

}  // namespace covey::node
