#include "node/learner_thread.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "covey/log/log.h"
#include "covey/node/process.h"

namespace covey::node {
namespace {

// Weight of the newest round in the reported training loss.
constexpr double kNewestLoss = 0.1;
// Training between two yields: below it the caches are filled anew more often than it pays.
constexpr Duration kYieldAfter = std::chrono::microseconds(1200);
// When a checkpoint is due and the one before is still being written, look again after this long.
constexpr Duration kWriterBusy = std::chrono::seconds(1);

Stage ToStage(consensus::State state) {
  switch (state) {
    case consensus::State::kJoining:
      return Stage::kJoining;
    case consensus::State::kTraining:
      return Stage::kTraining;
    case consensus::State::kSettling:
      return Stage::kSettling;
    case consensus::State::kDone:
      break;
  }
  return Stage::kDone;
}

std::size_t ThreadsOf(std::optional<std::uint32_t> threads) {
  const std::size_t wanted = threads ? *threads : std::thread::hardware_concurrency();
  return std::clamp<std::size_t>(wanted, 1, gradient::Workers::kMost);
}

learner::Settings WithTasks(learner::Settings settings, gradient::Workers& workers) {
  if (workers.width() > 1) settings.tasks = &workers;
  return settings;
}

std::uint64_t Applied(const consensus::Counters& counters) {
  return counters.weights_applied + counters.deltas_applied;
}

}  // namespace

LearnerThread::LearnerThread(const setup::Assembly& assembly, Neighbours neighbours,
                             const Options& options)
    : neighbours_(neighbours),
      checkpoint_every_(options.checkpoint_every),
      start_at_(options.start_at),
      workers_(ThreadsOf(options.threads)),
      duty_(options.cpu_limit),
      learner_(WithTasks(assembly.learner, workers_), assembly.data.train, assembly.data.shard,
               *this) {}

void LearnerThread::Join() {
  if (!thread_.joinable()) return;
  Stop();
  thread_.join();
}

Status LearnerThread::Restore(const learner::Saved& saved) {
  if (Status restored = learner_.Restore(saved); !restored) return restored;
  const std::lock_guard lock(mutex_);
  progress_.core = learner_.core().counters();
  progress_.epochs = learner_.epochs();
  return {};
}

void LearnerThread::Start(Callbacks callbacks, bool paused) {
  callbacks_ = std::move(callbacks);
  thread_ = std::thread([this, paused] {
    NameThread("learner");
    Run(paused);
    ended_.Open();
  });
}

void LearnerThread::Stop() {
  neighbours_.mailbox.Notice(consensus::Commanded{consensus::Command::kStop});
}

Progress LearnerThread::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

void LearnerThread::WaitFor(bool (*reached)(const Progress& progress),
                            Clock::Source::time_point deadline) {
  std::unique_lock lock(mutex_);
  stage_changed_.wait_until(lock, deadline, [&] { return reached(progress_); });
}

// --- What the learner asks ---

void LearnerThread::Send(consensus::Message message) {
  if (neighbours_.outbox.Put(std::move(message))) callbacks_.wake_network();
}

void LearnerThread::AskToJoin(const PeerKey& peer) {
  if (neighbours_.outbox.Put(node::AskToJoin{peer})) callbacks_.wake_network();
}

void LearnerThread::Publish(learner::Snapshot snapshot) {
  neighbours_.evaluator.Offer(std::move(snapshot));
}

void LearnerThread::TooFar(const PeerKey& peer) {
  log::WriteLimited(log::Level::kWarning, log::Category::kConsensus, "too far " + peer.Short(),
                    "dropped a message that is too far from our model",
                    {{"peer", peer.Short()}, {"limit", "consensus.max_distance"}});
}

// --- The thread ---

void LearnerThread::Run(bool paused) {
  const Clock& clock = neighbours_.clock;
  checkpoint_due_ = clock.Now() + checkpoint_every_;
  saved_rounds_ = learner_.core().counters().rounds;
  paused_ = paused;
  waits_ = learner_.shard_size() < start_at_;
  if (paused_ || waits_) {
    learner_.Handle(clock.Now(), consensus::Commanded{consensus::Command::kPause});
  }
  next_ = learner_.Start(clock.Now());
  Report();
  while (!stopping_ && !failed_) {
    TakeData();
    if (next_.kind == learner::Next::Kind::kTrain) {
      TrainPhase();
    } else {
      WaitPhase();
    }
    if (failed_) break;
    SaveWhenDue();
    Report();
  }
}

void LearnerThread::TakeData() {
  std::optional<Mailbox::Data> data = neighbours_.mailbox.TakeData();
  if (!data) return;
  learner_.Replace(std::move(data->set), std::move(data->shard));
  if (!waits_ || learner_.shard_size() < start_at_) return;
  waits_ = false;
  if (paused_) return;
  const bool phase_runs = next_.kind == learner::Next::Kind::kTrain;
  const learner::Next next =
      learner_.Handle(neighbours_.clock.Now(), consensus::Commanded{consensus::Command::kResume});
  if (!phase_runs) next_ = next;
}

// Notes a pause or its end. Returns: whether the core must not hear of it, for it waits for data.
bool LearnerThread::Holds(const consensus::Commanded& commanded) {
  if (commanded.command == consensus::Command::kPause) paused_ = true;
  if (commanded.command != consensus::Command::kResume) return false;
  paused_ = false;
  return waits_;
}

void LearnerThread::TrainPhase() {
  const std::uint32_t wanted = next_.batches;
  const Time begin = neighbours_.clock.Now();
  interrupted_ = false;
  phase_loss_ = 0;
  phase_samples_ = 0;
  std::uint32_t done = 0;
  while (done < wanted && !interrupted_) {
    if (duty_.limited() && !Rest()) break;
    if (!TrainOne()) return;
    ++done;
    if (neighbours_.mailbox.HasNotices()) HandleNotices(true);
    if (learner_.drains_between_batches() && neighbours_.mailbox.HasMail()) break;
  }
  const Time end = neighbours_.clock.Now();
  if (done > 0) {
    const std::lock_guard lock(mutex_);
    if (!progress_.first_batch) progress_.first_batch = begin;
    progress_.last_batch = end;
    const double loss = phase_loss_ / static_cast<double>(phase_samples_);
    const bool first = progress_.samples == 0;
    progress_.train_loss += (first ? 1.0 : kNewestLoss) * (loss - progress_.train_loss);
  }
  next_ = learner_.Trained(end, done);
  // Where nodes share cores, peers get their turn after a millisecond and not after a time slice
  // of many rounds: what they answer is younger. Alone on a core this costs a system call.
  since_yield_ += end - begin;
  if (since_yield_ < kYieldAfter) return;
  since_yield_ = Duration::zero();
  std::this_thread::yield();
}

// Until the next batch may begin. Returns: false when something else comes first: a command that
// ends the phase, or mail that may be answered between two batches.
bool LearnerThread::Rest() {
  Mailbox& mailbox = neighbours_.mailbox;
  const bool drains = learner_.drains_between_batches();
  while (neighbours_.clock.Now() < duty_.due()) {
    if (drains) {
      mailbox.Wait(duty_.due());
    } else {
      mailbox.WaitForNotice(duty_.due());
    }
    if (mailbox.HasNotices()) HandleNotices(true);
    if (interrupted_ || (drains && mailbox.HasMail())) return false;
  }
  return true;
}

bool LearnerThread::TrainOne() {
  workers_.use(pace_.use());
  const Time begin = neighbours_.clock.Now();
  const Duration used = duty_.limited() ? Clock::ThreadTime() : Duration::zero();
  const gradient::StepResult step = learner_.TrainBatch();
  if (duty_.limited()) {
    const std::size_t threads = pace_.use() == gradient::Workers::Use::kAll ? workers_.width() : 1;
    duty_.Ran(begin, (Clock::ThreadTime() - used) * static_cast<Duration::rep>(threads));
  }
  if (workers_.width() > 1) pace_.Stepped(neighbours_.clock.Now() - begin, step.samples);
  phase_loss_ += step.loss_sum;
  phase_samples_ += step.samples;
  if (step.finite) return true;
  failed_ = true;
  callbacks_.on_failure(learner_.NotFinite());
  return false;
}

void LearnerThread::WaitPhase() {
  neighbours_.mailbox.Wait(Unsaved() ? std::min(next_.until, checkpoint_due_) : next_.until);
  HandleNotices(false);
  const auto waits = [this] { return next_.kind == learner::Next::Kind::kWait; };
  if (waits() && neighbours_.mailbox.HasMail()) next_ = learner_.OnMail(neighbours_.clock.Now());
  const Time now = neighbours_.clock.Now();
  if (waits() && !stopping_ && now >= next_.until) {
    next_ = learner_.Handle(now, consensus::DeadlineReached{});
  }
}

// While a phase runs, what Handle returns is only "go on with it".
void LearnerThread::HandleNotices(bool training) {
  for (const consensus::Event& event : neighbours_.mailbox.TakeNotices()) {
    const auto* commanded = std::get_if<consensus::Commanded>(&event);
    if (commanded != nullptr) {
      if (commanded->command != consensus::Command::kResume) interrupted_ = true;
      if (commanded->command == consensus::Command::kStop) stopping_ = true;
      if (Holds(*commanded)) continue;
    }
    const bool phase_runs = training || next_.kind == learner::Next::Kind::kTrain;
    const learner::Next next = learner_.Handle(neighbours_.clock.Now(), event);
    if (!phase_runs) next_ = next;
  }
}

bool LearnerThread::Unsaved() const {
  const consensus::Counters& counters = learner_.core().counters();
  return counters.rounds != saved_rounds_ || Applied(counters) != saved_applied_;
}

// A node at rest writes nothing, and one that stops is saved by whoever stops it.
void LearnerThread::SaveWhenDue() {
  const Time now = neighbours_.clock.Now();
  if (now < checkpoint_due_ || stopping_ || !Unsaved()) return;
  if (!neighbours_.checkpoints.Idle()) {
    checkpoint_due_ = now + std::min(checkpoint_every_, kWriterBusy);
    return;
  }
  checkpoint_due_ = now + checkpoint_every_;
  saved_rounds_ = learner_.core().counters().rounds;
  saved_applied_ = Applied(learner_.core().counters());
  neighbours_.checkpoints.Offer(learner_.Save());
}

void LearnerThread::Report() {
  Progress changed;
  {
    const std::lock_guard lock(mutex_);
    const Stage stage = stopping_ ? Stage::kLeaving : ToStage(learner_.core().state());
    const bool paused = waits_ ? paused_ : learner_.core().paused();
    const bool same =
        stage == progress_.stage && paused == progress_.paused && waits_ == progress_.waits;
    progress_.stage = stage;
    progress_.paused = paused;
    progress_.waits = waits_;
    progress_.core = learner_.core().counters();
    progress_.epochs = learner_.epochs();
    progress_.samples = learner_.samples();
    if (same) return;
    changed = progress_;
  }
  stage_changed_.notify_all();
  callbacks_.on_stage(changed);
}

}  // namespace covey::node
