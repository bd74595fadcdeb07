// One coveyd under the harness: its files, its process, its local API, and what was heard of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "covey/api/client.h"
#include "covey/base/result.h"
#include "covey/config/node_config.h"
#include "covey/harness/child.h"
#include "covey/harness/observer.h"
#include "covey/harness/outcome.h"

namespace covey::harness {

// Returns: the monotonic clock, in nanoseconds: the axis of the times in api::NodeStatus.
std::uint64_t MonotonicNow();

// Thread: one, and one that lives as long as the daemon shall (see Child).
class DaemonProcess {
 public:
  struct Place {
    std::string program;
    std::string folder;                // state, configuration, log
    std::string socket;                // of the local API: a short path
    std::string listen = "127.0.0.1";  // for peers, at a port that the system chooses
  };

  DaemonProcess(std::uint32_t index, config::NodeConfig config, Place place);

  // Makes folder, configuration and key. Returns: the node's key.
  Result<PeerKey> Prepare();
  // Starts the daemon, paused: it dials `seeds` and lets in `authorized`.
  Status Launch(const std::vector<config::Seed>& seeds, const std::vector<PeerKey>& authorized);
  // Returns: true once it is ready and answers, false while it isn't yet.
  // Errors: kUnavailable when it ended instead; the text has the end of its log.
  Result<bool> PollReady();

  // Reads what it told, asks for its status when `ask`, and passes both on. Finds out whether it
  // has died.
  void Follow(Observer& observer, bool ask);
  // Waits, once the process has left in order, for its final results: they may still be on their
  // way through the own socket. At most as long as api::Client waits for last words.
  void HearOut(Observer& observer);
  // A command; failures are left for Follow to find.
  void Tell(api::Command command);
  void SamplePss();
  void Signal(int signal);
  // Returns: whether the process has ended (or was never started), waiting at most `at_most`.
  bool Ended(Duration at_most);

  std::uint32_t index() const { return index_; }
  const config::NodeConfig& config() const { return config_; }
  bool launched() const { return child_.has_value(); }
  bool ready() const { return client_.has_value(); }
  bool died() const { return !reason_.empty(); }
  const std::string& reason() const { return reason_; }  // of died()
  bool done() const;                                     // trained and settled
  std::size_t peers_up() const;
  const std::string& address() const { return address_; }  // "127.0.0.1:41234"
  config::Seed AsSeed() const;                             // requires ready()
  const api::NodeStatus& status() const { return status_; }
  const std::string& log() const { return log_; }

  // From now on the end of the process is no death.
  void ExpectEnd() { leaving_ = true; }
  void StartClock(std::uint64_t at) { clock_start_ = at; }

  // What it was, for the outcome. After its end.
  NodeOutcome Describe() const;

 private:
  Status WriteConfig(const config::NodeConfig& config) const;
  Error EndedEarly(const ExitStatus& status) const;
  void Take(const api::Event& event, Observer& observer);
  void Report(Observer& observer) const;
  std::string LogTail() const;

  std::uint32_t index_;
  config::NodeConfig config_;
  Place place_;
  std::string file_;
  std::string log_;
  PeerKey key_;
  std::string address_;
  std::optional<Child> child_;
  std::optional<api::Client> client_;
  api::NodeStatus status_;
  std::optional<api::FinalResults> final_results_;
  std::vector<Point> curve_;
  std::uint64_t clock_start_ = 0;
  std::uint64_t ask_again_ = 0;  // not before this time: it did not answer
  std::uint64_t pss_ = 0;
  bool leaving_ = false;
  std::string reason_;  // why it died
};

}  // namespace covey::harness
