#include "covey/tensor/embedding.h"

#include <cstring>

#include "covey/base/check.h"

namespace covey::tensor {
namespace {

template <class T>
std::uint32_t SymbolAt(const std::uint8_t* row, std::size_t i, std::size_t symbols) {
  T value;
  std::memcpy(&value, row + i * sizeof(T), sizeof(T));
  // Before the conversion, which has no meaning for a negative number or a NaN.
  COVEY_CHECK(value >= T{0} && static_cast<double>(value) < static_cast<double>(symbols), value,
              symbols);
  const auto symbol = static_cast<std::uint32_t>(value);
  COVEY_CHECK(static_cast<T>(symbol) == value, value);
  return symbol;
}

template <class T>
void Read(const RowInput& input, const SymbolShape& shape, std::uint32_t* out) {
  for (std::size_t b = 0; b < shape.samples; ++b) {
    for (std::size_t i = 0; i < shape.length; ++i) {
      *out++ = SymbolAt<T>(input.rows[b], i, shape.symbols);
    }
  }
}

}  // namespace

void ReadSymbols(const RowInput& input, const SymbolShape& shape, std::uint32_t* out) {
  switch (input.element) {
    case Element::kUint8:
      return Read<std::uint8_t>(input, shape, out);
    case Element::kInt16:
      return Read<std::int16_t>(input, shape, out);
    case Element::kFloat32:
      return Read<float>(input, shape, out);
  }
}

void EmbeddingForward(const SymbolShape& shape, const std::uint32_t* symbols, const float* table,
                      float* values) {
  for (std::size_t b = 0; b < shape.samples; ++b) {
    for (std::size_t i = 0; i < shape.length; ++i) {
      const std::size_t symbol = symbols[b * shape.length + i];
      COVEY_CHECK(symbol < shape.symbols, symbol, shape.symbols);
      std::memcpy(values + b * shape.stride + i * shape.size, table + symbol * shape.size,
                  shape.size * sizeof(float));
    }
  }
}

void EmbeddingGradient(const SymbolShape& shape, const std::uint32_t* symbols, const float* delta,
                       float* gradient) {
  std::memset(gradient, 0, shape.symbols * shape.size * sizeof(float));
  for (std::size_t b = 0; b < shape.samples; ++b) {
    for (std::size_t i = 0; i < shape.length; ++i) {
      const std::size_t symbol = symbols[b * shape.length + i];
      COVEY_CHECK(symbol < shape.symbols, symbol, shape.symbols);
      const float* from = delta + b * shape.stride + i * shape.size;
      float* to = gradient + symbol * shape.size;
      for (std::size_t k = 0; k < shape.size; ++k) to[k] += from[k];
    }
  }
}

void OneHotForward(const SymbolShape& shape, const std::uint32_t* symbols, float* values) {
  COVEY_CHECK(shape.size == shape.symbols, shape.size, shape.symbols);
  for (std::size_t b = 0; b < shape.samples; ++b) {
    float* to = values + b * shape.stride;
    std::memset(to, 0, shape.length * shape.size * sizeof(float));
    for (std::size_t i = 0; i < shape.length; ++i) {
      const std::size_t symbol = symbols[b * shape.length + i];
      COVEY_CHECK(symbol < shape.symbols, symbol, shape.symbols);
      to[i * shape.size + symbol] = 1;
    }
  }
}

}  // namespace covey::tensor
