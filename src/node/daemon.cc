#include "covey/node/daemon.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <utility>

#include "covey/base/check.h"
#include "covey/log/log.h"
#include "covey/node/process.h"
#include "covey/store/file_system.h"
#include "covey/store/safetensors.h"
#include "node/daemon_state.h"
#include "node/last_good.h"

namespace covey::node {
namespace {

constexpr Duration kStopWithin = std::chrono::milliseconds(4500);
// What a thread that only has to hear of it gets at least, however long the disk took before.
constexpr Duration kHearWithin = std::chrono::milliseconds(500);
constexpr Duration kPssEvery = std::chrono::seconds(2);
constexpr Duration kReportWithin = std::chrono::milliseconds(250);
constexpr Duration kLookAround = std::chrono::milliseconds(50);

// The process can't be stopped in order: a batch, a disk or a socket hangs. The last periodic
// checkpoint stands.
[[noreturn]] void EndHung(const char* what) {
  log::Error(log::Category::kNode, "did not stop in time and ends without its last checkpoint",
             {{"waiting_for", what}});
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(ErrorCode::kSoftware));
}

// A thread that can't be joined has something to do that may be lost: the evaluation of a large
// set, a model on its way to a slow disk.
[[noreturn]] void EndEarly(const char* what, const Status& written) {
  log::Warning(log::Category::kNode, what);
  std::fflush(nullptr);
  std::_Exit(written ? 0 : static_cast<int>(written.error().code));
}

}  // namespace

Daemon::Daemon(std::unique_ptr<State> state) : state_(std::move(state)) {}
Daemon::~Daemon() = default;

const std::string& Daemon::restored_from() const { return state_->restored_from; }
const setup::Assembly& Daemon::assembly() const { return state_->assembly; }
std::uint64_t Daemon::Monotonic(Time time) const { return state_->clock.Monotonic(time); }

void Daemon::Start(NetworkDriver& network, Observer& observer) {
  State& state = *state_;
  COVEY_CHECK(state.driver == nullptr);
  state.driver = &network;
  state.observer = &observer;
  PeerPlan plan = PlanOf(state.settings.config, state.settings.identity, network.endpoint());
  plan.settings.allowed = state.settings.members;
  plan.stored = state.peers.Load();
  if (state.roster) {
    plan.admissions.emplace(AdmissionsPlan{std::move(*state.roster),
                                           state.settings.members.value_or(std::set<PeerKey>{}),
                                           [&state](std::string text) {
                                             state.admissions.Change(std::move(text));
                                             state.Notify();
                                           }});
    state.knocker = std::make_unique<Knocker>(
        network, [&state](const PeerKey& owner, const std::string& address) {
          state.outbox.Put(DoorOpened{owner, address});
          state.network->Wake();
        });
    plan.knock = [&state](auto doors, auto record) {
      state.knocker->Knock(std::move(doors), std::move(record));
    };
  }
  state.network = std::make_unique<NetworkThread>(state.clock, state.assembly.links, network,
                                                  state.mailbox, state.outbox, std::move(plan));
  state.Measure();
  state.network->Start();
  state.checkpoints.Start();
  state.publisher.Start();
  state.evaluator.Start([&state](const learner::Score& score) { state.OnScore(score); },
                        [&state](const auto& best) { state.publisher.Offer(best); });
  state.learner.Start({[&state] { state.network->Wake(); },
                       [&state](const Progress& progress) { state.OnStage(progress); },
                       [&state](const Error& error) {
                         const std::lock_guard lock(state.mutex);
                         state.failure = error;
                         if (state.signals != nullptr) state.signals->Notify();
                       }},
                      state.settings.start_paused);
  if (!state.intake_thread) return;
  state.intake_thread->Start([&state](data::LiveShard::Snapshot snapshot) {
    state.evaluator.Replace(snapshot.set, std::move(snapshot.validation));
    state.mailbox.Replace({std::move(snapshot.set), std::move(snapshot.shard)});
  });
}

void Daemon::State::OnStage(const Progress& changed) {
  log::Info(
      log::Category::kNode, Name(changed.stage),
      {{"paused", changed.paused}, {"batches", changed.core.batches}, {"epochs", changed.epochs}});
  observer->OnStage(changed);
  if (changed.stage != Stage::kDone) return;
  const std::lock_guard lock(mutex);
  if (!done_since) done_since = clock.Now();
  if (signals != nullptr) signals->Notify();
}

void Daemon::State::OnScore(const learner::Score& score) {
  observer->OnEvaluated(score, learner.progress(), clock.Now());
  if (assembly.until_accuracy > 0 && score.validation.accuracy >= assembly.until_accuracy) {
    mailbox.Notice(consensus::Commanded{consensus::Command::kSettle});
  }
}

Status Daemon::State::Command(consensus::Command command,
                              bool (*has_effect)(const Progress& progress)) {
  if (leaving) return Fail(ErrorCode::kTemporary, "coveyd", "the node is leaving");
  mailbox.Notice(consensus::Commanded{command});
  learner.WaitFor(has_effect, Clock::Source::now() + kReportWithin);
  return {};
}

Status Daemon::Pause() {
  return state_->Command(consensus::Command::kPause, [](const Progress& p) { return p.paused; });
}

Status Daemon::Resume() {
  return state_->Command(consensus::Command::kResume, [](const Progress& p) { return !p.paused; });
}

Status Daemon::Settle() {
  return state_->Command(consensus::Command::kSettle, [](const Progress& p) {
    return p.stage != Stage::kTraining && p.stage != Stage::kJoining;
  });
}

Status Daemon::Leave() {
  State& state = *state_;
  if (state.leaving) return Fail(ErrorCode::kTemporary, "coveyd", "the node is leaving already");
  const std::lock_guard lock(state.mutex);
  state.leave = true;
  if (state.signals != nullptr) state.signals->Notify();
  return {};
}

bool Daemon::has_members() const { return state_->roster && !state_->roster->members().empty(); }

Status Daemon::TakeRecord(const std::vector<std::byte>& record) {
  const config::FleetSettings& fleet = state_->settings.config.fleet;
  if (!fleet.operator_key) {
    return Fail(
        ErrorCode::kUsage, "coveyd", "this node goes by no operator's word",
        "write the operator's public key into `fleet: {operator_key: ...}`, and restart it");
  }
  const auto checked =
      membership::CheckRecord(record, *fleet.operator_key, membership::FleetTag(fleet.name));
  if (!checked) {
    return Fail(
        ErrorCode::kData, "record", std::string(membership::Name(checked.error())),
        "it has to be signed with the operator key of this fleet, " + fleet.operator_key->Hex());
  }
  state_->outbox.Put(node::TakeRecord{record});
  state_->network->Wake();
  return {};
}

Status Daemon::Ping(const PeerKey& peer) {
  for (const learner::PeerInfo& info : GetReport().network.peers) {
    if (info.key != peer || info.state != session::State::kReady) continue;
    state_->outbox.Put(PingNow{peer});
    state_->network->Wake();
    return {};
  }
  return Fail(ErrorCode::kUnavailable, "peer " + peer.Short(), "there is no link to it");
}

void Daemon::State::Notify() {
  const std::lock_guard lock(mutex);
  if (signals != nullptr) signals->Notify();
}

// Returns: why the node ends now, or nothing.
std::optional<Ending> Daemon::State::LookAround() {
  const std::lock_guard lock(mutex);
  if (failure) return Ending::kFailure;
  if (leave) return Ending::kLeave;
  const config::Linger& linger = settings.config.train.linger;
  if (!linger.forever && done_since && clock.Now() >= *done_since + linger.time) {
    return Ending::kLeave;
  }
  return std::nullopt;
}

Status Daemon::State::MayPush() const {
  if (leaving) return Fail(ErrorCode::kTemporary, "coveyd", "the node is leaving");
  if (intake) return {};
  return Fail(ErrorCode::kUsage, "coveyd", "this node takes no live data",
              "write `live: {}` into the section data of its configuration, and restart it");
}

void Daemon::State::Measure() {
  // Nodes of one machine share their data; when the others have left, the last would count it all.
  if (leaving) return;
  const std::uint64_t now = PssBytes();
  pss = now;
  if (now > peak_pss) peak_pss = now;
}

Status Daemon::Run(Signals& signals) {
  State& state = *state_;
  COVEY_CHECK(state.driver != nullptr);
  {
    const std::lock_guard lock(state.mutex);
    state.signals = &signals;
  }
  std::optional<Ending> ending;
  while (!(ending = state.LookAround())) {
    Duration wait = kPssEvery;
    {
      const std::lock_guard lock(state.mutex);
      const config::Linger& linger = state.settings.config.train.linger;
      if (!linger.forever && state.done_since) {
        wait = std::min(wait, *state.done_since + linger.time - state.clock.Now());
      }
    }
    const std::optional<int> signal = signals.Wait(wait);
    state.admissions.Save();
    if (!signal) {
      state.Measure();
      state.SavePeers();
    }
    if (signal == SIGHUP) {
      log::Warning(log::Category::kNode,
                   "SIGHUP: this version does not reload its configuration; restart it");
    }
    if (signal == SIGTERM || signal == SIGINT) {
      ending = Ending::kSignal;
      break;
    }
  }
  Signals::EndProcessAfter(*ending == Ending::kLeave ? 1 : 0);
  const Status ended = state.End(*ending);
  const std::lock_guard lock(state.mutex);
  state.signals = nullptr;
  return ended;
}

void Daemon::State::SavePeers() {
  const NetworkReport report = network->GetReport(Clock::Source::now() + kReportWithin);
  peers.Save(report.members, report.at);
}

Status Daemon::State::End(Ending ending) {
  Measure();
  leaving = true;
  log::Info(log::Category::kNode, ending == Ending::kLeave ? "leaves" : "stops");
  auto deadline = Clock::Source::now() + kStopWithin;
  if (intake_thread) intake_thread->Stop();
  if (knocker) knocker->Stop();
  learner.Stop();
  if (!learner.WaitEnded(deadline)) EndHung("training");
  network->Stop();
  if (!network->WaitEnded(deadline)) EndHung("network");
  SavePeers();
  admissions.Save();
  const auto at_least = [&deadline] {
    deadline = std::max(deadline, Clock::Source::now() + kHearWithin);
  };
  if (ending == Ending::kFailure) {
    at_least();
    if (!evaluator.Stop(deadline)) EndHung("evaluation");
    return tl::unexpected(KeepLastGood(settings.config, learner.last_good(), *failure));
  }

  if (ending == Ending::kLeave) {
    evaluator.Finish(learner.TakeSnapshot());
    std::optional<learner::FinalScores> scores;
    // A signal cuts it short: then the checkpoint matters more.
    while (!(scores = evaluator.WaitFinished(Clock::Source::now() + kLookAround))) {
      if (Signals::HurryUp()) break;
    }
    if (scores) observer->OnFinished(*scores, learner.progress());
    deadline = Clock::Source::now() + kStopWithin;
  }
  const Status written = checkpoints.WriteLast(learner.Save());
  // All that has to be saved is saved, so what still runs is no failure.
  at_least();
  if (!evaluator.Stop(deadline)) EndEarly("ends during an evaluation", written);
  at_least();
  if (!publisher.Stop(deadline)) EndEarly("ends before its last model is published", written);
  return written;
}

Result<Pushed> Daemon::Push(std::span<const float> values, const std::vector<std::string>& classes,
                            std::span<const float> targets) {
  if (Status open = state_->MayPush(); !open) return tl::unexpected(open.error());
  return state_->intake->Push(values, classes, targets);
}

Result<Pushed> Daemon::PushTable(std::string_view text) {
  if (Status open = state_->MayPush(); !open) return tl::unexpected(open.error());
  return state_->intake->PushTable(text);
}

Result<Prediction> Daemon::Predict(std::span<const float> raw) {
  return state_->publisher.Predict(raw);
}
const nn::ModelSpec& Daemon::model() const { return state_->publisher.spec(); }
const data::LabelNames& Daemon::labels() const { return state_->publisher.labels(); }
const data::InputForm& Daemon::input_form() const { return state_->publisher.input_form(); }

Report Daemon::GetReport() {
  State& state = *state_;
  Report report;
  report.network = state.network->GetReport(Clock::Source::now() + kReportWithin);
  report.progress = state.learner.progress();
  if (state.leaving) report.progress.stage = Stage::kLeaving;
  report.evaluation = state.evaluator.report();
  report.checkpoint = state.checkpoints.report();
  report.publish = state.publisher.report();
  report.fifo = state.mailbox.report();
  if (state.intake) report.live = state.intake->report();
  report.outbox_dropped = state.outbox.dropped();
  report.endpoint = state.driver->endpoint();
  report.now = state.clock.Now();
  state.Measure();
  report.pss_bytes = state.pss;
  report.peak_pss_bytes = state.peak_pss;
  return report;
}

}  // namespace covey::node
