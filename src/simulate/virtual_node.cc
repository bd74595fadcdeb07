#include "simulate/virtual_node.h"

#include <cmath>
#include <utility>

#include "simulate/world_stream.h"

namespace covey::simulate {
namespace {

using consensus::State;

double SpeedOf(const config::NodeFaults& faults, std::uint64_t seed, std::uint32_t index) {
  double speed = faults.samples_per_second * faults.speed;
  if (faults.speed_spread > 0) {
    speed *= std::exp(faults.speed_spread * WorldStream(seed, Draw::kSpeed, index).Normal());
  }
  return speed;
}

}  // namespace

VirtualNode::VirtualNode(World& world, std::uint32_t index, FleetNode node)
    : world_(world),
      index_(index),
      node_(std::move(node)),
      shard_(node_.assembly.data.shard.size()),
      samples_per_second_(SpeedOf(node_.config.faults.nodes, world.seed, index) *
                          node_.config.node.cpu_limit),
      port_(world.network.AddPort(node_.assembly.links.session.self, node_.config.faults.links,
                                  *this)),
      scoreboard_(node_.assembly.learner.model, node_.assembly.data.train,
                  node_.assembly.data.validation, node_.assembly.data.test,
                  !world.judges.Fits(node_.assembly.learner.model)),
      sessions_(node_.config.node.seed, index, Purpose::kSession),
      pauses_(WorldStream(world.seed, Draw::kPause, index)),
      crashes_(WorldStream(world.seed, Draw::kCrash, index)) {
  if (world.options.keep_lowest_loss) scoreboard_.KeepLowestLoss();
}

VirtualNode::~VirtualNode() {
  if (batch_) world_.crew.Wait(*batch_);
}

const learner::Learner* VirtualNode::Quiet() const {
  if (!life_) return nullptr;
  if (batch_) world_.crew.Wait(*batch_);
  return &life_->learner;
}

// --- What the learner asks ---

void VirtualNode::Send(consensus::Message message) {
  if (Spoil(message)) return;
  if (world_.options.probe != nullptr) {
    world_.options.probe->Sent(index_, world_.scheduler.now(), message);
  }
  life_->links.SetTime(world_.scheduler.now());
  life_->links.Send(std::move(message));
  ScheduleTick();
}

void VirtualNode::AskToJoin(const PeerKey& peer) {
  life_->links.SetTime(world_.scheduler.now());
  life_->links.AskToJoin(peer);
  ScheduleTick();
}

void VirtualNode::Publish(learner::Snapshot snapshot) {
  const bool shared = !scoreboard_.has_evaluator();
  const double until = node_.assembly.until_accuracy;
  world_.judges.Publish(index_, scoreboard_, std::move(snapshot), world_.scheduler.now(), shared);
  if (until <= 0) return;
  world_.judges.Tells(true);
  if (scoreboard_.latest().validation.accuracy >= until) {
    Notice(consensus::Commanded{consensus::Command::kSettle});
  }
}

std::optional<consensus::Message> VirtualNode::Take() {
  TellTaken();
  const bool deaf = bugs().deaf_when_done && life_->learner.core().state() == State::kDone;
  if (deaf) return std::nullopt;
  std::optional<consensus::Message> message = life_->fifo.Pop();
  if (!message || world_.options.probe == nullptr) return message;
  world_.options.probe->Took(index_, world_.scheduler.now(), life_->fifo);
  taken_ = message;
  const consensus::Counters& counters = life_->learner.core().counters();
  applied_before_ = counters.weights_applied + counters.deltas_applied;
  if (message->kind == consensus::MessageKind::kDeltas && Now(bugs().deltas_twice, 10)) {
    message = WithPayload(std::move(*message), 2, 0);
  }
  return message;
}

void VirtualNode::TellTaken() {
  if (!taken_) return;
  const consensus::Counters& counters = life_->learner.core().counters();
  if (counters.weights_applied + counters.deltas_applied > applied_before_) {
    world_.options.probe->Applied(index_, world_.scheduler.now(), *taken_);
  }
  taken_.reset();
}

void VirtualNode::TellTurn() {
  if (world_.options.probe == nullptr) return;
  TellTaken();
  world_.options.probe->Turn(index_, world_.scheduler.now(), life_->learner, life_->links,
                             life_->fifo);
}

// --- What the links tell ---

void VirtualNode::PeerUp(const PeerKey& peer, const wire::Hello& hello) {
  Notice(consensus::PeerUp{peer, hello.takes});
}

void VirtualNode::PeerDown(const PeerKey& peer, const std::string&, session::Parting) {
  Notice(consensus::PeerDown{peer});
}

void VirtualNode::Deliver(consensus::Message message) {
  const consensus::Message copy = world_.options.probe != nullptr ? message : consensus::Message{};
  for (const consensus::Message& evicted : life_->fifo.Push(std::move(message))) {
    if (!bugs().eviction_untold) life_->links.Busy(evicted);
  }
  if (world_.options.probe != nullptr) {
    world_.options.probe->Delivered(index_, world_.scheduler.now(), copy, life_->fifo);
  }
  WakeUp();
}

void VirtualNode::Nacked(const PeerKey& peer, ExchangeId exchange, wire::Reason) {
  Notice(consensus::Nacked{peer, exchange});
}

void VirtualNode::JoinAsked(const PeerKey& peer) { Notice(consensus::JoinAsked{peer}); }

void VirtualNode::OnLinkUp(const transport::LinkInfo& link) {
  if (!life_) return;
  life_->links.SetTime(world_.scheduler.now());
  life_->links.OnLinkUp(link);
  ScheduleTick();
}

void VirtualNode::OnLinkDown(transport::LinkId link, const std::string& reason) {
  if (!life_) return;
  life_->links.SetTime(world_.scheduler.now());
  life_->links.OnLinkDown(link, reason);
  ScheduleTick();
}

void VirtualNode::OnFrame(transport::LinkId link, ByteView frame) {
  if (!life_) return;
  life_->links.SetTime(world_.scheduler.now());
  life_->links.OnFrame(link, frame);
  ScheduleTick();
}

// --- Turns ---

void VirtualNode::Later(Time time, std::function<void()> action) {
  world_.scheduler.At(time, [this, life = lives_, action = std::move(action)] {
    if (!life_ || life != lives_) return;
    if (!paused_) return action();
    deferred_.push_back([this, life, action] {
      if (life_ && life == lives_) action();
    });
  });
}

void VirtualNode::Notice(consensus::Event event) {
  life_->events.push_back(std::move(event));
  WakeUp();
}

// The learner is never entered from within its own calls or those of the links: its turn is an
// event of its own.
void VirtualNode::WakeUp() {
  if (life_->woken) return;
  life_->woken = true;
  Later(world_.scheduler.now(), [this] {
    life_->woken = false;
    Work();
  });
}

void VirtualNode::Work() {
  while (!life_->training && !life_->events.empty()) HandleNextEvent();
  if (!life_->training && !life_->fifo.empty()) {
    Follow(life_->learner.OnMail(world_.scheduler.now()));
  }
}

void VirtualNode::HandleNextEvent() {
  const consensus::Event event = std::move(life_->events.front());
  life_->events.pop_front();
  Follow(life_->learner.Handle(world_.scheduler.now(), event));
}

void VirtualNode::Follow(const learner::Next& next) {
  Count();
  TellTurn();
  if (next.kind == learner::Next::Kind::kTrain) {
    if (next.batches > 0) Train(next.batches);
    return;
  }
  const std::uint64_t wait = ++life_->wait;
  if (next.until == kNever || bugs().deadline_lost) return;
  Later(next.until, [this, wait] {
    if (wait == life_->wait && !life_->training) Notice(consensus::DeadlineReached{});
  });
}

void VirtualNode::Train(std::uint32_t batches) {
  ++life_->wait;
  life_->training = true;
  TrainOne(0, batches);
}

// The batch starts at once, on a thread that is free; virtual time passes for it as the speed of
// the node says, and then its result is waited for. Until then nothing else touches the learner.
void VirtualNode::TrainOne(std::uint32_t done, std::uint32_t batches) {
  const double samples = static_cast<double>(life_->learner.next_batch());
  if (world_.options.probe != nullptr) {
    world_.options.probe->Trains(index_, life_->learner.x());
  }
  batch_ = world_.crew.Start([this](std::size_t) { step_ = life_->learner.TrainBatch(); });
  if (world_.crew.lanes() == 1) world_.crew.Wait(*batch_);
  if (world_.options.probe != nullptr) {
    world_.options.probe->Trained(index_, life_->learner.x());
  }
  const Duration takes = FromSeconds(samples / samples_per_second_);
  Later(world_.scheduler.now() + takes, [this, done, batches] {
    world_.crew.Wait(*batch_);
    batch_.reset();
    if (!step_.finite) {
      world_.failure = life_->learner.NotFinite();
      world_.failure->where = "node " + std::to_string(index_);
      return;
    }
    const bool interrupted = life_->learner.drains_between_batches() && !life_->fifo.empty();
    if (done + 1 == batches || interrupted) {
      Trained(done + 1);
    } else {
      TrainOne(done + 1, batches);
    }
  });
}

void VirtualNode::Trained(std::uint32_t batches) {
  // What happened meanwhile is told first: the sends at the end of the phase go to the peers of
  // now.
  while (!life_->events.empty()) HandleNextEvent();
  life_->training = false;
  const learner::Next next = life_->learner.Trained(world_.scheduler.now(), batches);
  Checkpoint();
  SettleWhenDue();
  if (world_.observer.on_progress) {
    world_.observer.on_progress(Progress{index_, life_->learner.core().state(),
                                         life_->learner.epochs(),
                                         past_.samples + life_->learner.samples()});
  }
  Follow(next);  // from here on the learner may be training already
  WakeUp();
}

void VirtualNode::SettleWhenDue() {
  const FleetOptions& options = world_.options;
  if (options.settle_after == 0) return;
  if (past_.counters.deltas_applied + life_->learner.core().counters().deltas_applied >=
      options.settle_after) {
    CountEnough();
  }
  const bool due = world_.enough == world_.nodes && world_.scheduler.now() >= options.settle_at;
  if (!due || life_->learner.core().state() != State::kTraining) return;
  life_->events.push_back(consensus::Commanded{consensus::Command::kSettle});
}

void VirtualNode::CountEnough() {
  if (!enough_) ++world_.enough;
  enough_ = true;
}

void VirtualNode::ScheduleTick() {
  const Time due = life_->links.Tick();
  if (due == kNever || due >= life_->tick) return;
  life_->tick = due;
  Later(due, [this, due] {
    if (life_->tick == due) life_->tick = kNever;
    life_->links.SetTime(world_.scheduler.now());
    ScheduleTick();
  });
}

void VirtualNode::Count() {
  const bool done = left_ || (life_ && life_->learner.core().state() == consensus::State::kDone);
  if (done == counted_) return;
  counted_ = done;
  past_.finished = done ? world_.scheduler.now() : Duration::zero();
  world_.done += done ? 1 : std::size_t(0) - 1;
}

}  // namespace covey::simulate
