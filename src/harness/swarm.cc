#include "covey/harness/swarm.h"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "covey/harness/jobs.h"
#include "covey/simulate/swarm.h"
#include "harness/console.h"
#include "harness/status_line.h"
#include "harness/swarm_workers.h"
#include "harness/text.h"

namespace covey::harness {
namespace swarms {
namespace {

using simulate::SwarmResult;
using Results = std::map<std::uint64_t, SwarmResult>;

constexpr int kNoProcess = 71;  // EX_OSERR
constexpr std::uint64_t kMostSeeds = 10'000'000;

Result<Seeds> ParseSeeds(const std::string& text) {
  const auto wrong = [&text] {
    return Fail(ErrorCode::kUsage, "--seeds", "got '" + text + "', want A..B with A <= B, or one",
                "seeds are whole numbers from 0, at most " + Grouped(kMostSeeds) + " at once");
  };
  Seeds seeds;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, seeds.first);
  if (first.ec != std::errc()) return wrong();
  seeds.last = seeds.first;
  if (first.ptr == end) return seeds;
  const std::string_view rest(first.ptr, static_cast<std::size_t>(end - first.ptr));
  if (!rest.starts_with("..")) return wrong();
  const auto last = std::from_chars(first.ptr + 2, end, seeds.last);
  const bool sound = last.ec == std::errc() && last.ptr == end && seeds.last >= seeds.first;
  if (!sound || seeds.last - seeds.first >= kMostSeeds) return wrong();
  return seeds;
}

Result<Seeds> Checked(const SwarmCommand& command) {
  const auto within = [](const char* option, std::uint64_t got, std::uint64_t least,
                         std::uint64_t most) -> Status {
    if (got >= least && got <= most) return {};
    return Fail(ErrorCode::kUsage, option,
                "got " + std::to_string(got) + ", want " + std::to_string(least) + " to " +
                    std::to_string(most));
  };
  using simulate::SwarmOptions;
  if (command.nodes) {
    const Status nodes =
        within("--nodes", *command.nodes, SwarmOptions::kFewestNodes, SwarmOptions::kMostNodes);
    if (!nodes) return tl::unexpected(nodes.error());
  }
  const Status exchanges = within("--exchanges", command.exchanges, SwarmOptions::kFewestExchanges,
                                  SwarmOptions::kMostExchanges);
  if (!exchanges) return tl::unexpected(exchanges.error());
  return ParseSeeds(command.seeds);
}

simulate::SwarmOptions OptionsOf(const SwarmCommand& command) {
  return {.nodes = command.nodes, .exchanges = command.exchanges, .bugs = {}};
}

std::string RepeatCommand(const SwarmCommand& command, std::uint64_t seed) {
  std::string text = "covey-sim swarm --seeds " + std::to_string(seed);
  if (command.nodes) text += " --nodes " + std::to_string(*command.nodes);
  return text + " --exchanges " + std::to_string(command.exchanges) + " --trace-hash";
}

std::string Hex(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

bool IsGreen(const SwarmResult& result) { return result.verdict == SwarmResult::Verdict::kGreen; }

std::string Verdict(std::uint64_t seed, const SwarmResult& result) {
  return "seed " + std::to_string(seed) + ": " + std::string(Name(result.verdict));
}

std::string Words(const SwarmCommand& command, std::uint64_t seed, const SwarmResult& result) {
  std::string text = Verdict(seed, result);
  if (command.trace_hash) {
    char spread[48];
    std::snprintf(spread, sizeof spread, ", spread %.2g", result.spread);
    text += ", trace " + Hex(result.trace_hash) + spread;
  }
  if (IsGreen(result)) return text + '\n';
  text += "\n  " + result.what + '\n';
  if (result.verdict != SwarmResult::Verdict::kCrash) {
    text += "  at " + ReadableDuration(result.at) + " of virtual time\n";
  }
  for (const auto& [name, value] : DrawSwarm(seed, OptionsOf(command)).Parameters()) {
    text += "  " + name + " " + value + '\n';
  }
  return text + "  repeat: " + RepeatCommand(command, seed) + '\n';
}

nlohmann::json Json(const SwarmCommand& command, std::uint64_t seed, const SwarmResult& result) {
  nlohmann::json parameters = nlohmann::json::array();
  for (const auto& [name, value] : DrawSwarm(seed, OptionsOf(command)).Parameters()) {
    parameters.push_back({{"name", name}, {"value", value}});
  }
  return {{"seed", seed},
          {"verdict", std::string(Name(result.verdict))},
          {"what", result.what},
          {"at_seconds", Seconds(result.at)},
          {"trace_hash", Hex(result.trace_hash)},
          {"parameters", parameters},
          {"command", RepeatCommand(command, seed)}};
}

// Tells on standard error how far the seeds are, and each that fails when it does.
class Progress {
 public:
  Progress(std::uint64_t seeds, StatusLine::Kind kind)
      : seeds_(seeds), line_(kind, STDERR_FILENO) {}

  double Seconds() const { return line_.Seconds(); }

  void Finished(std::uint64_t seed, const SwarmResult& result) {
    ++done_;
    if (IsGreen(result)) return;
    ++failed_;
    line_.Say(Verdict(seed, result) + ", " + result.what);
  }

  void Waited() {
    if (!line_.Due()) return;
    std::string text = std::to_string(done_) + " of " + std::to_string(seeds_) + " seeds";
    if (failed_ > 0) text += ", " + std::to_string(failed_) + " failed";
    if (done_ > 0) {
      const auto left = static_cast<double>(seeds_ - done_);
      text += "; ETA " + Span(line_.Seconds() / static_cast<double>(done_) * left);
    }
    line_.Show(text);
  }

 private:
  const std::uint64_t seeds_;
  StatusLine line_;
  std::uint64_t done_ = 0;
  std::uint64_t failed_ = 0;
};

// Prints all results. Returns: the number of failures.
std::size_t Report(const SwarmCommand& command, const Results& results, bool interrupted,
                   double seconds) {
  std::size_t failed = 0;
  std::uint64_t exchanges = 0;
  nlohmann::json failures = nlohmann::json::array();
  nlohmann::json hashes = nlohmann::json::object();
  for (const auto& [seed, result] : results) {
    exchanges += result.exchanges;
    const bool green = IsGreen(result);
    failed += green ? 0 : 1;
    if (command.trace_hash) hashes[std::to_string(seed)] = Hex(result.trace_hash);
    if (!green) failures.push_back(Json(command, seed, result));
    if (!command.json && (!green || command.trace_hash)) {
      Print(stdout, Words(command, seed, result));
    }
  }
  const std::size_t seeds = results.size();
  if (command.json) {
    nlohmann::json summary = {
        {"seeds", seeds},          {"green", seeds - failed},    {"exchanges", exchanges},
        {"wall_seconds", seconds}, {"interrupted", interrupted}, {"failures", failures}};
    if (command.trace_hash) summary["trace_hashes"] = hashes;
    Print(stdout, summary.dump(2) + '\n');
  } else {
    Print(stdout, std::to_string(seeds - failed) + " of " + std::to_string(seeds) +
                      " seeds are green, " + std::to_string(exchanges) + " exchanges, " +
                      Span(seconds) + '\n');
  }
  return failed;
}

}  // namespace
}  // namespace swarms

int RunSwarms(const SwarmCommand& command, const std::atomic<bool>& stop) {
  const Result<Seeds> seeds = swarms::Checked(command);
  if (!seeds) return Complain(seeds.error());
  swarms::Results results;
  double seconds = 0;
  {
    swarms::Progress progress(seeds->count(), HowToShowStatus(command.quiet, STDERR_FILENO));
    SwarmWorkers workers(swarms::OptionsOf(command), *seeds, WorkersOr(command.jobs));
    const auto finished = [&](std::uint64_t seed, const simulate::SwarmResult& result) {
      results[seed] = result;
      progress.Finished(seed, result);
    };
    if (!workers.Run(stop, finished, [&progress] { progress.Waited(); })) {
      Print(stderr, "covey-sim: can't start a process\n");
      return swarms::kNoProcess;
    }
    seconds = progress.Seconds();
  }
  const bool interrupted = stop.load(std::memory_order_relaxed);
  const std::size_t failed = swarms::Report(command, results, interrupted, seconds);
  if (interrupted) return kInterruptedCode;
  return failed > 0 ? 1 : 0;
}

}  // namespace covey::harness
