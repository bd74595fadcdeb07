// Loss and metrics of a parameter vector on any rows of a data set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "covey/data/dataset.h"
#include "covey/nn/model.h"
#include "covey/tensor/flat_vector.h"

namespace covey::gradient {

// Of regression, y the outputs, t the targets, over all samples and outputs:
//   mean_squared = mean (y - t)^2;  mean_absolute = mean |y - t|
//   r2 = 1 - sum (y - t)^2 / sum (t - mean of that output's t)^2;  absent when targets don't vary
struct RegressionErrors {
  double mean_squared = 0;
  double mean_absolute = 0;
  std::optional<double> r2;
};

struct Evaluation {
  // Mean of the model's loss; NaN or infinite when the model's outputs are; 0 without samples.
  double loss = 0;
  std::optional<double> accuracy;  // [0, 1]; of cross-entropies; ties go to the lower class
  std::size_t samples = 0;
  std::optional<double> top5 = {};  // with labels and more than 5 classes: label among the best 5
  std::optional<RegressionErrors> errors = {};  // of mean squared error and Huber
  double loss_error = 0;                        // with errors: standard error of `loss`
};

// How often samples of one class were taken for another.
// Shapes: counts [classes][classes], row: the label, column: the answer.
struct Confusion {
  std::size_t classes = 0;
  std::vector<std::uint32_t> counts;
};

// Cost: a workspace of some hundred kilobytes for a small model, allocated in the constructor; Run
// allocates nothing.
// Thread: one thread at a time for each Evaluator; several may read the same x and data set.
class Evaluator {
 public:
  // Requires: a valid spec.
  explicit Evaluator(const nn::ModelSpec& spec);
  Evaluator(Evaluator&&) noexcept;
  Evaluator& operator=(Evaluator&&) noexcept;
  ~Evaluator();

  // Requires: as Trainer::Step, but any number of rows.
  Evaluation Run(tensor::ConstVectorView x, const data::Dataset& dataset,
                 std::span<const std::uint32_t> rows);

  // Requires: as Run; a data set with labels. Allocates the counts.
  Confusion Confuse(tensor::ConstVectorView x, const data::Dataset& dataset,
                    std::span<const std::uint32_t> rows);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace covey::gradient
