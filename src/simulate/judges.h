// Evaluations of published snapshots, run ahead on the crew's threads.
//
// Order: what is told to the observer comes in the order of publication. A node's evaluations are
// never two at once.
// Thread: one; the evaluations themselves on the crew's.
// Determinism: scores do not depend on threads; nothing else of the run depends on scores.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "covey/base/time.h"
#include "covey/gradient/evaluator.h"
#include "covey/learner/scoreboard.h"
#include "covey/nn/model.h"
#include "simulate/crew.h"

namespace covey::simulate {

class Judges {
 public:
  using Tell = std::function<void(std::uint32_t node, const learner::Score& score, Time now)>;

  Judges(Crew& crew, const nn::ModelSpec& model, Tell tell);

  // The evaluator of a lane, for models that are the fleet's.
  gradient::Evaluator& evaluator(std::size_t lane) { return evaluators_[lane]; }
  bool Fits(const nn::ModelSpec& model) const;

  // Evaluates `snapshot` of `node`; the observer hears of it later.
  void Publish(std::uint32_t node, learner::Scoreboard& scoreboard, learner::Snapshot snapshot,
               Time now, bool shared);
  // Waits for what is under way and tells nothing.
  void Drop();
  // Tells what is ready; `all`: waits for the rest.
  void Tells(bool all);

 private:
  struct Open {
    std::uint32_t node = 0;
    Time now{};
    std::shared_ptr<learner::Score> score;
    std::shared_ptr<Crew::Job> job;
  };
  void TellFirst();

  Crew& crew_;
  nn::ModelSpec model_;
  Tell tell_;
  std::vector<gradient::Evaluator> evaluators_;
  std::deque<Open> open_;
};

}  // namespace covey::simulate
