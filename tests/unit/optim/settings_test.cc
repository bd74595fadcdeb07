#include "covey/optim/settings.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace covey::optim::settings_test {
namespace {

using Kind = Settings::Kind;

std::string ErrorOf(const Settings& settings) {
  const Status status = Validate(settings);
  return status ? "" : status.error().Format();
}

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

void ExpectRefused(const Settings& settings, const std::string& field, const std::string& got) {
  const std::string error = ErrorOf(settings);
  EXPECT_NE(error.find("train." + field), std::string::npos) << field << ": " << error;
  EXPECT_NE(error.find("got " + got), std::string::npos) << error;
  EXPECT_NE(error.find("wanted"), std::string::npos) << error;
}

TEST(Settings, DefaultsAreThoseOfKeras) {
  const Settings settings;
  EXPECT_EQ(settings.kind, Kind::kAdam);
  EXPECT_EQ(settings.learning_rate, 1e-3f);
  EXPECT_EQ(settings.beta1, 0.9f);
  EXPECT_EQ(settings.beta2, 0.999f);
  EXPECT_EQ(settings.epsilon, 1e-7f);
  EXPECT_EQ(settings.decay, 0.9f);
  EXPECT_TRUE(Validate(settings));
}

TEST(Settings, EveryKindIsValidByDefaultButAdamWWithoutDecay) {
  for (int kind = 0; kind <= static_cast<int>(Kind::kIrpropPlus); ++kind) {
    const Settings settings{.kind = static_cast<Kind>(kind)};
    EXPECT_EQ(ErrorOf(settings).empty(), settings.kind != Kind::kAdamW) << Name(settings.kind);
    EXPECT_NE(Name(settings.kind), "unknown");
  }
  ExpectRefused({.kind = Kind::kAdamW}, "optimizer.weight_decay", "0");
}

TEST(Settings, RatesAreCheckedAtTheirEdges) {
  ExpectRefused({.learning_rate = 0}, "optimizer.learning_rate", "0");
  ExpectRefused({.learning_rate = -1}, "optimizer.learning_rate", "-1");
  ExpectRefused({.learning_rate = kNaN}, "optimizer.learning_rate", "nan");
  ExpectRefused({.learning_rate = kInf}, "optimizer.learning_rate", "inf");
  EXPECT_EQ(ErrorOf({.kind = Kind::kRpropMinus, .learning_rate = 0}), "") << "has none";
  for (const float bad : {0.0f, -1.0f, kNaN, kInf}) {
    ExpectRefused({.epsilon = bad}, "optimizer.epsilon", "");
    ExpectRefused({.kind = Kind::kRmsProp, .epsilon = bad}, "optimizer.epsilon", "");
  }
  for (const float bad : {-0.1f, kNaN, kInf}) {
    ExpectRefused({.weight_decay = bad}, "optimizer.weight_decay", "");
    ExpectRefused({.clip = {.norm = bad}}, "clip.norm", "");
    ExpectRefused({.clip = {.value = bad}}, "clip.value", "");
  }
  ExpectRefused({.kind = Kind::kAdamW, .learning_rate = 0.5f, .weight_decay = 2},
                "optimizer.weight_decay", "2");
}

TEST(Settings, FactorsAreCheckedAtTheirEdges) {
  for (const float bad : {-0.1f, 1.0f, kNaN}) {
    ExpectRefused({.kind = Kind::kSgd, .momentum = bad}, "optimizer.momentum", "");
    ExpectRefused({.kind = Kind::kRmsProp, .momentum = bad}, "optimizer.momentum", "");
    ExpectRefused({.kind = Kind::kRmsProp, .decay = bad}, "optimizer.decay", "");
    ExpectRefused({.beta1 = bad}, "optimizer.beta1", "");
    ExpectRefused({.beta2 = bad}, "optimizer.beta2", "");
    ExpectRefused({.kind = Kind::kQuasiGlobal, .beta = bad}, "optimizer.beta", "");
    ExpectRefused({.kind = Kind::kQuasiGlobal, .mu = bad}, "optimizer.mu", "");
    ExpectRefused({.kind = Kind::kQuasiGlobal, .correction = bad == 1.0f ? 1.1f : bad},
                  "optimizer.correction", "");
    ExpectRefused({.kind = Kind::kQuasiGlobal, .correction_fade = bad == 1.0f ? 1.1f : bad},
                  "optimizer.correction_fade", "");
  }
  for (const float bad : {0.5f, 1.01f, kNaN}) {
    ExpectRefused({.kind = Kind::kBackprop, .blend = bad}, "optimizer.blend", "");
  }
  EXPECT_EQ(ErrorOf({.kind = Kind::kBackprop, .blend = 1}), "");
  EXPECT_EQ(ErrorOf({.kind = Kind::kSgd, .momentum = 0.0f}), "");
  EXPECT_EQ(ErrorOf({.kind = Kind::kQuasiGlobal, .beta = 0, .mu = 0}), "");
  EXPECT_EQ(ErrorOf({.kind = Kind::kSgd, .beta1 = 7}), "") << "another optimizer's field";
  ExpectRefused({.kind = Kind::kSgd, .nesterov = true}, "optimizer.momentum", "0");
}

TEST(Settings, ResilientPropagationIsChecked) {
  constexpr Kind kKind = Kind::kIrpropPlus;
  for (const float bad : {0.0f, 1.0f, kNaN}) {
    ExpectRefused({.kind = kKind, .eta_minus = bad}, "optimizer.eta_minus", "");
  }
  for (const float bad : {1.0f, kNaN, kInf}) {
    ExpectRefused({.kind = kKind, .eta_plus = bad}, "optimizer.eta_plus", "");
  }
  ExpectRefused({.kind = kKind, .step_min = 0}, "optimizer.step_min", "0");
  ExpectRefused({.kind = kKind, .step_min = 1, .step_max = 0.5f}, "optimizer.step_max", "0.5");
  ExpectRefused({.kind = kKind, .step_initial = 51}, "optimizer.step_initial", "51");
  ExpectRefused({.kind = kKind, .step_initial = kNaN}, "optimizer.step_initial", "nan");
  ExpectRefused({.kind = kKind, .schedule = {.warmup = 1}}, "schedule", "constant");
  ExpectRefused({.kind = kKind, .clip = {.norm = 1}}, "clip", "a limit");
  EXPECT_EQ(ErrorOf({.kind = kKind, .step_initial = 50}), "");
}

TEST(OptimizerSettings, OnlyWhatHasAveragesExchangesThem) {
  EXPECT_TRUE(Validate({.exchanged = true}));
  EXPECT_TRUE(Validate({.kind = Kind::kSgd, .momentum = 0.9f, .exchanged = true}));
  for (const Settings& settings : {Settings{.kind = Kind::kSgd, .exchanged = true},
                                   Settings{.kind = Kind::kQuasiGlobal, .exchanged = true},
                                   Settings{.kind = Kind::kBackprop, .exchanged = true},
                                   Settings{.kind = Kind::kIrpropPlus, .exchanged = true}}) {
    const Status status = Validate(settings);
    ASSERT_FALSE(status) << Name(settings.kind);
    EXPECT_EQ(status.error().where, "train.optimizer.exchanged");
  }
}

}  // namespace
}  // namespace covey::optim::settings_test
