#include "covey/tensor/embedding.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

namespace covey::tensor::embedding_test {
namespace {

constexpr SymbolShape kShape{.samples = 2, .length = 2, .symbols = 3, .size = 2, .stride = 5};
const std::vector<std::uint32_t> kSymbols = {2, 0, 2, 2};

template <class T>
std::vector<std::uint32_t> ReadOne(Element element, T value, std::size_t symbols) {
  std::vector<std::uint8_t> row(sizeof(T));
  std::memcpy(row.data(), &value, sizeof(T));
  const std::uint8_t* rows[] = {row.data()};
  std::vector<std::uint32_t> out(1);
  ReadSymbols({.rows = rows, .element = element, .scale = 0.5f, .offset = 9},
              {.samples = 1, .length = 1, .symbols = symbols}, out.data());
  return out;
}

TEST(Embedding, ReadsSymbolsOfEveryElementAsTheyAre) {
  EXPECT_EQ(ReadOne<std::uint8_t>(Element::kUint8, 255, 256).at(0), 255u);
  EXPECT_EQ(ReadOne<std::int16_t>(Element::kInt16, 0, 1).at(0), 0u);
  EXPECT_EQ(ReadOne<std::int16_t>(Element::kInt16, 32767, 32768).at(0), 32767u);
  EXPECT_EQ(ReadOne<float>(Element::kFloat32, 70000, 70001).at(0), 70000u);
}

TEST(EmbeddingDeathTest, StopsAtWhatIsNoSymbol) {
  EXPECT_DEATH(ReadOne<std::uint8_t>(Element::kUint8, 7, 7), "symbols");
  EXPECT_DEATH(ReadOne<std::int16_t>(Element::kInt16, -1, 7), "symbols");
  EXPECT_DEATH(ReadOne<float>(Element::kFloat32, 7, 7), "symbols");
  EXPECT_DEATH(ReadOne<float>(Element::kFloat32, 1.5f, 7), "value");
  EXPECT_DEATH(ReadOne<float>(Element::kFloat32, std::numeric_limits<float>::quiet_NaN(), 7),
               "symbols");
}

TEST(Embedding, LooksUpRowsAndLeavesThePadding) {
  const std::vector<float> table = {1, 2, 3, 4, 5, 6};
  std::vector<float> values(10, 9);
  EmbeddingForward(kShape, kSymbols.data(), table.data(), values.data());
  EXPECT_EQ(values, (std::vector<float>{5, 6, 1, 2, 9, 5, 6, 5, 6, 9}));
}

TEST(Embedding, AddsWhatComesBackToTheRowsThatWereRead) {
  const std::vector<float> delta = {1, 2, 3, 4, 100, 10, 20, 30, 40, 100};
  std::vector<float> gradient(6, 7);
  EmbeddingGradient(kShape, kSymbols.data(), delta.data(), gradient.data());
  EXPECT_EQ(gradient, (std::vector<float>{3, 4, 0, 0, 41, 62}));
}

TEST(Embedding, WritesOneHotVectors) {
  const SymbolShape shape{.samples = 2, .length = 2, .symbols = 3, .size = 3, .stride = 7};
  std::vector<float> values(14, 9);
  OneHotForward(shape, kSymbols.data(), values.data());
  EXPECT_EQ(values, (std::vector<float>{0, 0, 1, 1, 0, 0, 9, 0, 0, 1, 0, 0, 1, 9}));
}

}  // namespace
}  // namespace covey::tensor::embedding_test
