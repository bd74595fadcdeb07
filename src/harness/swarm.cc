#include "covey/harness/swarm.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "covey/simulate/swarm.h"
#include "harness/text.h"

namespace covey::harness {
namespace swarms {
namespace {

using simulate::SwarmResult;
using Clock = std::chrono::steady_clock;

constexpr int kNoProcess = 71;  // EX_OSERR
constexpr std::uint64_t kMostSeeds = 10'000'000;

struct Seeds {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

std::optional<Seeds> ParseSeeds(const std::string& text) {
  Seeds seeds;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, seeds.first);
  if (first.ec != std::errc()) return std::nullopt;
  seeds.last = seeds.first;
  if (first.ptr == end) return seeds;
  const std::string_view rest(first.ptr, static_cast<std::size_t>(end - first.ptr));
  if (!rest.starts_with("..")) return std::nullopt;
  const auto last = std::from_chars(first.ptr + 2, end, seeds.last);
  const bool sound = last.ec == std::errc() && last.ptr == end && seeds.last >= seeds.first;
  return sound && seeds.last - seeds.first < kMostSeeds ? std::optional(seeds) : std::nullopt;
}

// One seed's result as a line between processes, and back.
std::string Line(std::uint64_t seed, const SwarmResult& result) {
  nlohmann::json line = {{"seed", seed},
                         {"verdict", static_cast<int>(result.verdict)},
                         {"what", result.what},
                         {"at", result.at.count()},
                         {"hash", result.trace_hash},
                         {"exchanges", result.exchanges},
                         {"spread", result.spread}};
  return line.dump() + '\n';
}

SwarmResult Parse(const nlohmann::json& line) {
  SwarmResult result;
  result.verdict = static_cast<SwarmResult::Verdict>(line.at("verdict").get<int>());
  result.what = line.at("what").get<std::string>();
  result.at = Duration(line.at("at").get<std::int64_t>());
  result.trace_hash = line.at("hash").get<std::uint64_t>();
  result.exchanges = line.at("exchanges").get<std::uint64_t>();
  result.spread = line.at("spread").get<double>();
  return result;
}

// A process that runs every `step`th seed from `next` on.
struct Worker {
  pid_t pid = -1;
  int pipe = -1;
  std::uint64_t next = 0;  // the seed that it is at
  std::string text;        // received, not yet a whole line
};

class Swarm {
 public:
  Swarm(const SwarmCommand& command, Seeds seeds)
      : options_{.nodes = command.nodes, .exchanges = command.exchanges, .bugs = {}},
        seeds_(seeds),
        step_(std::min<std::uint64_t>(
            seeds.last - seeds.first + 1,
            command.jobs > 0 ? command.jobs : std::max(1u, std::thread::hardware_concurrency()))) {}

  ~Swarm() {
    for (Worker& worker : workers_) End(worker);
  }
  Swarm(const Swarm&) = delete;
  Swarm& operator=(const Swarm&) = delete;

  // Returns: false when a process can't be started.
  bool Run(const std::atomic<bool>& stop) {
    for (std::uint64_t i = 0; i < step_; ++i) {
      workers_.emplace_back();
      workers_.back().next = seeds_.first + i;
      if (!Start(workers_.back())) return false;
    }
    while (!stop.load(std::memory_order_relaxed)) {
      std::vector<pollfd> waits;
      for (const Worker& worker : workers_) {
        if (worker.pipe >= 0) waits.push_back({.fd = worker.pipe, .events = POLLIN, .revents = 0});
      }
      if (waits.empty()) return true;
      poll(waits.data(), waits.size(), 200);
      for (Worker& worker : workers_) {
        if (worker.pipe >= 0 && !Read(worker)) return false;
      }
    }
    return true;
  }

  const std::map<std::uint64_t, SwarmResult>& results() const { return results_; }

 private:
  bool Start(Worker& worker) {
    int ends[2];
    if (pipe(ends) != 0) return false;
    worker.pid = fork();
    if (worker.pid == 0) {
      close(ends[0]);
      // Ctrl-C reaches the whole group; it is the parent that ends us, so that no seed passes for
      // one that crashed. Without a parent the next line to it does.
      for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
      std::signal(SIGPIPE, SIG_DFL);
      Work(worker.next, ends[1]);
      _exit(0);
    }
    close(ends[1]);
    worker.pipe = ends[0];
    if (worker.pid > 0) return true;
    End(worker);
    return false;
  }

  void Work(std::uint64_t seed, int to) const {
    for (; seed <= seeds_.last; seed += step_) {
      const std::string line =
          Line(seed, simulate::RunSwarm(simulate::DrawSwarm(seed, options_), options_));
      if (write(to, line.data(), line.size()) != static_cast<ssize_t>(line.size())) return;
      if (seeds_.last - seed < step_) return;
    }
  }

  // Takes what there is. Returns: false when a process that crashed can't be replaced.
  bool Read(Worker& worker) {
    pollfd one{.fd = worker.pipe, .events = POLLIN, .revents = 0};
    if (poll(&one, 1, 0) <= 0) return true;
    char buffer[4096];
    const ssize_t count = read(worker.pipe, buffer, sizeof buffer);
    if (count > 0) {
      worker.text.append(buffer, static_cast<std::size_t>(count));
      for (std::size_t end = 0; (end = worker.text.find('\n')) != std::string::npos;) {
        const auto line = nlohmann::json::parse(worker.text.substr(0, end));
        results_[line.at("seed").get<std::uint64_t>()] = Parse(line);
        worker.text.erase(0, end + 1);
        worker.next += step_;
      }
      return true;
    }
    if (count < 0 && errno == EINTR) return true;
    int status = 0;
    waitpid(worker.pid, &status, 0);
    worker.pid = -1;
    End(worker);
    if (worker.next > seeds_.last) return true;
    SwarmResult crash;
    crash.verdict = SwarmResult::Verdict::kCrash;
    crash.what = WIFSIGNALED(status)
                     ? "killed by signal " + std::to_string(WTERMSIG(status))
                     : "ended with exit code " + std::to_string(WEXITSTATUS(status));
    results_[worker.next] = crash;
    worker.next += step_;
    worker.text.clear();
    return worker.next > seeds_.last || Start(worker);
  }

  static void End(Worker& worker) {
    if (worker.pipe >= 0) close(std::exchange(worker.pipe, -1));
    if (worker.pid <= 0) return;
    kill(worker.pid, SIGKILL);
    waitpid(std::exchange(worker.pid, -1), nullptr, 0);
  }

  simulate::SwarmOptions options_;
  Seeds seeds_;
  std::uint64_t step_;
  std::vector<Worker> workers_;
  std::map<std::uint64_t, SwarmResult> results_;
};

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

simulate::SwarmPlan PlanOf(const SwarmCommand& command, std::uint64_t seed) {
  return simulate::DrawSwarm(seed,
                             {.nodes = command.nodes, .exchanges = command.exchanges, .bugs = {}});
}

void Say(std::FILE* to, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

std::string Words(const SwarmCommand& command, std::uint64_t seed, const SwarmResult& result) {
  std::string text = "seed " + std::to_string(seed) + ": " + std::string(Name(result.verdict));
  if (command.trace_hash) {
    char spread[48];
    std::snprintf(spread, sizeof spread, ", spread %.2g", result.spread);
    text += ", trace " + Hex(result.trace_hash) + spread;
  }
  if (result.verdict == SwarmResult::Verdict::kGreen) return text + '\n';
  text += "\n  " + result.what + "\n  at " + FormatDuration(result.at) + " of virtual time\n";
  for (const auto& [name, value] : PlanOf(command, seed).Parameters()) {
    text += "  " + name + " " + value + '\n';
  }
  return text + "  repeat: " + RepeatCommand(command, seed) + '\n';
}

nlohmann::json Json(const SwarmCommand& command, std::uint64_t seed, const SwarmResult& result) {
  nlohmann::json parameters = nlohmann::json::array();
  for (const auto& [name, value] : PlanOf(command, seed).Parameters()) {
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

// Prints all results. Returns: the number of failures.
std::size_t Report(const SwarmCommand& command, const Swarm& swarm, bool interrupted,
                   double seconds) {
  std::size_t failed = 0;
  std::uint64_t exchanges = 0;
  nlohmann::json failures = nlohmann::json::array();
  nlohmann::json hashes = nlohmann::json::object();
  for (const auto& [seed, result] : swarm.results()) {
    exchanges += result.exchanges;
    const bool green = result.verdict == SwarmResult::Verdict::kGreen;
    failed += green ? 0 : 1;
    if (command.trace_hash) hashes[std::to_string(seed)] = Hex(result.trace_hash);
    if (!green) failures.push_back(Json(command, seed, result));
    if (!command.json && (!green || command.trace_hash)) Say(stdout, Words(command, seed, result));
  }
  const std::size_t seeds = swarm.results().size();
  if (command.json) {
    nlohmann::json summary = {
        {"seeds", seeds},          {"green", seeds - failed},    {"exchanges", exchanges},
        {"wall_seconds", seconds}, {"interrupted", interrupted}, {"failures", failures}};
    if (command.trace_hash) summary["trace_hashes"] = hashes;
    Say(stdout, summary.dump(2) + '\n');
  } else {
    Say(stdout, std::to_string(seeds - failed) + " of " + std::to_string(seeds) +
                    " seeds are green, " + std::to_string(exchanges) + " exchanges, " +
                    Fixed(seconds, 1) + " s\n");
  }
  return failed;
}

}  // namespace
}  // namespace swarms

int RunSwarms(const SwarmCommand& command, const std::atomic<bool>& stop) {
  const std::optional<swarms::Seeds> seeds = swarms::ParseSeeds(command.seeds);
  const bool nodes = !command.nodes || (*command.nodes >= 2 && *command.nodes <= 64);
  if (!seeds || !nodes || command.exchanges < 10 || command.exchanges > 100'000) {
    swarms::Say(stderr,
                "covey-sim: want --seeds A..B with A <= B, --nodes 2 to 64, --exchanges 10 to "
                "100000\n");
    return static_cast<int>(ErrorCode::kUsage);
  }
  const auto start = swarms::Clock::now();
  swarms::Swarm swarm(command, *seeds);
  if (!swarm.Run(stop)) {
    swarms::Say(stderr, "covey-sim: can't start a process\n");
    return swarms::kNoProcess;
  }
  const bool interrupted = stop.load(std::memory_order_relaxed);
  const double seconds = std::chrono::duration<double>(swarms::Clock::now() - start).count();
  const std::size_t failed = swarms::Report(command, swarm, interrupted, seconds);
  if (interrupted) return 130;
  return failed > 0 ? 1 : 0;
}

}  // namespace covey::harness
