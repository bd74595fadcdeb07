// Loss and accuracy of a parameter vector on any rows of a data set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "covey/data/dataset.h"
#include "covey/nn/model.h"
#include "covey/tensor/flat_vector.h"

namespace covey::gradient {

struct Evaluation {
  double loss =
      0;  // mean cross-entropy; NaN or infinite when the model's outputs are; 0 without samples
  double accuracy = 0;  // [0, 1]; ties go to the lower class; 0 without samples
  std::size_t samples = 0;
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

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace covey::gradient
