// The host of a learner: threads, clock, files and the end of a node's life.
//
// Threads: learner (x, optimizer, core), network (links, transport), evaluator (low priority),
// checkpoint writer. They talk through bounded queues under short locks; none waits for another
// while the node runs:
//
//   network --Mailbox: FIFO, notices--> learner --Outbox: messages--> network
//   learner --snapshots--> evaluator        learner --copies--> checkpoint writer
//
// Life: Open -> Start -> Run -> (asked to leave, signal, linger over, or failure) -> stopped.
// Files: everything in `state_dir`, locked for the life of the object: checkpoints/, model/ (the
// best model as files for others: store/published.h), live.journal (samples that were accepted:
// node/intake.h), start.safetensors (read when there is no checkpoint yet: what `covey model
// import` left), peers (who is dialled first in the next life), admissions (whom the operator let
// in and sent away: membership/roster.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/result.h"
#include "covey/config/node_config.h"
#include "covey/data/samples.h"
#include "covey/membership/invitation.h"
#include "covey/node/network_driver.h"
#include "covey/node/report.h"
#include "covey/node/signals.h"
#include "covey/setup/assemble.h"

namespace covey::node {

struct DaemonSettings {
  config::NodeConfig config;  // checked, paths filled
  setup::Identity identity;
  std::string software;  // "covey 0.1.0": for peers and checkpoints
  bool start_paused = false;
  // Who may say hello where the transport does not authenticate; unset: anybody.
  std::optional<std::set<PeerKey>> allowed;
  // Who may be a peer at all; unset: anybody. Others that are told of are not dialled.
  std::optional<std::set<PeerKey>> members;
  // An invitation that this node came with; it is checked against the configuration.
  std::optional<membership::Invitation> invitation;
};

class Daemon {
 public:
  // Opens data, the newest checkpoint and the admissions. Requires: the caller holds the StateLock
  // of state_dir.
  // Errors: as setup::Assemble and store::Load; kData when the checkpoint does not fit the
  // optimizer or shard; kConfig when the invitation and the configuration differ.
  static Result<std::unique_ptr<Daemon>> Open(DaemonSettings settings);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // What went on from, for the log. Empty: fresh.
  const std::string& restored_from() const;
  const setup::Assembly& assembly() const;
  // Whether anybody may take part by the operator's word.
  bool has_members() const;

  // Starts the threads. Requires: once; `network` and `observer` outlive Run.
  void Start(NetworkDriver& network, Observer& observer);

  // Returns when the node has ended: checkpoint written, threads gone.
  //   signal:         goodbye to the peers, checkpoint; within 4.5 s, or the process ends with 70.
  //   Leave, linger:  the same, but best and last model are measured before the checkpoint.
  // Errors: kSoftware when the loss became non-finite: names step and layer; no checkpoint is
  // written then, but the newest published parameters that are finite, to
  // <state_dir>/last-good.safetensors. What Save says when the last checkpoint failed.
  // Thread: the main one.
  Status Run(Signals& signals);

  // --- From any thread, between Start and the end of Run ---
  // Wait up to 250 ms for the learner to follow, so that a report afterwards shows the effect.
  // Errors: kTemporary when the node is leaving.
  Status Pause();
  Status Resume();
  Status Settle();
  Status Leave();  // returns at once
  // Asks a peer for a sign of life. Errors: kUnavailable when there is no link to it.
  Status Ping(const PeerKey& peer);
  // Takes in what the operator signed (membership/invitation.h) and tells the fleet.
  // Errors: kUsage without fleet.operator_key; kData when the record is not the operator's.
  Status TakeRecord(const std::vector<std::byte>& record);

  // What the published model answers. Shapes: raw [samples][features], raw numbers.
  // Errors: kTemporary before there is a model; kData when a number can't be used.
  // Cost: one forward pass on the caller's thread; callers wait for one another.
  Result<Prediction> Predict(std::span<const float> raw);
  // Takes samples into a live shard; returns when they are on the disk. Shapes: values
  // [samples][features], raw; classes [samples], names or numbers, or targets [samples][outputs].
  // Errors: kUsage without data.live; kTemporary when the node is leaving; kData when the lists
  //   don't fit one another; kIo: the disk failed, and nothing was taken.
  Result<Pushed> Push(std::span<const float> values, const std::vector<std::string>& classes,
                      std::span<const float> targets);
  // The same for lines of a table, of which the first may be a header.
  Result<Pushed> PushTable(std::string_view text);

  // Of the model that answers.
  const nn::ModelSpec& model() const;
  const data::LabelNames& labels() const;
  const data::InputForm& input_form() const;

  // Waits up to 250 ms for the network thread; its part is then up to one turn old.
  Report GetReport();
  // CLOCK_MONOTONIC in nanoseconds of a time of this daemon.
  std::uint64_t Monotonic(Time time) const;

 private:
  struct State;
  explicit Daemon(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace covey::node
