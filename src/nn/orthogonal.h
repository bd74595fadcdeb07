// Orthogonal matrices as initial weights.
#pragma once

#include <cstddef>

#include "covey/base/random.h"
#include "covey/tensor/flat_vector.h"

namespace covey::nn {

// out <- a matrix [n][n] with orthonormal rows, uniform over all of them (Haar measure).
// Requires: out.size() == n * n.
// Cost: 2 n^3 multiply-adds in double; allocates n * n doubles.
// Determinism: the normal numbers go through the C library's log and cos.
// Source: Saxe, McClelland & Ganguli 2014, by the Gram-Schmidt process on normal rows (Stewart
// 1980), each row orthogonalised twice (Kahan's "twice is enough").
void Orthogonal(std::size_t n, Stream& stream, tensor::VectorView out);

}  // namespace covey::nn
