// The processes of a swarm: each runs every so-manieth seed and may crash.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "covey/simulate/swarm.h"

namespace covey::harness {

struct Seeds {
  std::uint64_t first = 0;
  std::uint64_t last = 0;  // not below `first`

  std::uint64_t count() const { return last - first + 1; }
};

class SwarmWorkers {
 public:
  using OnResult = std::function<void(std::uint64_t seed, const simulate::SwarmResult&)>;

  // `processes`: at once, no more than there are seeds. A seed whose process crashes has a result
  // that says so, and another process goes on behind it.
  SwarmWorkers(const simulate::SwarmOptions& options, Seeds seeds, std::uint64_t processes);
  ~SwarmWorkers();
  SwarmWorkers(const SwarmWorkers&) = delete;
  SwarmWorkers& operator=(const SwarmWorkers&) = delete;

  // Runs all seeds, or until `stop`. `waited` is called a few times a second.
  // Returns: false when a process can't be started.
  // Requires: called before this process has other threads.
  bool Run(const std::atomic<bool>& stop, const OnResult& on_result,
           const std::function<void()>& waited);

 private:
  // A process that runs every `step_`th seed from `next` on.
  struct Worker {
    pid_t pid = -1;
    int pipe = -1;
    std::uint64_t next = 0;  // the seed that it is at
    std::string text;        // received, not yet a whole line
  };

  bool Start(Worker& worker);
  void Work(std::uint64_t seed, int to) const;
  bool Read(Worker& worker, const OnResult& on_result);
  bool Replace(Worker& worker, const OnResult& on_result);
  static void End(Worker& worker);

  simulate::SwarmOptions options_;
  Seeds seeds_;
  std::uint64_t step_;
  std::vector<Worker> workers_;
};

}  // namespace covey::harness
