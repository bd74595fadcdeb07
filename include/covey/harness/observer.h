// What a runner tells while it runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "covey/harness/outcome.h"

namespace covey::harness {

// Where one node stands.
struct NodeProgress {
  Group group = Group::kConsensus;
  std::uint32_t index = 0;
  std::string state;    // "starting", "training", "settling", "done", "died", ...
  double fraction = 0;  // of its training, [0, 1]
  double epochs = 0;
  std::uint64_t samples = 0;  // trained so far
  Traffic traffic;
};

// Thread: any, several at once. Calls must return soon: some come from training threads.
class Observer {
 public:
  virtual ~Observer() = default;

  // Nodes of `group` will run from now on.
  virtual void Begin(Group group, std::uint32_t nodes) = 0;
  virtual void Progress(const NodeProgress& progress) = 0;
  virtual void Evaluated(Group group, std::uint32_t index, const Point& point) = 0;
  virtual void Finish(Group group) = 0;
  // Something that a reader of the results must know. It also becomes part of the outcome.
  virtual void Note(const std::string& text) = 0;
  // True once the user wants the run to end.
  virtual bool Interrupted() const = 0;
};

}  // namespace covey::harness
