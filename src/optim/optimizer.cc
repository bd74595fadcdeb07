#include "covey/optim/optimizer.h"

#include <cmath>
#include <cstring>
#include <string>

#include "covey/base/check.h"

namespace covey::optim {
namespace {

// Places in the vector `round`.
constexpr std::size_t kSteps = 0;
constexpr std::size_t kLastLength = 1;
constexpr std::size_t kHasReference = 2;
constexpr std::size_t kRoundSize = 3;

Status Outside(std::string_view field, float got, std::string_view range) {
  return Fail(ErrorCode::kConfig, "train.optimizer." + std::string(field),
              "got " + std::to_string(got), "wanted a number " + std::string(range));
}

// False for NaN.
bool Within(float value, float low, float below) { return value >= low && value < below; }
bool Positive(float value) { return value > 0 && std::isfinite(value); }

}  // namespace

std::string_view Name(Settings::Kind kind) {
  switch (kind) {
    case Settings::Kind::kSgd:
      return "sgd";
    case Settings::Kind::kAdam:
      return "adam";
    case Settings::Kind::kQuasiGlobal:
      return "quasi_global";
  }
  return "unknown";
}

Status Validate(const Settings& settings) {
  const std::string_view factor = "in [0, 1)";
  if (!Positive(settings.learning_rate)) {
    return Outside("learning_rate", settings.learning_rate, "above 0");
  }
  switch (settings.kind) {
    case Settings::Kind::kSgd:
      if (!Within(settings.momentum, 0, 1)) return Outside("momentum", settings.momentum, factor);
      break;
    case Settings::Kind::kAdam:
      if (!Within(settings.beta1, 0, 1)) return Outside("beta1", settings.beta1, factor);
      if (!Within(settings.beta2, 0, 1)) return Outside("beta2", settings.beta2, factor);
      if (!Positive(settings.epsilon)) return Outside("epsilon", settings.epsilon, "above 0");
      break;
    case Settings::Kind::kQuasiGlobal:
      if (!Within(settings.beta, 0, 1)) return Outside("beta", settings.beta, factor);
      if (!Within(settings.mu, 0, 1)) return Outside("mu", settings.mu, factor);
      break;
  }
  return {};
}

Optimizer::Optimizer(const Settings& settings, std::size_t size)
    : settings_(settings), size_(size) {
  COVEY_CHECK(Validate(settings).has_value());
  const bool adam = settings.kind == Settings::Kind::kAdam;
  const bool quasi_global = settings.kind == Settings::Kind::kQuasiGlobal;
  if (adam || quasi_global || settings.momentum != 0) first_ = tensor::FlatVector(size);
  if (adam || quasi_global) second_ = tensor::FlatVector(size);
  if (quasi_global) round_ = tensor::FlatVector(kRoundSize);
}

tensor::UpdateRule Optimizer::BeginStep(tensor::ConstVectorView x) {
  COVEY_CHECK(x.size() == size_, x.size(), size_);
  ++steps_;
  tensor::UpdateRule rule{.step = settings_.learning_rate};
  switch (settings_.kind) {
    case Settings::Kind::kSgd:
      rule.kind =
          settings_.momentum != 0 ? tensor::UpdateKind::kMomentum : tensor::UpdateKind::kSgd;
      rule.decay = settings_.momentum;
      rule.first = settings_.momentum != 0 ? first_.data() : nullptr;
      break;
    case Settings::Kind::kAdam: {
      const auto t = static_cast<double>(steps_);
      const double unbias1 = 1.0 - std::pow(static_cast<double>(settings_.beta1), t);
      const double unbias2 = 1.0 - std::pow(static_cast<double>(settings_.beta2), t);
      rule.kind = tensor::UpdateKind::kAdam;
      rule.step = static_cast<float>(static_cast<double>(settings_.learning_rate) *
                                     std::sqrt(unbias2) / unbias1);
      rule.beta1 = settings_.beta1;
      rule.beta2 = settings_.beta2;
      rule.epsilon = settings_.epsilon;
      rule.first = first_.data();
      rule.second = second_.data();
      break;
    }
    case Settings::Kind::kQuasiGlobal:
      rule.kind = tensor::UpdateKind::kQuasiGlobal;
      rule.decay = settings_.beta;
      rule.first = first_.data();
      if (round_[kHasReference] == 0) {
        if (!x.empty()) std::memcpy(second_.data(), x.data(), x.size_bytes());
        round_[kHasReference] = 1;
      }
      round_[kSteps] += 1;
      break;
  }
  return rule;
}

void Optimizer::Step(tensor::VectorView x, tensor::ConstVectorView gradient) {
  COVEY_CHECK(gradient.size() == size_, gradient.size(), size_);
  tensor::ApplyUpdate(BeginStep(x), 0, gradient, x);
}

void Optimizer::Mixed(tensor::ConstVectorView x) {
  if (settings_.kind != Settings::Kind::kQuasiGlobal) return;
  COVEY_CHECK(x.size() == size_, x.size(), size_);
  if (round_[kSteps] > 0) round_[kLastLength] = round_[kSteps];
  round_[kSteps] = 0;
  float* reference = second_.data();
  if (round_[kHasReference] != 0) {
    const float length = round_[kLastLength] > 0 ? round_[kLastLength] : 1;
    const float keep = settings_.mu;
    const float take = (1 - settings_.mu) / (settings_.learning_rate * length);
    float* m_hat = first_.data();
    for (std::size_t i = 0; i < size_; ++i) {
      m_hat[i] = keep * m_hat[i] + take * (reference[i] - x[i]);
      reference[i] = x[i];
    }
  } else if (!x.empty()) {
    std::memcpy(reference, x.data(), x.size_bytes());
    round_[kHasReference] = 1;
  }
}

std::vector<NamedState> Optimizer::state() {
  switch (settings_.kind) {
    case Settings::Kind::kSgd:
      if (settings_.momentum == 0) return {};
      return {{"velocity", first_.view()}};
    case Settings::Kind::kAdam:
      return {{"m", first_.view()}, {"v", second_.view()}};
    case Settings::Kind::kQuasiGlobal:
      return {{"m_hat", first_.view()}, {"x_ref", second_.view()}, {"round", round_.view()}};
  }
  return {};
}

}  // namespace covey::optim
