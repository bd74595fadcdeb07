// One node of a simulated fleet: the host of learners and of their links on the virtual clock, over
// all lives of the node.
//
// Lives: a crash ends one at once; what was learned since the last checkpoint is lost with it, and
// the next begins from that checkpoint under a new session, as a restarted daemon does. Checkpoints
// are taken between rounds, train.checkpoint_every apart, in memory, and only for nodes that may
// crash. A pause stops training, links and time-outs; what arrives waits.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "covey/consensus/fifo.h"
#include "covey/learner/learner.h"
#include "covey/learner/links.h"
#include "covey/learner/scoreboard.h"
#include "covey/setup/assemble.h"
#include "covey/simulate/fleet.h"
#include "covey/simulate/network.h"
#include "covey/simulate/scheduler.h"
#include "covey/wire/bodies.h"
#include "simulate/crew.h"
#include "simulate/dialler.h"
#include "simulate/judges.h"

namespace covey::simulate {

// What all nodes of a fleet share.
struct World {
  Scheduler& scheduler;
  VirtualNetwork& network;
  const wire::BodyCodec& codec;
  const FleetOptions& options;
  const FleetObserver& observer;
  Crew& crew;
  Judges& judges;
  std::uint64_t seed = 0;      // of the world's streams
  Dialler* dialler = nullptr;  // null: nobody is linked
  std::size_t nodes = 0;
  std::size_t done = 0;    // nodes that are
  std::size_t enough = 0;  // nodes that have completed FleetOptions::settle_after exchanges or left
  std::optional<Error> failure = {};
};

class VirtualNode final : private learner::Host,
                          private learner::LinkEvents,
                          private transport::Sink {
 public:
  VirtualNode(World& world, std::uint32_t index, FleetNode node);
  ~VirtualNode() override;

  // Its first life begins.
  void Start();
  // From now on nothing goes wrong any more; what is down or stands still comes back.
  void Heal();
  std::uint32_t index() const { return index_; }
  // The learner of the present life; null between lives and after the last. Waits for a batch that
  // is being trained.
  const learner::Learner* Quiet() const;
  const consensus::Fifo* fifo() const { return life_ ? &life_->fifo : nullptr; }

  // What the run reports of the node; scores the settled model. At the end of the run; on a worker
  // thread too, one node on one thread.
  NodeResult Finish(gradient::Evaluator* evaluator);

 private:
  struct Life {
    // Adds what a life has counted to the result.
    void AddTo(NodeResult& result) const;
    Life(const FleetNode& node, World& world, VirtualNetwork::Port& port, VirtualNode& host);
    learner::Learner learner;
    learner::Links links;
    consensus::Fifo fifo;
    std::deque<consensus::Event> events;
    bool training = false;
    bool woken = false;
    std::uint64_t wait = 0;  // number of the last Wait: an older deadline is void
    Time tick = kNever;      // the earliest tick that is scheduled
  };

  void Send(consensus::Message message) override;
  void AskToJoin(const PeerKey& peer) override;
  void Publish(learner::Snapshot snapshot) override;
  void TooFar(const PeerKey&) override {}
  std::optional<consensus::Message> Take() override;

  void PeerUp(const PeerKey& peer, const wire::Hello& hello) override;
  void PeerDown(const PeerKey& peer, const std::string& reason, session::Parting parting) override;
  void Deliver(consensus::Message message) override;
  void Nacked(const PeerKey& peer, ExchangeId exchange, wire::Reason reason) override;
  void JoinAsked(const PeerKey& peer) override;
  void Rejected(const std::string&, wire::Reason) override {}
  void Refused(const std::string&, wire::Reason, const std::string&) override {}

  void OnLinkUp(const transport::LinkInfo& link) override;
  void OnLinkDown(transport::LinkId link, const std::string& reason) override;
  void OnFrame(transport::LinkId link, ByteView frame) override;

  // Runs `action` at `time` in this life, or at the end of the pause that it falls into.
  void Later(Time time, std::function<void()> action);
  void Notice(consensus::Event event);
  void WakeUp();
  void Work();
  void HandleNextEvent();
  void Follow(const learner::Next& next);
  void Train(std::uint32_t batches);
  void TrainOne(std::uint32_t done, std::uint32_t batches);
  void Trained(std::uint32_t batches);
  void SettleWhenDue();
  void CountEnough();
  void ScheduleTick();
  void Count();
  // Tells the probe what became of the message that was taken last.
  void TellTaken();
  void TellTurn();

  // Its lives (virtual_node_life.cc).
  void BeginLife();
  void EndLife();
  void PlanFaults();
  void PlanCrash();
  void PlanPause();
  void Crash();
  void Resume();
  void Leave();
  void Checkpoint();
  bool MayCrash() const;

  // Planted bugs (planted_bugs.cc).
  const PlantedBugs& bugs() const { return world_.options.bugs; }
  bool Now(bool bug, std::uint64_t every);
  static consensus::Message WithPayload(consensus::Message message, float factor, float first);
  bool Spoil(consensus::Message& message);

  World& world_;
  std::uint32_t index_;
  FleetNode node_;
  std::uint64_t shard_;
  double samples_per_second_;
  VirtualNetwork::Port& port_;
  learner::Scoreboard scoreboard_;
  std::unique_ptr<Life> life_;
  std::uint64_t lives_ = 0;
  bool paused_ = false;
  bool left_ = false;
  bool healed_ = false;
  bool counted_ = false;                         // among world_.done
  bool enough_ = false;                          // counted among world_.enough
  std::vector<std::function<void()>> deferred_;  // to the end of the pause
  std::shared_ptr<Crew::Job> batch_;             // the batch that is being trained
  gradient::StepResult step_;                    // of it
  Stream sessions_;
  Stream pauses_;
  Stream crashes_;
  std::optional<learner::Saved> saved_;
  Time saved_at_{};
  learner::Snapshot last_;  // of the life before, while there is none
  NodeResult past_;         // counters of the lives that have ended
  // Of the message that the learner took last, for the probe: what had been applied before it.
  std::optional<consensus::Message> taken_;
  std::uint64_t applied_before_ = 0;
  std::uint64_t mischief_ = 0;  // occasions of planted bugs
};

}  // namespace covey::simulate
