#include "simulate/judges.h"

#include <algorithm>
#include <utility>

namespace covey::simulate {

Judges::Judges(Crew& crew, const nn::ModelSpec& model, Tell tell)
    : crew_(crew), model_(model), tell_(std::move(tell)) {
  for (std::size_t lane = 0; lane < crew.lanes(); ++lane) evaluators_.emplace_back(model);
}

bool Judges::Fits(const nn::ModelSpec& model) const {
  return nn::FingerprintOf(model) == nn::FingerprintOf(model_) && model.numerics == model_.numerics;
}

void Judges::Publish(std::uint32_t node, learner::Scoreboard& scoreboard,
                     learner::Snapshot snapshot, Time now, bool shared) {
  const auto same_node = [node](const Open& open) { return open.node == node; };
  while (open_.size() >= 4 * crew_.lanes() || std::any_of(open_.begin(), open_.end(), same_node)) {
    TellFirst();
  }
  Open open{.node = node, .now = now, .score = std::make_shared<learner::Score>(), .job = nullptr};
  open.job = crew_.Start([this, &scoreboard, snapshot = std::move(snapshot), score = open.score,
                          shared](std::size_t lane) {
    *score = scoreboard.Evaluate(snapshot, shared ? &evaluators_[lane] : nullptr);
  });
  open_.push_back(std::move(open));
  if (crew_.lanes() == 1) Tells(true);
}

void Judges::Tells(bool all) {
  while (!open_.empty() && (all || Crew::Done(*open_.front().job))) TellFirst();
}

void Judges::Drop() {
  for (const Open& open : open_) crew_.Wait(*open.job);
  open_.clear();
}

void Judges::TellFirst() {
  const Open open = std::move(open_.front());
  open_.pop_front();
  crew_.Wait(*open.job);
  if (tell_) tell_(open.node, *open.score, open.now);
}

}  // namespace covey::simulate
