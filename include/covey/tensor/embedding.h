// Symbols as vectors: rows of a table, or one-hot.
//
// Shapes: symbols [samples][length]; values [samples][stride], of a sample [length][size]; what
// lies behind a sample's values is not touched.
// Thread: free functions, safe at once on disjoint outputs.  Cost: no allocation.
// Determinism: copies and additions in one order: the same bits everywhere.
#pragma once

#include <cstddef>
#include <cstdint>

#include "covey/tensor/rows.h"

namespace covey::tensor {

struct SymbolShape {
  std::size_t samples = 0;
  std::size_t length = 0;   // symbols of a sample
  std::size_t symbols = 0;  // of the alphabet
  std::size_t size = 0;     // floats that stand for a symbol
  std::size_t stride = 0;   // floats from one sample's values to the next one's
};

// out[b][i] = element i of rows[b], as it is: `scale` and `offset` are for numbers.
// Requires: whole numbers from 0 up, below `symbols`.
void ReadSymbols(const RowInput& input, const SymbolShape& shape, std::uint32_t* out);

// values[b][i] = table[symbols[b][i]]. Shapes: table [symbols][size].
void EmbeddingForward(const SymbolShape& shape, const std::uint32_t* symbols, const float* table,
                      float* values);

// gradient[s] = sum of delta[b][i] over all b and i with symbols[b][i] = s, in that order.
// Shapes: delta as values; gradient as the table.
void EmbeddingGradient(const SymbolShape& shape, const std::uint32_t* symbols, const float* delta,
                       float* gradient);

// values[b][i][s] = 1 where s = symbols[b][i], else 0. Requires: size == symbols.
void OneHotForward(const SymbolShape& shape, const std::uint32_t* symbols, float* values);

}  // namespace covey::tensor
