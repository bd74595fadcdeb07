// A recurrent network learns to guess the next character of a program's text.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "covey/data/text.h"
#include "covey/gradient/evaluator.h"
#include "covey/gradient/trainer.h"

namespace covey::gradient::text_learning_test {
namespace {

constexpr std::size_t kBatch = 128;

// Where scripts/fetch-data puts it.
std::string TextPath() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  std::string folder = variable("COVEY_DATA");
  if (folder.empty()) {
    folder = variable("XDG_CACHE_HOME");
    if (folder.empty()) folder = variable("HOME") + "/.cache";
    folder += "/covey/data";
  }
  return folder + "/tfjs-text/tf.js";
}

// Returns: the loss on 2,048 unseen windows after `batches` steps of RMSprop.
double Learn(const data::Dataset& windows, std::uint64_t seed, int batches) {
  nn::Lstm lstm{.units = 50, .gates = nn::Activation::kHardSigmoid};
  nn::ModelSpec spec{.input = windows.shape(), .layers = {}};
  spec.layers.push_back(nn::OneHot{.symbols = windows.classes()});
  lstm.output = nn::Lstm::Output::kSequence;
  spec.layers.push_back(lstm);
  lstm.output = nn::Lstm::Output::kLast;
  spec.layers.push_back(lstm);
  spec.layers.push_back(nn::Dense{.units = windows.classes()});
  const optim::Settings settings{.kind = optim::Settings::Kind::kRmsProp, .learning_rate = 0.01f};
  Trainer trainer(spec, settings, kBatch);
  Evaluator evaluator(spec);
  tensor::FlatVector x(nn::LayoutOf(spec).size());
  Stream init(seed, 0, Purpose::kInit);
  nn::Initialise(spec, init, x.view());
  Stream draw(seed, 0, Purpose::kSampler);
  const std::size_t seen = windows.size() - windows.size() / 16;
  std::vector<std::uint32_t> rows(kBatch);
  for (int i = 0; i < batches; ++i) {
    for (auto& row : rows) row = static_cast<std::uint32_t>(draw.Below(seen));
    EXPECT_TRUE(trainer.Step(x.view(), windows, rows).finite);
  }
  rows.resize(2048);
  for (auto& row : rows) row = static_cast<std::uint32_t>(seen + draw.Below(windows.size() - seen));
  return evaluator.Run(x.view(), windows, rows).loss;
}

TEST(TextLearning, EightyBatchesTakeTheProgramTextBelow3Point4Nats) {
  std::ifstream file(TextPath(), std::ios::binary);
  if (!file) GTEST_SKIP() << TextPath() << " is missing: scripts/fetch-data tfjs-text";
  std::ostringstream content;
  content << file.rdbuf();
  const auto text = data::WindowsOfText(content.str(), {}, "tf.js");
  ASSERT_TRUE(text.has_value());
  ASSERT_EQ(text->symbols.size(), 99u);
  ASSERT_EQ(text->windows.size(), 336100u);
  EXPECT_LT(Learn(text->windows, 1, 80), 3.4);
}

// The same on a text that needs no file: a cycle of words, which ends up far below chance.
TEST(TextLearning, ARepeatedSentenceIsLearned) {
  std::string sentence;
  while (sentence.size() < 4000) sentence += "a peer sends its weights to another peer. ";
  const auto text = data::WindowsOfText(sentence, {.length = 12, .step = 1}, "sentence");
  ASSERT_TRUE(text.has_value());
  const double chance = std::log(static_cast<double>(text->symbols.size()));
  EXPECT_LT(Learn(text->windows, 1, 150), 0.25 * chance);
}

}  // namespace
}  // namespace covey::gradient::text_learning_test
