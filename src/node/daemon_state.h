// What a daemon is made of: shared by the files that open it and run it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "covey/node/daemon.h"
#include "node/checkpoint_thread.h"
#include "node/clock.h"
#include "node/evaluator_thread.h"
#include "node/intake.h"
#include "node/intake_thread.h"
#include "node/knocker.h"
#include "node/learner_thread.h"
#include "node/mailbox.h"
#include "node/network_thread.h"
#include "node/outbox.h"
#include "node/peers_store.h"
#include "node/publisher.h"
#include "node/roster_store.h"

namespace covey::node {

enum class Ending { kSignal, kLeave, kFailure };

struct Daemon::State {
  State(DaemonSettings given, setup::Assembly assembled, std::unique_ptr<Intake> door);
  // Threads call what other threads own, so they end before anything goes.
  ~State() {
    if (intake_thread) intake_thread->Stop();
    learner.Join();
    evaluator.Join();
    publisher.Join();
    checkpoints.Stop();
  }

  Status Restore();
  Status StartFromImport();
  void OnStage(const Progress& changed);
  void OnScore(const learner::Score& score);
  Status Command(consensus::Command command, bool (*has_effect)(const Progress& progress));
  std::optional<Ending> LookAround();
  Status End(Ending ending);
  void Notify();  // wakes Run
  void SavePeers();
  Status OpenRoster();
  Status MayPush() const;
  void Measure();

  DaemonSettings settings;
  setup::Assembly assembly;
  std::unique_ptr<Intake> intake;  // of a live shard
  std::optional<IntakeThread> intake_thread;
  Clock clock;
  Mailbox mailbox;
  Outbox outbox;
  Publisher publisher;
  EvaluatorThread evaluator;
  CheckpointThread checkpoints;
  PeersStore peers;
  RosterStore admissions;
  std::optional<membership::Roster> roster;  // moves to the network thread at Start
  LearnerThread learner;
  std::unique_ptr<NetworkThread> network;
  std::unique_ptr<Knocker> knocker;
  NetworkDriver* driver = nullptr;
  Observer* observer = nullptr;
  std::string restored_from;

  std::mutex mutex;
  Signals* signals = nullptr;  // of Run
  bool leave = false;
  std::optional<Time> done_since;
  std::optional<Error> failure;
  std::atomic<bool> leaving{false};
  std::atomic<std::uint64_t> pss{0};
  std::atomic<std::uint64_t> peak_pss{0};
};

}  // namespace covey::node
