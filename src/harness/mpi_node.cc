#include <poll.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <utility>

#include "covey/config/load.h"
#include "covey/config/paths.h"
#include "covey/harness/mpi.h"
#include "harness/console.h"
#include "harness/daemon_process.h"
#include "harness/mpi_folder.h"
#include "harness/node_text.h"
#include "harness/socket_folder.h"

namespace covey::harness {

Status MpiFolder::Write(std::string_view name, std::string_view text) const {
  return WriteShared(node_ + '/' + std::string(name), text);
}

std::optional<std::string> MpiFolder::Read(std::string_view name) const {
  std::ifstream file(node_ + '/' + std::string(name), std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kMeetPatience = seconds(300);  // machines may have to unpack the data first
constexpr Duration kMpiLinkPatience = seconds(30);
constexpr Duration kMpiLeavePatience = seconds(60);
constexpr Duration kMpiNap = milliseconds(50);
constexpr int kMpiAskEvery = 5;

std::optional<std::uint32_t> FromEnvironment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  std::uint32_t value = 0;
  const std::string_view word(text);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// What mpirun told this process.
struct Rank {
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  bool one_machine = true;
};

Result<Rank> RankOfProcess() {
  const auto rank = FromEnvironment("OMPI_COMM_WORLD_RANK");
  const auto size = FromEnvironment("OMPI_COMM_WORLD_SIZE");
  const auto local = FromEnvironment("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (!rank || !size || !local || *rank >= *size) {
    return Fail(ErrorCode::kUsage, "mpi-node", "was not started by Open MPI's mpirun",
                "run covey-sim sweep FILE --launcher mpi");
  }
  return Rank{*rank, *size, *local == *size};
}

std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "localhost";
}

// Hears nothing: what the daemon told is asked for at the end.
class Deaf final : public Observer {
 public:
  explicit Deaf(const std::atomic<bool>& stop) : stop_(stop) {}
  void Begin(Group, std::uint32_t) override {}
  void Progress(const NodeProgress&) override {}
  void Evaluated(Group, std::uint32_t, const Point&) override {}
  void Finish(Group) override {}
  void Note(const std::string&) override {}
  // Also when mpirun was killed: its processes are no children of anybody then.
  bool Interrupted() const override {
    return stop_.load(std::memory_order_relaxed) || getppid() != parent_;
  }

 private:
  const std::atomic<bool>& stop_;
  const pid_t parent_ = getppid();
};

class MpiNode {
 public:
  MpiNode(std::string folder, Rank rank, DaemonProcess daemon, Observer& observer)
      : folder_(std::move(folder)),
        rank_(rank),
        own_(folder_, rank.rank),
        daemon_(std::move(daemon)),
        observer_(observer) {}

  Status Run() {
    const Result<PeerKey> key = daemon_.Prepare();
    if (!key) return tl::unexpected(key.error());
    if (Status told = own_.Write(MpiFolder::kKey, key->Hex()); !told) return told;
    if (Status started = Start(); !started) return started;
    AwaitPeers();
    daemon_.StartClock(MonotonicNow());
    daemon_.Tell(api::Command::kResume);
    Train();
    return End();
  }

 private:
  // Waits until all nodes below `count` have left the file. Returns: their texts.
  Result<std::vector<std::string>> Meet(std::string_view name, std::uint32_t count,
                                        const std::function<void()>& meanwhile = {}) {
    std::vector<std::string> texts;
    const auto end = std::chrono::steady_clock::now() + kMeetPatience;
    while (texts.size() < count) {
      const auto node = static_cast<std::uint32_t>(texts.size());
      if (const auto text = MpiFolder(folder_, node).Read(name)) {
        texts.push_back(*text);
        continue;
      }
      if (observer_.Interrupted()) {
        return Fail(ErrorCode::kTemporary, "node " + std::to_string(rank_.rank), "was stopped");
      }
      if (std::chrono::steady_clock::now() > end) {
        return Fail(ErrorCode::kUnavailable, "node " + std::to_string(node),
                    "left no " + std::string(name) + " in " + folder_,
                    "is the folder shared by all machines?");
      }
      if (meanwhile) meanwhile();
      Nap();
    }
    return texts;
  }

  // It dials the nodes of lower ranks, so that each pair has one link.
  Status Start() {
    const Result<std::vector<std::string>> keys = Meet(MpiFolder::kKey, rank_.size);
    if (!keys) return tl::unexpected(keys.error());
    const Result<std::vector<std::string>> addresses = Meet(MpiFolder::kAddress, rank_.rank);
    if (!addresses) return tl::unexpected(addresses.error());
    std::vector<config::Seed> seeds;
    std::vector<PeerKey> authorized;
    for (std::uint32_t node = 0; node < rank_.size; ++node) {
      if (node == rank_.rank) continue;
      const Result<PeerKey> key = PeerKey::FromHex((*keys)[node]);
      if (!key) return tl::unexpected(key.error());
      authorized.push_back(*key);
      if (node >= rank_.rank) continue;
      const Result<config::HostPort> address = config::ParseHostPort((*addresses)[node]);
      if (!address) return tl::unexpected(address.error());
      seeds.push_back({.key = *key, .address = *address});
    }
    if (Status launched = daemon_.Launch(seeds, authorized); !launched) return launched;
    const auto end = std::chrono::steady_clock::now() + kMeetPatience;
    for (;;) {
      const Result<bool> ready = daemon_.PollReady();
      if (!ready) return tl::unexpected(ready.error());
      if (*ready) break;
      if (observer_.Interrupted() || std::chrono::steady_clock::now() > end) {
        return Fail(ErrorCode::kUnavailable, "node " + std::to_string(rank_.rank),
                    "was not ready in time", "its log is " + daemon_.log());
      }
    }
    const std::string address = daemon_.address();
    const std::string port = address.substr(address.rfind(':'));
    return own_.Write(MpiFolder::kAddress, rank_.one_machine ? address : HostName() + port);
  }

  void AwaitPeers() {
    const auto end = std::chrono::steady_clock::now() + kMpiLinkPatience;
    while (!observer_.Interrupted() && !daemon_.died() && daemon_.peers_up() + 1 < rank_.size &&
           std::chrono::steady_clock::now() < end) {
      daemon_.Follow(observer_, true);
      Nap();
    }
  }

  void Train() {
    for (int tick = 0; !daemon_.done() && !daemon_.died() && !observer_.Interrupted(); ++tick) {
      daemon_.Follow(observer_, tick % kMpiAskEvery == 0);
      if (tick % 20 == 0) daemon_.SamplePss();
      Nap();
    }
  }

  // A node that is done keeps answering until all are; one that died tells so and ends well: a
  // failure would end the others.
  Status End() {
    if (Status told = own_.Write(MpiFolder::kDone, ""); !told) return told;
    int tick = 0;
    const auto meanwhile = [this, &tick] { daemon_.Follow(observer_, ++tick % 5 == 0); };
    while (!observer_.Interrupted() && !AllDone()) {
      meanwhile();
      Nap();
    }
    daemon_.Follow(observer_, true);
    daemon_.ExpectEnd();
    daemon_.Tell(api::Command::kLeave);
    const auto end = std::chrono::steady_clock::now() + kMpiLeavePatience;
    while (!daemon_.Ended(Duration::zero()) && std::chrono::steady_clock::now() < end) {
      daemon_.Follow(observer_, false);
      Nap();
    }
    daemon_.HearOut(observer_);
    if (!daemon_.Ended(Duration::zero())) daemon_.Signal(SIGKILL);
    return own_.Write(MpiFolder::kOutcome, ToJsonText(daemon_.Describe()));
  }

  bool AllDone() const {
    for (std::uint32_t node = 0; node < rank_.size; ++node) {
      if (!MpiFolder(folder_, node).Read(MpiFolder::kDone)) return false;
    }
    return true;
  }

  static void Nap() {
    poll(nullptr, 0, static_cast<int>(std::chrono::ceil<milliseconds>(kMpiNap).count()));
  }

  std::string folder_;
  Rank rank_;
  MpiFolder own_;
  DaemonProcess daemon_;
  Observer& observer_;
};

Status RunRank(const std::string& folder, const std::atomic<bool>& stop) {
  const Result<Rank> rank = RankOfProcess();
  if (!rank) return tl::unexpected(rank.error());
  const Result<config::Loaded<config::Experiment>> experiment =
      config::LoadExperiment(folder + "/experiment.yaml");
  if (!experiment) return tl::unexpected(experiment.error());
  Result<std::vector<config::NodeConfig>> configs = config::Expand(experiment->value);
  if (!configs) return tl::unexpected(configs.error());
  if (configs->size() != rank->size) {
    return Fail(ErrorCode::kUsage, "mpi-node",
                "mpirun started " + std::to_string(rank->size) + " processes for " +
                    std::to_string(configs->size()) + " nodes");
  }
  const Result<std::string> program = ProgramBeside("coveyd");
  if (!program) return tl::unexpected(program.error());
  const Result<SocketFolder> sockets = SocketFolder::Make();
  if (!sockets) return tl::unexpected(sockets.error());
  config::NodeConfig config = std::move((*configs)[rank->rank]);
  config::FillPaths(config, config::Environment::OfProcess());
  DaemonProcess daemon(rank->rank, std::move(config),
                       {.program = *program,
                        .folder = MpiFolder(folder, rank->rank).node(),
                        .socket = sockets->path() + "/api",
                        .listen = rank->one_machine ? "127.0.0.1" : "0.0.0.0"});
  Deaf observer(stop);
  return MpiNode(folder, *rank, std::move(daemon), observer).Run();
}

}  // namespace

int RunMpiNode(const std::string& folder, const std::atomic<bool>& stop) {
  const Status done = RunRank(folder, stop);
  return done ? 0 : Complain(done.error());
}

}  // namespace covey::harness
