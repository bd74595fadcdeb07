// Between the two orders of a batch in memory (stage.h), and from a data set's rows into one.
#pragma once

#include <cstddef>

#include "nn/stage.h"

namespace covey::nn {

// in [features][PaddedBatch(batch)] -> out [batch][SampleStride(features)].
void ToSamples(const float* in, std::size_t features, std::size_t batch, float* out);

// in [batch][SampleStride(features)] -> out [features][PaddedBatch(batch)], zeros in the padding.
void ToFeatures(const float* in, std::size_t features, std::size_t batch, float* out);

// Values of the rows -> out [batch][SampleStride(features)].
void LoadRows(const tensor::RowInput& rows, std::size_t features, std::size_t batch, float* out);

// sums[b] <- the sum of the squares of row b's values.
void SquaresOfRows(const tensor::RowInput& rows, std::size_t features, std::size_t batch,
                   double* sums);

}  // namespace covey::nn
