#include "covey/optim/settings.h"

#include <cmath>
#include <string>

namespace covey::optim {
namespace {

using Kind = Settings::Kind;

Status Wrong(const std::string& field, const std::string& got, std::string_view wanted) {
  return Fail(ErrorCode::kConfig, "train." + field, "got " + got, "wanted " + std::string(wanted));
}

Status Outside(std::string_view field, float got, std::string_view range) {
  return Wrong("optimizer." + std::string(field), std::to_string(got),
               "a number " + std::string(range));
}

// False for NaN.
bool Within(float value, float low, float below) { return value >= low && value < below; }
bool Positive(float value) { return value > 0 && std::isfinite(value); }
bool Unsigned(float value) { return value >= 0 && std::isfinite(value); }

constexpr std::string_view kFactor = "in [0, 1)";

Status ValidateAdam(const Settings& settings) {
  if (!Within(settings.beta1, 0, 1)) return Outside("beta1", settings.beta1, kFactor);
  if (!Within(settings.beta2, 0, 1)) return Outside("beta2", settings.beta2, kFactor);
  if (!Positive(settings.epsilon)) return Outside("epsilon", settings.epsilon, "above 0");
  if (settings.kind == Kind::kAdamW && settings.weight_decay == 0) {
    return Outside("weight_decay", 0, "above 0: adamw without it is adam (PyTorch takes 0.01)");
  }
  return {};
}

Status ValidateMomentum(const Settings& settings) {
  if (!Within(settings.momentum, 0, 1)) return Outside("momentum", settings.momentum, kFactor);
  if (settings.kind == Kind::kSgd && settings.nesterov && settings.momentum == 0) {
    return Outside("momentum", 0, "above 0, because nesterov is on");
  }
  return {};
}

Status ValidateResilient(const Settings& settings) {
  if (!(settings.eta_minus > 0 && settings.eta_minus < 1)) {
    return Outside("eta_minus", settings.eta_minus, "in (0, 1)");
  }
  if (!(settings.eta_plus > 1 && std::isfinite(settings.eta_plus))) {
    return Outside("eta_plus", settings.eta_plus, "above 1");
  }
  if (!Positive(settings.step_min)) return Outside("step_min", settings.step_min, "above 0");
  if (!(settings.step_max >= settings.step_min && std::isfinite(settings.step_max))) {
    return Outside("step_max", settings.step_max, "of at least step_min");
  }
  if (!(settings.step_initial >= settings.step_min && settings.step_initial <= settings.step_max)) {
    return Outside("step_initial", settings.step_initial, "from step_min to step_max");
  }
  if (settings.schedule != Schedule()) {
    return Wrong("schedule", std::string(Name(settings.schedule.kind)),
                 "none: resilient propagation has no learning rate to schedule");
  }
  if (settings.clip != Clip()) {
    return Wrong("clip", "a limit", "none: resilient propagation looks at signs only");
  }
  return {};
}

Status ValidateKind(const Settings& settings) {
  switch (settings.kind) {
    case Kind::kSgd:
      return ValidateMomentum(settings);
    case Kind::kAdam:
    case Kind::kAdamW:
      return ValidateAdam(settings);
    case Kind::kRmsProp:
      if (!Within(settings.decay, 0, 1)) return Outside("decay", settings.decay, kFactor);
      if (!Positive(settings.epsilon)) return Outside("epsilon", settings.epsilon, "above 0");
      return ValidateMomentum(settings);
    case Kind::kQuasiGlobal:
      if (!Within(settings.beta, 0, 1)) return Outside("beta", settings.beta, kFactor);
      if (!Within(settings.mu, 0, 1)) return Outside("mu", settings.mu, kFactor);
      if (!(settings.mixing_limit >= 0 && settings.mixing_limit <= 1e6f)) {
        return Outside("mixing_limit", settings.mixing_limit, "in [0, 1000000]");
      }
      if (!(settings.correction >= 0 && settings.correction <= 1)) {
        return Outside("correction", settings.correction, "in [0, 1]");
      }
      if (!(settings.correction_fade >= 0 && settings.correction_fade <= 1)) {
        return Outside("correction_fade", settings.correction_fade, "in [0, 1]");
      }
      if (settings.correction > 0 && !(settings.beta >= 0.1f)) {
        return Outside("beta", settings.beta, "at least 0.1 with a correction");
      }
      return {};
    case Kind::kBackprop:
      if (!(settings.blend > 0.5f && settings.blend <= 1)) {
        return Outside("blend", settings.blend, "in (0.5, 1]");
      }
      return {};
    case Kind::kRpropMinus:
    case Kind::kRpropPlus:
    case Kind::kIrpropMinus:
    case Kind::kIrpropPlus:
      return ValidateResilient(settings);
  }
  return {};
}

Status ValidateExchanged(const Settings& settings) {
  if (!settings.exchanged || ExchangedSlots(settings) > 0) return {};
  std::string name(Name(settings.kind));
  if (settings.kind == Kind::kSgd) name += " without momentum";
  return Wrong("optimizer.exchanged", "true",
               "false: " + name + " keeps no averages that nodes could exchange");
}

}  // namespace

std::size_t ExchangedSlots(const Settings& settings) {
  if (!settings.exchanged) return 0;
  const std::size_t velocity = settings.momentum != 0 ? 1 : 0;
  switch (settings.kind) {
    case Kind::kSgd:
      return velocity;
    case Kind::kAdam:
    case Kind::kAdamW:
      return 2;
    case Kind::kRmsProp:
      return velocity + 1;
    default:
      return 0;
  }
}

std::size_t ExchangedSize(const Settings& settings, std::size_t parameters) {
  const std::size_t slots = ExchangedSlots(settings);
  if (slots == 0) return parameters;
  const std::size_t part = (parameters + kSliceAlignment - 1) / kSliceAlignment * kSliceAlignment;
  return slots * part + parameters;
}

std::string_view Name(Kind kind) {
  switch (kind) {
    case Kind::kSgd:
      return "sgd";
    case Kind::kAdam:
      return "adam";
    case Kind::kAdamW:
      return "adamw";
    case Kind::kRmsProp:
      return "rmsprop";
    case Kind::kQuasiGlobal:
      return "quasi_global";
    case Kind::kBackprop:
      return "backprop";
    case Kind::kRpropMinus:
      return "rprop_minus";
    case Kind::kRpropPlus:
      return "rprop_plus";
    case Kind::kIrpropMinus:
      return "irprop_minus";
    case Kind::kIrpropPlus:
      return "irprop_plus";
  }
  return "unknown";
}

bool IsResilient(Kind kind) {
  return kind == Kind::kRpropMinus || kind == Kind::kRpropPlus || kind == Kind::kIrpropMinus ||
         kind == Kind::kIrpropPlus;
}

Status Validate(const Settings& settings) {
  if (!IsResilient(settings.kind) && !Positive(settings.learning_rate)) {
    return Outside("learning_rate", settings.learning_rate, "above 0");
  }
  if (!Unsigned(settings.weight_decay)) {
    return Outside("weight_decay", settings.weight_decay, "of at least 0");
  }
  if (settings.kind == Kind::kAdamW && !(settings.weight_decay * settings.learning_rate < 1)) {
    return Outside("weight_decay", settings.weight_decay, "below 1 / learning_rate");
  }
  if (const Status status = ValidateKind(settings); !status) return status;
  if (const Status status = ValidateExchanged(settings); !status) return status;
  if (!Unsigned(settings.clip.norm)) {
    return Wrong("clip.norm", std::to_string(settings.clip.norm), "a number of at least 0");
  }
  if (!Unsigned(settings.clip.value)) {
    return Wrong("clip.value", std::to_string(settings.clip.value), "a number of at least 0");
  }
  return Validate(settings.schedule);
}

}  // namespace covey::optim
