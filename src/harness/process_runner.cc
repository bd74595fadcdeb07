#include <poll.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "covey/config/load.h"
#include "covey/config/paths.h"
#include "covey/harness/runner.h"
#include "covey/store/file_system.h"
#include "harness/daemon_process.h"
#include "harness/models.h"
#include "harness/socket_folder.h"

namespace covey::harness {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kReadyPatience = seconds(120);  // the first start unpacks the data set
constexpr Duration kLinkPatience = seconds(10);
constexpr Duration kLeavePatience = seconds(60);   // final evaluations and checkpoints of all
constexpr Duration kHurriedPatience = seconds(5);  // the same after Ctrl-C
constexpr Duration kTermPatience = seconds(5);
constexpr Duration kTick = milliseconds(50);
constexpr int kAskEvery = 5;   // ticks between two status requests
constexpr int kPssEvery = 20;  // ticks between two looks at memory

void Nap(Duration duration) {
  poll(nullptr, 0, static_cast<int>(std::chrono::ceil<milliseconds>(duration).count()));
}

class ProcessFleet {
 public:
  ProcessFleet(const config::Experiment& experiment, const ProcessOptions& options,
               SocketFolder sockets, Observer& observer)
      : experiment_(experiment),
        options_(options),
        sockets_(std::move(sockets)),
        observer_(observer) {}

  Status Prepare();
  Status StartAll();
  void Run();
  void EndAll();
  FleetOutcome Collect();

 private:
  Duration StartAfter(std::uint32_t index) const;
  Status Launch(DaemonProcess& node);
  Status AwaitReady(DaemonProcess& node);
  void AwaitLinks();
  void ResumeAll();
  void StartLate();
  void LookAtStarting();
  void Follow(DaemonProcess& node, bool ask);
  void FollowAll(bool ask);
  bool AllDone() const;
  void EndWith(int signal, Duration patience);
  bool AllEnded();
  void TakeModels(FleetOutcome& outcome) const;

  const config::Experiment& experiment_;
  const ProcessOptions& options_;
  SocketFolder sockets_;
  Observer& observer_;
  std::vector<std::unique_ptr<DaemonProcess>> nodes_;
  std::vector<PeerKey> keys_;
  std::vector<bool> failed_;  // could not be started
  std::uint64_t resumed_ = 0;
  bool interrupted_ = false;
};

Duration ProcessFleet::StartAfter(std::uint32_t index) const {
  const auto own = experiment_.overrides.nodes.find(index);
  return own == experiment_.overrides.nodes.end() ? Duration{} : own->second.start_after;
}

Status ProcessFleet::Prepare() {
  Result<std::vector<config::NodeConfig>> configs = config::Expand(experiment_);
  if (!configs) return tl::unexpected(configs.error());
  std::error_code error;
  const std::string folder = std::filesystem::absolute(options_.folder, error).string() + "/nodes";
  if (error) return Fail(ErrorCode::kCantCreate, options_.folder, error.message());
  if (Status made = store::MakeFolder(folder); !made) return made;
  observer_.Begin(Group::kConsensus, static_cast<std::uint32_t>(configs->size()));
  const config::Environment environment = config::Environment::OfProcess();
  for (std::uint32_t i = 0; i < configs->size(); ++i) {
    const std::string name = std::to_string(i);
    config::FillPaths((*configs)[i], environment);
    nodes_.push_back(std::make_unique<DaemonProcess>(
        i, std::move((*configs)[i]),
        DaemonProcess::Place{.program = options_.program,
                             .folder = folder + '/' + name,
                             .socket = sockets_.path() + '/' + name}));
    Result<PeerKey> key = nodes_.back()->Prepare();
    if (!key) return tl::unexpected(key.error());
    keys_.push_back(*key);
    if (observer_.Interrupted()) break;
  }
  failed_.resize(nodes_.size());
  return {};
}

// It dials every node that is ready; those dial nobody, so that each pair has one link.
Status ProcessFleet::Launch(DaemonProcess& node) {
  std::vector<config::Seed> seeds;
  for (const auto& other : nodes_) {
    if (other->ready() && !other->died()) seeds.push_back(other->AsSeed());
  }
  std::vector<PeerKey> authorized = keys_;
  authorized.erase(authorized.begin() + node.index());
  return node.Launch(seeds, authorized);
}

Status ProcessFleet::AwaitReady(DaemonProcess& node) {
  const auto end = std::chrono::steady_clock::now() + kReadyPatience;
  while (!observer_.Interrupted()) {
    const Result<bool> ready = node.PollReady();
    if (!ready) return tl::unexpected(ready.error());
    if (*ready) return {};
    if (std::chrono::steady_clock::now() > end) {
      return Fail(ErrorCode::kUnavailable, "node " + std::to_string(node.index()),
                  "was not ready within " + FormatDuration(kReadyPatience),
                  "its log is " + node.log());
    }
  }
  return {};
}

Status ProcessFleet::StartAll() {
  for (const auto& node : nodes_) {
    if (StartAfter(node->index()) > Duration::zero()) continue;
    if (observer_.Interrupted()) break;
    if (Status launched = Launch(*node); !launched) return launched;
    if (Status ready = AwaitReady(*node); !ready) return ready;
  }
  AwaitLinks();
  resumed_ = MonotonicNow();
  ResumeAll();
  return {};
}

// All at once: told in turn, the last would start some 100 ms after the first, and until then the
// first would count the pages of the data set that all of them share as its own.
void ProcessFleet::ResumeAll() {
  std::vector<std::thread> tellers;
  for (const auto& node : nodes_) {
    node->StartClock(resumed_);
    if (node->ready()) {
      tellers.emplace_back([&node = *node] { node.Tell(api::Command::kResume); });
    }
  }
  for (std::thread& teller : tellers) teller.join();
}

// All start together only when they can also reach one another.
void ProcessFleet::AwaitLinks() {
  std::size_t started = 0;
  for (const auto& node : nodes_) started += node->ready() ? 1U : 0U;
  const auto end = std::chrono::steady_clock::now() + kLinkPatience;
  while (!observer_.Interrupted()) {
    bool complete = true;
    for (const auto& node : nodes_) {
      if (!node->ready()) continue;
      Follow(*node, true);
      complete = complete && (node->died() || node->peers_up() + 1 >= started);
    }
    if (complete) return;
    if (std::chrono::steady_clock::now() > end) {
      observer_.Note("Not every pair of nodes was connected when the training began.");
      return;
    }
    Nap(kTick);
  }
}

void ProcessFleet::StartLate() {
  const Duration now{static_cast<Duration::rep>(MonotonicNow() - resumed_)};
  for (const auto& node : nodes_) {
    if (node->launched() || failed_[node->index()] || StartAfter(node->index()) > now) continue;
    if (const Status launched = Launch(*node); !launched) {
      failed_[node->index()] = true;
      observer_.Note(launched.error().Format());
    }
  }
}

void ProcessFleet::LookAtStarting() {
  for (const auto& node : nodes_) {
    if (!node->launched() || node->ready() || failed_[node->index()]) continue;
    const Result<bool> ready = node->PollReady();
    if (!ready) {
      failed_[node->index()] = true;
      observer_.Note(ready.error().Format());
    } else if (*ready) {
      node->Tell(api::Command::kResume);
    }
  }
}

void ProcessFleet::Follow(DaemonProcess& node, bool ask) {
  const bool alive = !node.died();
  node.Follow(observer_, ask);
  if (alive && node.died()) {
    observer_.Note("Node " + std::to_string(node.index()) + " died in mid-run: " + node.reason() +
                   ". The others went on.");
  }
}

void ProcessFleet::FollowAll(bool ask) {
  for (const auto& node : nodes_) Follow(*node, ask);
}

bool ProcessFleet::AllDone() const {
  for (const auto& node : nodes_) {
    if (!failed_[node->index()] && !node->died() && !node->done()) return false;
  }
  return true;
}

void ProcessFleet::Run() {
  for (int tick = 0; !AllDone(); ++tick) {
    if (observer_.Interrupted()) {
      interrupted_ = true;
      break;
    }
    StartLate();
    LookAtStarting();
    FollowAll(tick % kAskEvery == 0);
    // Not at once: the first to read a page that all share has it charged alone.
    if (tick % kPssEvery == kPssEvery - 1) {
      for (const auto& node : nodes_) node->SamplePss();
    }
    Nap(kTick);
  }
  FollowAll(true);  // the last figures
  for (const auto& node : nodes_) node->SamplePss();
}

bool ProcessFleet::AllEnded() {
  bool all = true;
  for (const auto& node : nodes_) all = node->Ended(Duration::zero()) && all;
  return all;
}

void ProcessFleet::EndWith(int signal, Duration patience) {
  for (const auto& node : nodes_) node->Signal(signal);
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!AllEnded() && std::chrono::steady_clock::now() < end) Nap(milliseconds(10));
}

void ProcessFleet::EndAll() {
  interrupted_ = interrupted_ || observer_.Interrupted();
  for (const auto& node : nodes_) node->ExpectEnd();
  for (const auto& node : nodes_) node->Tell(api::Command::kLeave);
  const auto end =
      std::chrono::steady_clock::now() + (interrupted_ ? kHurriedPatience : kLeavePatience);
  while (!AllEnded() && std::chrono::steady_clock::now() < end) {
    FollowAll(false);
    Nap(milliseconds(10));
  }
  for (const auto& node : nodes_) node->HearOut(observer_);
  if (!AllEnded()) EndWith(SIGTERM, kTermPatience);
  if (!AllEnded()) EndWith(SIGKILL, kTermPatience);
}

// The settled models, from the checkpoints that the nodes wrote when they left.
void ProcessFleet::TakeModels(FleetOutcome& outcome) const {
  std::vector<NodeModel> models;
  for (const NodeOutcome& node : outcome.nodes) {
    if (node.end == End::kDied) continue;
    const config::NodeConfig& config = nodes_[node.index]->config();
    models.push_back({config.model, config.node.state_dir, node.index});
  }
  LoadModels(models, outcome);
}

FleetOutcome ProcessFleet::Collect() {
  FleetOutcome outcome;
  outcome.interrupted = interrupted_;
  std::uint64_t first = UINT64_MAX;
  std::uint64_t last = 0;
  std::uint64_t samples = 0;
  for (const auto& node : nodes_) {
    NodeOutcome described = node->Describe();
    if (failed_[node->index()]) {
      described.end = End::kDied;
      if (described.reason.empty()) described.reason = "could not be started";
    }
    outcome.nodes.push_back(std::move(described));
    const api::NodeStatus& status = node->status();
    samples += status.samples;
    if (status.first_batch_ns > 0) first = std::min(first, status.first_batch_ns);
    last = std::max(last, status.last_batch_ns);
    if (!status.version.empty()) {
      outcome.build = "coveyd " + status.version + " (" + status.build + ", kernels " +
                      status.kernel_level + ")";
    }
  }
  if (last > first) {
    outcome.samples_per_second =
        static_cast<double>(samples) / (static_cast<double>(last - first) * 1e-9);
  }
  TakeModels(outcome);
  observer_.Finish(Group::kConsensus);
  return outcome;
}

}  // namespace

Result<FleetOutcome> RunProcesses(const config::Experiment& experiment,
                                  const ProcessOptions& options, Observer& observer) {
  Result<SocketFolder> sockets = SocketFolder::Make();
  if (!sockets) return tl::unexpected(sockets.error());
  ProcessFleet fleet(experiment, options, std::move(*sockets), observer);
  if (Status prepared = fleet.Prepare(); !prepared) return tl::unexpected(prepared.error());
  if (Status started = fleet.StartAll(); !started) {
    fleet.EndAll();
    return tl::unexpected(started.error());
  }
  fleet.Run();
  fleet.EndAll();
  return fleet.Collect();
}

}  // namespace covey::harness
