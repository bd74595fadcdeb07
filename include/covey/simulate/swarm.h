// Swarm tests: fleets whose faults are drawn from a seed, watched from inside.
//
// A run has two phases. Safety: faults of every kind, while checkers hold every node to what must
// be true at any time. Then everything heals. Liveness: every node completes its exchanges and gets
// done, and the models come together.
// Determinism: a function of seed, options and build; the trace hash covers every message, every
// step and their times.
// Source: TigerBeetle's VOPR (docs/internals, 2024) for the two phases and ranges of faults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "covey/base/time.h"
#include "covey/config/node_config.h"
#include "covey/simulate/probe.h"

namespace covey::simulate {

struct SwarmOptions {
  static constexpr std::uint32_t kFewestNodes = 2;
  static constexpr std::uint32_t kMostNodes = 64;
  static constexpr std::uint32_t kFewestExchanges = 10;
  static constexpr std::uint32_t kMostExchanges = 10'000;  // the checkers remember all of them

  std::optional<std::uint32_t> nodes;  // unset: 16 to 32, drawn
  std::uint32_t exchanges = 500;       // that a node begins and completes before its tail, at least
  PlantedBugs bugs{};                  // for tests of the checkers
};

// What is drawn from a seed. Ranges: docs/simulator.md.
struct SwarmPlan {
  std::uint64_t seed = 0;
  std::uint32_t nodes = 0;
  std::uint32_t segments = 1;  // consensus::Settings::segments
  config::FaultSettings faults;
  std::vector<Duration> start_after;  // by node
  Duration heal_at{};
  Duration settle_at{};   // no node stops training before
  Duration give_up_at{};  // a run whose nodes are not done by then has failed

  // The parameters by name, for reports.
  std::vector<std::pair<std::string, std::string>> Parameters() const;
};

SwarmPlan DrawSwarm(std::uint64_t seed, const SwarmOptions& options);

struct SwarmResult {
  enum class Verdict { kGreen, kCrash, kSafety, kLiveness };
  Verdict verdict = Verdict::kGreen;
  std::string what;  // of a failure: the checker, the node and what it found
  Time at{};         // when; of a run that never ended, its last step
  std::uint64_t trace_hash = 0;
  std::uint64_t exchanges = 0;  // completed by all nodes
  double spread = 0;            // at the end of a run without a violation
};

// "green", "crash", "safety", "liveness".
std::string_view Name(SwarmResult::Verdict verdict);

SwarmResult RunSwarm(const SwarmPlan& plan, const SwarmOptions& options);

}  // namespace covey::simulate
