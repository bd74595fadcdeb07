#include "covey/optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

#include "covey/base/check.h"
#include "covey/tensor/kernels.h"

namespace covey::optim {
namespace {

using Kind = Settings::Kind;
using tensor::FlatVector;
using tensor::UpdateKind;

// Places in the small vector of quasi-global momentum ("round") ...
constexpr std::size_t kSteps = 0;
constexpr std::size_t kHasReference = 1;
constexpr std::size_t kRoundSize = 2;
// ... and of irprop_plus ("last_loss").
constexpr std::size_t kLoss = 0;
constexpr std::size_t kHasLoss = 1;
constexpr std::size_t kLossSize = 2;

// What of first_ and second_ a kind keeps under which name; empty: nothing.
struct Slots {
  std::string_view first = {};
  std::string_view second = {};
  std::string_view small = {};
  std::size_t small_size = 0;
};

Slots SlotsOf(const Settings& settings) {
  const std::string_view velocity = settings.momentum != 0 ? "velocity" : "";
  switch (settings.kind) {
    case Kind::kSgd:
      return {.first = velocity};
    case Kind::kAdam:
    case Kind::kAdamW:
      return {.first = "m", .second = "v"};
    case Kind::kRmsProp:
      return {.first = velocity, .second = "mean_square"};
    case Kind::kQuasiGlobal:
      return {.first = "m_hat", .second = "x_ref", .small = "round", .small_size = kRoundSize};
    case Kind::kBackprop:
      return {.first = "gradient"};
    case Kind::kRpropMinus:
    case Kind::kRpropPlus:
    case Kind::kIrpropMinus:
      return {.first = "gradient", .second = "step"};
    case Kind::kIrpropPlus:
      return {.first = "gradient", .second = "step", .small = "last_loss", .small_size = kLossSize};
  }
  return {};
}

}  // namespace

Optimizer::Optimizer(const Settings& settings, std::size_t size, tensor::Numerics numerics)
    : settings_(settings), size_(size), numerics_(numerics) {
  COVEY_CHECK(Validate(settings).has_value());
  const Slots slots = SlotsOf(settings);
  if (!slots.first.empty()) own_first_ = FlatVector(size);
  if (!slots.second.empty()) own_second_ = FlatVector(size);
  first_ = own_first_.view();
  second_ = own_second_.view();
  if (settings.kind == Kind::kQuasiGlobal) mixed_ = FlatVector(size);
  if (settings.kind == Kind::kQuasiGlobal && settings.correction > 0) {
    correction_ = FlatVector(size);
  }
  if (!slots.small.empty()) small_ = FlatVector(slots.small_size);
  if (IsResilient(settings.kind)) {
    std::fill(second_.begin(), second_.end(), settings.step_initial);
  }
}

void Optimizer::PlaceExchanged(tensor::VectorView exchanged) {
  COVEY_CHECK(exchanged.size() == ExchangedSize(settings_, size_), exchanged.size(), size_);
  const std::size_t slots = ExchangedSlots(settings_);
  if (slots == 0) return;
  const std::size_t part = (exchanged.size() - size_) / slots;
  std::size_t place = part;
  const auto move_to = [&](tensor::VectorView& slot, FlatVector& own) {
    if (slot.empty()) return;
    const tensor::VectorView there = exchanged.subspan(place, size_);
    std::copy(slot.begin(), slot.end(), there.begin());
    slot = there;
    own = FlatVector();
    place += part;
  };
  move_to(first_, own_first_);
  move_to(second_, own_second_);
}

bool Optimizer::fused() const { return !IsResilient(settings_.kind) && settings_.clip == Clip(); }

double Optimizer::LearningRate() const {
  return static_cast<double>(settings_.learning_rate) * FactorAt(settings_.schedule, steps_);
}

void Optimizer::AdamRule(double rate, tensor::UpdateRule& rule) {
  const double unbias1 = 1.0 - Power(static_cast<double>(settings_.beta1), steps_);
  const double unbias2 = 1.0 - Power(static_cast<double>(settings_.beta2), steps_);
  rule.kind = UpdateKind::kAdam;
  rule.step = static_cast<float>(rate * std::sqrt(unbias2) / unbias1);
  rule.beta1 = settings_.beta1;
  rule.beta2 = settings_.beta2;
  if (settings_.kind == Kind::kAdamW) {
    rule.l2 = 0;
    rule.keep = static_cast<float>(1.0 - rate * static_cast<double>(settings_.weight_decay));
  }
}

tensor::UpdateRule Optimizer::NextRule(tensor::ConstVectorView x) {
  COVEY_CHECK(x.size() == size_, x.size(), size_);
  ++steps_;
  if (std::exchange(mixed_since_, false) && ExchangedSlots(settings_) > 0) RepairMeanSquares();
  const double rate = LearningRate();
  tensor::UpdateRule rule{.step = static_cast<float>(rate),
                          .decay = settings_.momentum,
                          .epsilon = settings_.epsilon,
                          .l2 = settings_.weight_decay,
                          .first = first_.data(),
                          .second = second_.data()};
  const bool momentum = settings_.momentum != 0;
  switch (settings_.kind) {
    case Kind::kSgd:
      rule.kind = settings_.nesterov ? UpdateKind::kNesterov
                  : momentum         ? UpdateKind::kMomentum
                                     : UpdateKind::kSgd;
      break;
    case Kind::kAdam:
    case Kind::kAdamW:
      AdamRule(rate, rule);
      break;
    case Kind::kRmsProp:
      rule.kind = momentum ? UpdateKind::kRmsPropMomentum : UpdateKind::kRmsProp;
      rule.beta2 = settings_.decay;
      break;
    case Kind::kQuasiGlobal:
      rule.kind = UpdateKind::kQuasiGlobal;
      rule.decay = settings_.beta;
      rule.second = nullptr;
      if (small_[kHasReference] == 0) {
        if (!x.empty()) std::memcpy(second_.data(), x.data(), x.size_bytes());
        small_[kHasReference] = 1;
      }
      small_[kSteps] += static_cast<float>(FactorAt(settings_.schedule, steps_));
      break;
    case Kind::kBackprop:
      rule.kind = UpdateKind::kBackprop;
      rule.decay = settings_.blend;
      break;
    case Kind::kRpropMinus:
    case Kind::kRpropPlus:
    case Kind::kIrpropMinus:
    case Kind::kIrpropPlus:
      break;  // not a rule of this form: ResilientStep
  }
  return rule;
}

void Optimizer::RepairMeanSquares() {
  const bool adam = settings_.kind == Kind::kAdam || settings_.kind == Kind::kAdamW;
  for (std::size_t i = 0; i < second_.size(); ++i) {
    const float least = adam ? first_[i] * first_[i] : 0.0f;
    second_[i] = std::max(second_[i], least);
  }
}

tensor::UpdateRule Optimizer::BeginStep(tensor::ConstVectorView x) {
  COVEY_CHECK(fused(), Name(settings_.kind));
  return NextRule(x);
}

tensor::GradientClip Optimizer::ClipOf(tensor::ConstVectorView gradient) const {
  tensor::GradientClip clip{.limit = settings_.clip.value};
  if (settings_.clip.norm > 0) {
    const double norm = std::sqrt(tensor::SquaredNorm(gradient));
    const auto limit = static_cast<double>(settings_.clip.norm);
    if (norm > limit) clip.scale = static_cast<float>(limit / norm);
  }
  return clip;
}

void Optimizer::Step(tensor::VectorView x, tensor::ConstVectorView gradient, double loss) {
  COVEY_CHECK(gradient.size() == size_, gradient.size(), size_);
  if (IsResilient(settings_.kind)) return ResilientStep(x, gradient, loss);
  tensor::ApplyUpdate(NextRule(x), 0, gradient, x, numerics_, ClipOf(gradient));
}

void Optimizer::ResilientStep(tensor::VectorView x, tensor::ConstVectorView gradient, double loss) {
  using OnTurn = tensor::SignRule::OnTurn;
  COVEY_CHECK(x.size() == size_, x.size(), size_);
  ++steps_;
  tensor::SignRule rule{.eta_minus = settings_.eta_minus,
                        .eta_plus = settings_.eta_plus,
                        .step_min = settings_.step_min,
                        .step_max = settings_.step_max,
                        .l2 = settings_.weight_decay,
                        .previous = first_.data(),
                        .step = second_.data()};
  if (settings_.kind == Kind::kRpropPlus) rule.on_turn = OnTurn::kBacktrack;
  if (settings_.kind == Kind::kIrpropMinus) rule.on_turn = OnTurn::kForget;
  if (settings_.kind == Kind::kIrpropPlus) {
    // Rounded before it is compared, so that a restored optimizer compares the same numbers.
    const auto now = static_cast<float>(loss);
    const bool rose = small_[kHasLoss] != 0 && now > small_[kLoss];
    rule.on_turn = rose ? OnTurn::kBacktrack : OnTurn::kForget;
    small_[kLoss] = now;
    small_[kHasLoss] = 1;
  }
  tensor::ApplySignUpdate(rule, gradient, x, numerics_);
}

void Optimizer::BeginMixing(tensor::ConstVectorView x) {
  if (settings_.kind != Kind::kQuasiGlobal) return;
  COVEY_CHECK(x.size() == size_, x.size(), size_);
  tensor::Axpy(-1, x, mixed_.view());
}

void Optimizer::EndMixing(tensor::ConstVectorView x) {
  mixed_since_ = true;
  if (settings_.kind != Kind::kQuasiGlobal) return;
  COVEY_CHECK(x.size() == size_, x.size(), size_);
  tensor::Axpy(1, x, mixed_.view());
}

void Optimizer::EndRound(tensor::ConstVectorView x) {
  if (settings_.kind != Kind::kQuasiGlobal) return;
  COVEY_CHECK(x.size() == size_, x.size(), size_);
  const float steps = small_[kSteps];
  small_[kSteps] = 0;
  float take = 0;
  float counts = 0;
  float corrects = 0;
  if (small_[kHasReference] != 0 && steps > 0) {
    // From here on x_ref is where x would be had it started there and only been mixed.
    tensor::Axpy(1, mixed_.view(), second_);
    const double local = std::sqrt(tensor::SquaredDistance(second_, x));
    const double mixed = std::sqrt(tensor::SquaredNorm(mixed_.view()));
    const double most = static_cast<double>(settings_.mixing_limit) * local;
    counts = mixed <= most ? 1.0f : static_cast<float>(most / mixed);
    take = (1 - settings_.mu) / (settings_.learning_rate * steps);
    corrects = settings_.correction / (settings_.learning_rate * steps);
  }
  small_[kHasReference] = 1;
  const float keep = settings_.mu;
  if (correction_.size() > 0) {
    // first_ becomes m_hat here and loses the new b below: b takes part in every step without a
    // pass of its own.
    const float stays = 1 - settings_.correction_fade;
    for (std::size_t i = 0; i < size_; ++i) {
      first_[i] += correction_[i] / settings_.beta;
      correction_[i] = stays * correction_[i] + corrects * mixed_[i];
    }
  }
  float* m_hat = first_.data();
  float* reference = second_.data();
  for (std::size_t i = 0; i < size_; ++i) {
    const float moved = reference[i] - x[i] - counts * mixed_[i];
    m_hat[i] = keep * m_hat[i] + take * moved;
    reference[i] = x[i];
    mixed_[i] = 0;
  }
  if (correction_.size() > 0) tensor::Axpy(-1 / settings_.beta, correction_.view(), first_);
}

std::vector<NamedState> Optimizer::state() {
  const Slots slots = SlotsOf(settings_);
  std::vector<NamedState> state;
  const auto add = [&state](std::string_view name, tensor::VectorView values) {
    if (!name.empty()) state.push_back({.name = std::string(name), .values = values});
  };
  add(slots.first, first_);
  add(slots.second, second_);
  if (mixed_.size() > 0) add("mixed", mixed_.view());
  if (correction_.size() > 0) add("correction", correction_.view());
  add(slots.small, small_.view());
  return state;
}

}  // namespace covey::optim
