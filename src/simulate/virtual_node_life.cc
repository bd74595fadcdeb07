// How the lives of a simulated node begin and end, and what it reports.
#include <algorithm>
#include <cmath>
#include <utility>

#include "covey/base/check.h"
#include "simulate/add_counters.h"
#include "simulate/virtual_node.h"
#include "simulate/world_stream.h"

namespace covey::simulate {
VirtualNode::Life::Life(const FleetNode& node, World& world, VirtualNetwork::Port& port,
                        VirtualNode& host)
    : learner(node.assembly.learner, node.assembly.data.train, node.assembly.data.shard, host),
      links(node.assembly.links, port, world.codec, host),
      fifo(host.bugs().fifo_unbounded
               ? consensus::FifoLimits{SIZE_MAX, SIZE_MAX, ByteCount{UINT64_MAX}}
               : node.assembly.learner.consensus.fifo) {}

void VirtualNode::Life::AddTo(NodeResult& result) const {
  Add(learner.core().counters(), result.counters);
  Add(links.counters(), result.links);
  Add(fifo.counters(), result.fifo);
  result.samples += learner.samples();
  result.epochs = learner.epochs();
}

bool VirtualNode::MayCrash() const {
  const config::NodeFaults& faults = node_.config.faults.nodes;
  return faults.crash_at > Duration::zero() || faults.crash_every > Duration::zero();
}

void VirtualNode::Start() {
  PlanFaults();
  BeginLife();
}

// Every life has a session and exchange ids of its own: answers to an earlier one never match.
void VirtualNode::BeginLife() {
  if (lives_ > 0 && bugs().session_reused) sessions_.Seek(0);
  const SessionId session{sessions_.Next64() >> 1};
  node_.assembly.links.session.session = session;
  if (bugs().checksums_off) node_.assembly.links.session.checksum = false;
  node_.assembly.learner.first_exchange = ExchangeId{session.value};
  ++lives_;
  life_ = std::make_unique<Life>(node_, world_, port_, *this);
  if (healed_) life_->links.StopFaults();
  if (saved_ && !bugs().checkpoint_forgotten) {
    const Status restored = life_->learner.Restore(*saved_);
    COVEY_CHECK(restored.has_value(), index_);
  }
  saved_at_ = world_.scheduler.now();
  if (world_.options.probe != nullptr) {
    world_.options.probe->Begins(index_, saved_at_, life_->learner, saved_ ? &*saved_ : nullptr);
  }
  if (world_.dialler != nullptr) world_.dialler->NodeUp(index_);
  PlanCrash();
  Follow(life_->learner.Start(world_.scheduler.now()));
}

void VirtualNode::EndLife() {
  if (batch_) world_.crew.Wait(*batch_);
  batch_.reset();
  if (world_.options.probe != nullptr) {
    world_.options.probe->Ends(index_, world_.scheduler.now(), life_->learner);
  }
  taken_.reset();
  if (world_.dialler != nullptr) world_.dialler->NodeDown(index_);
  world_.network.CloseAll(index_);
  paused_ = false;
  deferred_.clear();
  last_ = life_->learner.TakeSnapshot();
  life_->AddTo(past_);
  life_.reset();
  Count();
}

void VirtualNode::Checkpoint() {
  if (!MayCrash()) return;
  const Time now = world_.scheduler.now();
  if (now - saved_at_ < node_.config.train.checkpoint_every) return;
  saved_ = life_->learner.Save();
  saved_at_ = now;
}

// --- Faults ---

void VirtualNode::PlanFaults() {
  const config::NodeFaults& faults = node_.config.faults.nodes;
  const auto at = [this](Duration time, void (VirtualNode::*what)()) {
    if (time > Duration::zero()) world_.scheduler.At(time, [this, what] { (this->*what)(); });
  };
  at(faults.crash_at, &VirtualNode::Crash);
  at(faults.leave_at, &VirtualNode::Leave);
  if (faults.pause_every > Duration::zero()) PlanPause();
}

void VirtualNode::PlanCrash() {
  const Duration every = node_.config.faults.nodes.crash_every;
  if (every <= Duration::zero()) return;
  world_.scheduler.After(Exponential(crashes_, every), [this, life = lives_] {
    if (life == lives_) Crash();
  });
}

void VirtualNode::Crash() {
  if (!life_ || healed_) return;
  EndLife();
  ++past_.crashes;
  world_.scheduler.After(node_.config.faults.nodes.down_for, [this] {
    if (!left_) BeginLife();
  });
}

void VirtualNode::Leave() {
  left_ = true;
  CountEnough();
  if (life_) {
    life_->links.SetTime(world_.scheduler.now());
    life_->links.Goodbye();
    EndLife();
  }
  Count();
}

void VirtualNode::PlanPause() {
  const config::NodeFaults& faults = node_.config.faults.nodes;
  world_.scheduler.After(Exponential(pauses_, faults.pause_every), [this, &faults] {
    if (healed_) return;
    const Duration length = Exponential(pauses_, faults.pause_for);
    if (life_) {
      paused_ = true;
      ++past_.pauses;
      world_.network.Stop(index_);
    }
    world_.scheduler.After(length, [this, life = lives_] {
      if (paused_ && life == lives_) Resume();
      PlanPause();
    });
  });
}

void VirtualNode::Heal() {
  healed_ = true;
  if (life_) life_->links.StopFaults();
}

// Time has passed that the links did not see: what has arrived meanwhile is handled before their
// time-outs are.
void VirtualNode::Resume() {
  paused_ = false;
  world_.network.Resume(index_);
  world_.scheduler.After(Duration::zero(), [this, life = lives_] {
    if (!life_ || life != lives_ || paused_) return;
    for (const auto& action : std::exchange(deferred_, {})) action();
  });
}

// --- The report ---

NodeResult VirtualNode::Finish(gradient::Evaluator* evaluator) {
  NodeResult result = std::move(past_);
  const config::NodeConfig& config = node_.config;
  result.speed =
      samples_per_second_ / (config.faults.nodes.samples_per_second * config.node.cpu_limit);
  if (life_) {
    last_ = life_->learner.TakeSnapshot();
    life_->AddTo(result);
    life_.reset();
  }
  if (!last_.x) {  // never started
    result.shard = shard_;
    return result;
  }
  result.scores = scoreboard_.Finish(last_, scoreboard_.has_evaluator() ? nullptr : evaluator);
  result.shard = shard_;
  result.left = left_;
  result.x = last_.x->Clone();
  last_ = {};
  return result;
}

}  // namespace covey::simulate
