// The model half of a node: x, the optimizer, the shard and the consensus core, as one object
// without threads, clocks, sockets or files. The link half is learner/links.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "covey/base/ids.h"
#include "covey/base/result.h"
#include "covey/base/time.h"
#include "covey/consensus/node.h"
#include "covey/data/dataset.h"
#include "covey/data/sampler.h"
#include "covey/gradient/trainer.h"
#include "covey/nn/model.h"
#include "covey/optim/optimizer.h"
#include "covey/tensor/flat_vector.h"
#include "covey/tensor/tasks.h"

namespace covey::learner {

struct Settings {
  std::uint64_t seed = 0;
  std::uint32_t node = 0;         // keys the streams of this node
  std::uint32_t init_stream = 0;  // nodes with the same number start from the same parameters
  ExchangeId first_exchange;
  consensus::Settings consensus;
  nn::ModelSpec model;
  optim::Settings optimizer;
  float average = 0;       // decay of the published moving average of x, [0, 1); 0: x itself
  std::size_t batch = 32;  // samples; of the shard's size: all of it at once
  bool grows = false;      // the shard is replaced as data arrive, and may be empty at first
  tensor::Tasks* tasks = nullptr;  // of a training step; outlives the learner; null: one thread
};

// The model at the end of a round, with what a reader wants to know about it. Immutable.
struct Snapshot {
  std::shared_ptr<const tensor::FlatVector> x;
  std::uint64_t batches = 0;
  std::uint64_t rounds = 0;
  double epochs = 0;
  consensus::State state = consensus::State::kTraining;
  bool settled = false;   // after the tail: averaged with peers that no longer train
  double train_loss = 0;  // mean over the samples since the snapshot before; 0 when there were none
  double train_accuracy = 0;  // the same, measured before each update
};

// What a restart needs to go on.
struct Saved {
  tensor::FlatVector x;  // the parameters; what else is exchanged stands with the optimizer
  std::vector<std::pair<std::string, tensor::FlatVector>> optimizer;
  std::uint64_t optimizer_steps = 0;
  std::uint64_t batches = 0;
  std::uint64_t rounds = 0;
  data::Cursor cursor;
};

// What the learner asks of its host. Called from within the learner's own calls.
class Host {
 public:
  virtual ~Host() = default;
  virtual void Send(consensus::Message message) = 0;  // message.peer is the receiver
  virtual void AskToJoin(const PeerKey& peer) = 0;
  virtual void Publish(Snapshot snapshot) = 0;
  virtual std::optional<consensus::Message> Take() = 0;  // next of the FIFO
  // A message changed nothing because no honest peer sends such a one.
  virtual void TooFar(const PeerKey& peer) = 0;
};

// What the host has to do next.
struct Next {
  enum class Kind : std::uint8_t { kTrain, kWait };
  Kind kind = Kind::kWait;
  std::uint32_t batches = 0;  // kTrain: call TrainBatch that often, then Trained
  Time until = kNever;  // kWait: call OnMail when a message comes, Handle(DeadlineReached) then
};

// What is published is x or, with settings.average = a, until the node settles
//     y <- x                            at the start and after a restart
//     y <- y + w (x - y),  w = max(1 - a, 1 / (1 + rounds since then)),      after each round
// Local steps pull x to and fro around the fleet's mean; y lets them cancel. It is not exchanged
// and not in checkpoints. Source: Tarvainen & Valpola 2017, "Mean teachers", 3.
// Thread: none; the host serialises all calls.
// Determinism: same settings, data and sequence of calls: same bits of x.
class Learner {
 public:
  // Requires: valid settings (nn::Validate, optim::Validate), a shard that is not empty or grows.
  Learner(const Settings& settings, data::Dataset train, data::Indices shard, Host& host);

  // Errors: kData when it does not fit this model, optimizer or shard. Before Start.
  Status Restore(const Saved& saved);
  Saved Save();

  Next Start(Time now);
  // Peers, commands, deadlines, refusals. While a training phase runs the answer is kTrain with 0
  // batches: go on with it.
  Next Handle(Time now, const consensus::Event& event);
  // The FIFO holds messages and no training phase runs: they are applied at once.
  Next OnMail(Time now);

  // Whether the host ends a training phase early, by Trained, when the FIFO holds a message.
  bool drains_between_batches() const {
    return settings_.consensus.drain == consensus::DrainAt::kBatch;
  }

  // From the next batch on trains on other samples, of the same shape; a pass over them begins.
  // Requires: settings.grows; no batch runs.
  void Replace(data::Dataset train, data::Indices shard);
  std::size_t shard_size() const { return sampler_.size(); }

  // One mini-batch, of a shard that is not empty. A loss that is not finite leaves x unchanged.
  gradient::StepResult TrainBatch();
  // After a batch whose loss was not finite. Returns: kSoftware, with the step and the layer.
  Error NotFinite() const;
  // The newest published snapshot whose parameters are all finite; its x is null before the first.
  const Snapshot& last_good() const { return last_good_; }
  std::size_t next_batch() const { return sampler_.next_size(); }  // samples of the next TrainBatch
  Next Trained(Time now, std::uint32_t batches);

  Snapshot TakeSnapshot();

  tensor::ConstVectorView x() const { return x_.view(); }  // all that is exchanged
  const consensus::Node& core() const { return core_; }
  // Passes over the shard; over one that grows: over what it was at the time.
  double epochs() const { return sampler_.epochs() - skipped_; }
  std::uint64_t samples() const { return samples_; }  // trained in this life

 private:
  Next Run(Time now, std::vector<consensus::Action>& actions);
  void Drain(Time now, std::vector<consensus::Action>& actions);
  void Apply(Time now, const consensus::Message& message, std::vector<consensus::Action>& actions);
  tensor::VectorView parameters() { return x_.view().first(parameters_); }
  void Average();
  void SendWeights(const consensus::SendWeights& send);
  void SendDeltas(const consensus::SendDeltas& send);
  tensor::EncodingSet TakenBy(const PeerKey& peer) const;

  Settings settings_;
  data::Dataset train_;
  Host& host_;
  std::size_t parameters_;      // of the model: the first of x
  tensor::FlatVector x_;        // parameters, then what of the optimizer is exchanged
  tensor::FlatVector y_;        // the published average; empty without
  std::uint64_t averaged_ = 0;  // rounds in it
  data::Sampler sampler_;
  double skipped_ = 0;  // epochs of the sampler that were cut short by Replace
  gradient::Trainer trainer_;
  consensus::Node core_;
  std::map<PeerKey, tensor::EncodingSet> takes_;  // of the peers that are up
  SharedBuffer encoded_;                          // x as it is now; null after x has moved
  tensor::Encoding encoded_as_ = tensor::Encoding::kFloat32;
  consensus::Segment encoded_segment_;
  std::shared_ptr<AlignedBuffer> reply_;  // filled by the message that was applied last
  tensor::Encoding reply_as_ = tensor::Encoding::kFloat32;
  std::vector<consensus::Action> actions_;
  Next next_;
  std::uint64_t samples_ = 0;
  Snapshot last_good_;
  double loss_sum_ = 0;  // since the last snapshot
  std::uint64_t correct_ = 0;
  std::uint64_t seen_ = 0;
};

}  // namespace covey::learner
