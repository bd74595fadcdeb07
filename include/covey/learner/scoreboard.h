// How good a node's model is and was: evaluations of published snapshots, and the best of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "covey/data/dataset.h"
#include "covey/data/partition.h"
#include "covey/gradient/evaluator.h"
#include "covey/learner/learner.h"
#include "covey/nn/model.h"

namespace covey::learner {

// One evaluation. Units: loss as the model has it (cross-entropies: nats a sample), epoch in passes
// over the shard.
struct Score {
  double epoch = 0;
  std::uint64_t batches = 0;
  gradient::Evaluation validation;
  double train_loss = 0;
  double train_accuracy = 0;
};

// What a run reports of a node (docs/architecture.md): the model at its best evaluation on the
// validation set and the last one, both measured on the test set. Without a test set the test
// figures are absent.
struct FinalScores {
  Score best;
  Score last;
  std::optional<gradient::Evaluation> best_test;
  std::optional<gradient::Evaluation> last_test;
  // The model with the lowest validation loss; only after KeepLowestLoss.
  std::optional<Score> lowest_loss = {};
  std::optional<gradient::Evaluation> lowest_loss_test = {};
  // Of the best model on the test set, else on the validation set; empty without labels and above
  // kMostConfused classes.
  gradient::Confusion confusion = {};
};

inline constexpr std::size_t kMostConfused = 256;

// Best: highest validation accuracy; of equals, and where there is no accuracy (regression), the
// one with the lower loss, then the earlier one. A settled model wins over an earlier one that is
// better by less than one standard error, sqrt(a (1 - a) / n) of an accuracy: the best of many
// evaluations is partly luck, and the settled model is the one that the fleet shares.
// Source: the one-standard-error rule of Breiman, Friedman, Olshen & Stone 1984, section 3.4.3.
// Cost: one forward pass over the validation set a score; holds one copy of the best x.
// Thread: one; in the daemon the evaluator's.
class Scoreboard {
 public:
  // `validation` are rows of `train`; empty: nothing is scored before Finish, and the last model is
  // the best.
  // `own_evaluator`: with a workspace of its own; without, one of the same model is lent to each
  // call.
  Scoreboard(const nn::ModelSpec& model, data::Dataset train, data::Indices validation,
             std::optional<data::Dataset> test, bool own_evaluator = true);

  // From now on the model with the lowest validation loss is kept beside the best: long training
  // makes a classifier surer of its errors, so that the loss has its best epoch long before the
  // accuracy. Cost: one more copy of x.
  void KeepLowestLoss() { keeps_lowest_ = true; }

  Score Evaluate(const Snapshot& snapshot, gradient::Evaluator* lent = nullptr);

  // From now on scores on other samples; the best model so far is scored on them anew, with the
  // next evaluation. The test set stays.
  void Replace(data::Dataset train, data::Indices validation);

  // Scores the settled model as well, then measures best and last on the test set.
  FinalScores Finish(const Snapshot& settled, gradient::Evaluator* lent = nullptr);

  // Goes on from a checkpoint.
  void Restore(const Score& best, std::shared_ptr<const tensor::FlatVector> best_x);
  bool has_evaluator() const { return own_evaluator_.has_value(); }
  const Score& latest() const { return latest_; }  // what Evaluate returned last
  const std::optional<Score>& best() const { return best_; }
  const std::shared_ptr<const tensor::FlatVector>& best_x() const { return best_x_; }

 private:
  gradient::Evaluator& Use(gradient::Evaluator* lent);
  std::optional<gradient::Evaluation> Test(const tensor::FlatVector& x,
                                           gradient::Evaluator& evaluator);
  gradient::Confusion Confuse(const tensor::FlatVector& x, gradient::Evaluator& evaluator);

  data::Dataset train_;
  data::Indices validation_;
  std::optional<data::Dataset> test_;
  data::Indices test_rows_;
  std::optional<gradient::Evaluator> own_evaluator_;
  Score latest_;
  std::optional<Score> best_;
  std::shared_ptr<const tensor::FlatVector> best_x_;
  bool stale_ = false;  // best_ was scored on other samples
  bool keeps_lowest_ = false;
  std::optional<Score> lowest_;
  std::shared_ptr<const tensor::FlatVector> lowest_x_;
};

}  // namespace covey::learner
