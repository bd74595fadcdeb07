#include "simulate/virtual_node.h"

#include <utility>

namespace covey::simulate {

VirtualNode::VirtualNode(World& world, std::uint32_t index, setup::Assembly assembly)
    : world_(world),
      index_(index),
      shard_(assembly.data.shard.size()),
      until_accuracy_(assembly.until_accuracy),
      port_(world.network.AddPort(assembly.links.session.self, *this)),
      learner_(assembly.learner, assembly.data.train, std::move(assembly.data.shard), *this),
      links_(assembly.links, port_, world.codec, *this),
      scoreboard_(assembly.learner.model, assembly.data.train, std::move(assembly.data.validation),
                  std::move(assembly.data.test)),
      fifo_(assembly.learner.consensus.fifo) {
  if (world.options.keep_lowest_loss) scoreboard_.KeepLowestLoss();
}

void VirtualNode::Start() {
  started_ = true;
  Follow(learner_.Start(world_.scheduler.now()));
}

NodeResult VirtualNode::Finish() {
  NodeResult result;
  result.scores = scoreboard_.Finish(learner_.TakeSnapshot());
  result.counters = learner_.core().counters();
  result.links = links_.counters();
  result.fifo = fifo_.counters();
  result.shard = shard_;
  result.samples = learner_.samples();
  result.epochs = learner_.epochs();
  result.x = learner_.TakeSnapshot().x->Clone();
  return result;
}

// --- What the learner asks ---

void VirtualNode::Send(consensus::Message message) {
  links_.SetTime(world_.scheduler.now());
  links_.Send(std::move(message));
  ScheduleTick();
}

void VirtualNode::AskToJoin(const PeerKey& peer) {
  links_.SetTime(world_.scheduler.now());
  links_.AskToJoin(peer);
  ScheduleTick();
}

void VirtualNode::Publish(learner::Snapshot snapshot) {
  const learner::Score score = scoreboard_.Evaluate(snapshot);
  if (world_.observer.on_score) world_.observer.on_score(index_, score, world_.scheduler.now());
  if (until_accuracy_ > 0 && score.validation.accuracy >= until_accuracy_) {
    Notice(consensus::Commanded{consensus::Command::kSettle});
  }
}

// --- What the links tell ---

void VirtualNode::PeerUp(const PeerKey& peer, const wire::Hello&) {
  Notice(consensus::PeerUp{peer});
}

void VirtualNode::PeerDown(const PeerKey& peer, const std::string&) {
  Notice(consensus::PeerDown{peer});
}

void VirtualNode::Deliver(consensus::Message message) {
  for (const consensus::Message& evicted : fifo_.Push(std::move(message))) links_.Busy(evicted);
  WakeUp();
}

void VirtualNode::Nacked(const PeerKey& peer, ExchangeId exchange, wire::Reason) {
  Notice(consensus::Nacked{peer, exchange});
}

void VirtualNode::JoinAsked(const PeerKey& peer) { Notice(consensus::JoinAsked{peer}); }

void VirtualNode::OnLinkUp(const transport::LinkInfo& link) {
  links_.SetTime(world_.scheduler.now());
  links_.OnLinkUp(link);
  ScheduleTick();
}

void VirtualNode::OnLinkDown(transport::LinkId link, const std::string& reason) {
  links_.SetTime(world_.scheduler.now());
  links_.OnLinkDown(link, reason);
  ScheduleTick();
}

void VirtualNode::OnFrame(transport::LinkId link, ByteView frame) {
  links_.SetTime(world_.scheduler.now());
  links_.OnFrame(link, frame);
  ScheduleTick();
}

// --- Turns ---

void VirtualNode::Notice(consensus::Event event) {
  events_.push_back(std::move(event));
  WakeUp();
}

// The learner is never entered from within its own calls or those of the links: its turn is an
// event of its own.
void VirtualNode::WakeUp() {
  if (woken_) return;
  woken_ = true;
  world_.scheduler.After(Duration::zero(), [this] {
    woken_ = false;
    Work();
  });
}

void VirtualNode::Work() {
  if (!started_ || failure_) return;
  while (!training_ && !events_.empty()) HandleNextEvent();
  if (!training_ && !fifo_.empty()) Follow(learner_.OnMail(world_.scheduler.now()));
}

void VirtualNode::HandleNextEvent() {
  const consensus::Event event = std::move(events_.front());
  events_.pop_front();
  Follow(learner_.Handle(world_.scheduler.now(), event));
}

void VirtualNode::Follow(const learner::Next& next) {
  if (next.kind == learner::Next::Kind::kTrain) {
    if (next.batches > 0) Train(next.batches);
    return;
  }
  const std::uint64_t wait = ++wait_;
  if (next.until == kNever) return;
  world_.scheduler.At(next.until, [this, wait] {
    if (wait == wait_ && !training_) Notice(consensus::DeadlineReached{});
  });
}

void VirtualNode::Train(std::uint32_t batches) {
  ++wait_;
  training_ = true;
  TrainOne(0, batches);
}

// A batch runs at once; virtual time passes for it as the speed of the node says.
void VirtualNode::TrainOne(std::uint32_t done, std::uint32_t batches) {
  const gradient::StepResult step = learner_.TrainBatch();
  if (!step.finite) {
    failure_ = learner_.NotFinite();
    failure_->where = "node " + std::to_string(index_);
    return;
  }
  const double seconds = static_cast<double>(step.samples) / world_.options.samples_per_second;
  world_.scheduler.After(FromSeconds(seconds), [this, done, batches] {
    const bool interrupted = learner_.drains_between_batches() && !fifo_.empty();
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
  while (!events_.empty()) HandleNextEvent();
  training_ = false;
  Follow(learner_.Trained(world_.scheduler.now(), batches));
  if (world_.observer.on_progress) {
    world_.observer.on_progress(
        Progress{index_, learner_.core().state(), learner_.epochs(), learner_.samples()});
  }
  WakeUp();
}

void VirtualNode::ScheduleTick() {
  const Time due = links_.Tick();
  if (due == kNever || due >= tick_) return;
  tick_ = due;
  world_.scheduler.At(due, [this, due] {
    if (tick_ == due) tick_ = kNever;
    links_.SetTime(world_.scheduler.now());
    ScheduleTick();
  });
}

}  // namespace covey::simulate
