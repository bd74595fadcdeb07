#include "covey/learner/scoreboard.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "covey/base/check.h"

namespace covey::learner {
namespace {

using gradient::Evaluation;

// A loss that is no number is worse than any.
bool LessLoss(double candidate, double best) {
  return std::isnan(best) ? !std::isnan(candidate) : candidate < best;
}

bool Better(const Evaluation& candidate, const Evaluation& best) {
  if (candidate.accuracy != best.accuracy) return candidate.accuracy > best.accuracy;
  return LessLoss(candidate.loss, best.loss);
}

bool WithinOneError(const Evaluation& candidate, const Evaluation& best) {
  if (!best.accuracy) return candidate.loss <= best.loss + best.loss_error;
  const double a = *best.accuracy;
  const double n = static_cast<double>(best.samples);
  return n > 0 && candidate.accuracy >= a - std::sqrt(a * (1 - a) / n);
}

}  // namespace

Scoreboard::Scoreboard(const nn::ModelSpec& model, data::Dataset train, data::Indices validation,
                       std::optional<data::Dataset> test, bool own_evaluator)
    : train_(std::move(train)), validation_(std::move(validation)), test_(std::move(test)) {
  if (own_evaluator) own_evaluator_.emplace(model);
  if (test_) {
    test_rows_.resize(test_->size());
    std::iota(test_rows_.begin(), test_rows_.end(), 0u);
  }
}

gradient::Evaluator& Scoreboard::Use(gradient::Evaluator* lent) {
  COVEY_CHECK(lent != nullptr || own_evaluator_.has_value());
  return lent != nullptr ? *lent : *own_evaluator_;
}

void Scoreboard::Replace(data::Dataset train, data::Indices validation) {
  train_ = std::move(train);
  validation_ = std::move(validation);
  stale_ = best_.has_value() && best_x_ != nullptr;
}

Score Scoreboard::Evaluate(const Snapshot& snapshot, gradient::Evaluator* lent) {
  if (std::exchange(stale_, false) && !validation_.empty()) {
    best_->validation = Use(lent).Run(best_x_->view(), train_, validation_);
  }
  Score score;
  score.epoch = snapshot.epochs;
  score.batches = snapshot.batches;
  score.train_loss = snapshot.train_loss;
  score.train_accuracy = snapshot.train_accuracy;
  if (!validation_.empty()) {
    score.validation = Use(lent).Run(snapshot.x->view(), train_, validation_);
  }
  const bool wins =
      best_ && snapshot.settled && WithinOneError(score.validation, best_->validation);
  if (!best_ || validation_.empty() || wins || Better(score.validation, best_->validation)) {
    best_ = score;
    best_x_ = snapshot.x;
  }
  if (keeps_lowest_ && (!lowest_ || validation_.empty() ||
                        LessLoss(score.validation.loss, lowest_->validation.loss))) {
    lowest_ = score;
    lowest_x_ = snapshot.x;
  }
  latest_ = score;
  return score;
}

FinalScores Scoreboard::Finish(const Snapshot& settled, gradient::Evaluator* lent) {
  FinalScores final_scores;
  gradient::Evaluator& evaluator = Use(lent);
  final_scores.last = Evaluate(settled, lent);
  final_scores.last_test = Test(*settled.x, evaluator);
  final_scores.best = *best_;
  final_scores.best_test =
      best_x_ == settled.x ? final_scores.last_test : Test(*best_x_, evaluator);
  final_scores.confusion = Confuse(*best_x_, evaluator);
  if (keeps_lowest_) {
    final_scores.lowest_loss = lowest_;
    final_scores.lowest_loss_test =
        lowest_x_ == best_x_ ? final_scores.best_test : Test(*lowest_x_, evaluator);
  }
  return final_scores;
}

void Scoreboard::Restore(const Score& best, std::shared_ptr<const tensor::FlatVector> best_x) {
  best_ = best;
  best_x_ = std::move(best_x);
}

gradient::Confusion Scoreboard::Confuse(const tensor::FlatVector& x,
                                        gradient::Evaluator& evaluator) {
  const data::Dataset& set = test_ ? *test_ : train_;
  const data::Indices& rows = test_ ? test_rows_ : validation_;
  if (rows.empty() || !set.has_labels() || set.classes() > kMostConfused) return {};
  return evaluator.Confuse(x.view(), set, rows);
}

std::optional<gradient::Evaluation> Scoreboard::Test(const tensor::FlatVector& x,
                                                     gradient::Evaluator& evaluator) {
  if (!test_) return std::nullopt;
  return evaluator.Run(x.view(), *test_, test_rows_);
}

}  // namespace covey::learner
