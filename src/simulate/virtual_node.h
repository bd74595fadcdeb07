// One node of a simulated fleet: the host of a learner and of its links on the virtual clock.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "covey/consensus/fifo.h"
#include "covey/learner/learner.h"
#include "covey/learner/links.h"
#include "covey/learner/scoreboard.h"
#include "covey/setup/assemble.h"
#include "covey/simulate/fleet.h"
#include "covey/simulate/network.h"
#include "covey/simulate/scheduler.h"
#include "covey/wire/bodies.h"

namespace covey::simulate {

struct World {
  Scheduler& scheduler;
  VirtualNetwork& network;
  const wire::BodyCodec& codec;
  const FleetOptions& options;
  const FleetObserver& observer;
};

class VirtualNode final : private learner::Host,
                          private learner::LinkEvents,
                          private transport::Sink {
 public:
  VirtualNode(World& world, std::uint32_t index, setup::Assembly assembly);

  void Start();
  bool started() const { return started_; }
  bool done() const { return learner_.core().state() == consensus::State::kDone; }
  VirtualNetwork::Port& port() { return port_; }
  const std::optional<Error>& failure() const { return failure_; }
  tensor::ConstVectorView x() const { return learner_.x(); }

  // Scores the settled model. At the end of the run.
  NodeResult Finish();

 private:
  void Send(consensus::Message message) override;
  void AskToJoin(const PeerKey& peer) override;
  void Publish(learner::Snapshot snapshot) override;
  std::optional<consensus::Message> Take() override { return fifo_.Pop(); }

  void PeerUp(const PeerKey& peer, const wire::Hello& hello) override;
  void PeerDown(const PeerKey& peer, const std::string& reason) override;
  void Deliver(consensus::Message message) override;
  void Nacked(const PeerKey& peer, ExchangeId exchange, wire::Reason reason) override;
  void JoinAsked(const PeerKey& peer) override;
  void Refused(const std::string&, wire::Reason, const std::string&) override {}

  void OnLinkUp(const transport::LinkInfo& link) override;
  void OnLinkDown(transport::LinkId link, const std::string& reason) override;
  void OnFrame(transport::LinkId link, ByteView frame) override;

  void Notice(consensus::Event event);
  void WakeUp();
  void Work();
  void HandleNextEvent();
  void Follow(const learner::Next& next);
  void Train(std::uint32_t batches);
  void TrainOne(std::uint32_t done, std::uint32_t batches);
  void Trained(std::uint32_t batches);
  void ScheduleTick();

  World& world_;
  std::uint32_t index_;
  std::uint64_t shard_;
  double until_accuracy_;
  VirtualNetwork::Port& port_;
  learner::Learner learner_;
  learner::Links links_;
  learner::Scoreboard scoreboard_;
  consensus::Fifo fifo_;
  std::deque<consensus::Event> events_;
  bool started_ = false;
  bool training_ = false;
  bool woken_ = false;
  std::uint64_t wait_ = 0;  // number of the last Wait: an older deadline is void
  Time tick_ = kNever;      // the earliest tick that is scheduled
  std::optional<Error> failure_;
};

}  // namespace covey::simulate
