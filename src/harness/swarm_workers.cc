#include "harness/swarm_workers.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <nlohmann/json.hpp>
#include <utility>

namespace covey::harness {
namespace {

using simulate::SwarmResult;

// One seed's result as a line between processes, and back.
std::string SwarmLine(std::uint64_t seed, const SwarmResult& result) {
  nlohmann::json line = {{"seed", seed},
                         {"verdict", static_cast<int>(result.verdict)},
                         {"what", result.what},
                         {"at", result.at.count()},
                         {"hash", result.trace_hash},
                         {"exchanges", result.exchanges},
                         {"spread", result.spread}};
  return line.dump() + '\n';
}

SwarmResult SwarmResultOf(const nlohmann::json& line) {
  SwarmResult result;
  result.verdict = static_cast<SwarmResult::Verdict>(line.at("verdict").get<int>());
  result.what = line.at("what").get<std::string>();
  result.at = Duration(line.at("at").get<std::int64_t>());
  result.trace_hash = line.at("hash").get<std::uint64_t>();
  result.exchanges = line.at("exchanges").get<std::uint64_t>();
  result.spread = line.at("spread").get<double>();
  return result;
}

}  // namespace

SwarmWorkers::SwarmWorkers(const simulate::SwarmOptions& options, Seeds seeds,
                           std::uint64_t processes)
    : options_(options), seeds_(seeds), step_(std::min(seeds.count(), processes)) {}

SwarmWorkers::~SwarmWorkers() {
  for (Worker& worker : workers_) End(worker);
}

bool SwarmWorkers::Run(const std::atomic<bool>& stop, const OnResult& on_result,
                       const std::function<void()>& waited) {
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
      if (worker.pipe >= 0 && !Read(worker, on_result)) return false;
    }
    waited();
  }
  return true;
}

bool SwarmWorkers::Start(Worker& worker) {
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

void SwarmWorkers::Work(std::uint64_t seed, int to) const {
  for (; seed <= seeds_.last; seed += step_) {
    const std::string line =
        SwarmLine(seed, simulate::RunSwarm(simulate::DrawSwarm(seed, options_), options_));
    if (write(to, line.data(), line.size()) != static_cast<ssize_t>(line.size())) return;
    if (seeds_.last - seed < step_) return;
  }
}

// Takes what there is. Returns: false when a process that crashed can't be replaced.
bool SwarmWorkers::Read(Worker& worker, const OnResult& on_result) {
  pollfd one{.fd = worker.pipe, .events = POLLIN, .revents = 0};
  if (poll(&one, 1, 0) <= 0) return true;
  char buffer[4096];
  const ssize_t count = read(worker.pipe, buffer, sizeof buffer);
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) return Replace(worker, on_result);
  worker.text.append(buffer, static_cast<std::size_t>(count));
  for (std::size_t end = 0; (end = worker.text.find('\n')) != std::string::npos;) {
    const auto line = nlohmann::json::parse(worker.text.substr(0, end));
    on_result(line.at("seed").get<std::uint64_t>(), SwarmResultOf(line));
    worker.text.erase(0, end + 1);
    worker.next += step_;
  }
  return true;
}

// The process has ended: after its last seed, or by a crash.
bool SwarmWorkers::Replace(Worker& worker, const OnResult& on_result) {
  int status = 0;
  waitpid(worker.pid, &status, 0);
  worker.pid = -1;
  End(worker);
  if (worker.next > seeds_.last) return true;
  SwarmResult crash;
  crash.verdict = SwarmResult::Verdict::kCrash;
  crash.what = WIFSIGNALED(status) ? "killed by signal " + std::to_string(WTERMSIG(status))
                                   : "ended with exit code " + std::to_string(WEXITSTATUS(status));
  on_result(worker.next, crash);
  worker.next += step_;
  worker.text.clear();
  return worker.next > seeds_.last || Start(worker);
}

void SwarmWorkers::End(Worker& worker) {
  if (worker.pipe >= 0) close(std::exchange(worker.pipe, -1));
  if (worker.pid <= 0) return;
  kill(worker.pid, SIGKILL);
  waitpid(std::exchange(worker.pid, -1), nullptr, 0);
}

}  // namespace covey::harness
