#include "covey/gradient/pace.h"

#include <algorithm>

#include "covey/base/check.h"

namespace covey::gradient {
namespace {

using Use = Workers::Use;

constexpr double kGain = 1.05;   // what all threads must gain over one
constexpr double kLapse = 0.8;   // of the probed rate, below which a new probe comes early
constexpr int kKeepProbes = 12;  // a choice is kept for so many times what the probe took
constexpr std::uint64_t kFewestSteps = 2;  // in a window, however slow they are

}  // namespace

void Pace::Start(Use use) {
  use_ = use;
  first_ = true;
  took_ = Duration(0);
  samples_ = 0;
  steps_ = 0;
}

void Pace::Stepped(Duration took, std::uint64_t samples) {
  COVEY_CHECK(took >= Duration(0), took.count());
  (probing_ ? probed_ : kept_) += took;
  if (first_) {  // caches move over and sleepers wake
    first_ = false;
    return;
  }
  took_ += took;
  samples_ += samples;
  ++steps_;
  if (took_ < kProbe || steps_ < kFewestSteps) return;
  const double rate = static_cast<double>(samples_) / Seconds(took_);
  took_ = Duration(0);
  samples_ = 0;
  steps_ = 0;
  if (probing_) {
    EndProbe(rate);
  } else if (kept_ >= keep_ || (rate < kLapse * rates_[Index(use_)] && kept_ >= 4 * kProbe)) {
    probing_ = true;
    probed_ = Duration(0);
    probes_left_ = 2;
    EndProbe(rate);  // the window that has just ended is the probe of what is in use
  }
}

void Pace::EndProbe(double rate) {
  rates_[Index(use_)] = rate;
  if (--probes_left_ > 0) return Start(use_ == Use::kOne ? Use::kAll : Use::kOne);
  const bool all = rates_[1] > kGain * rates_[0];
  const Use better = all ? Use::kAll : Use::kOne;
  probing_ = false;
  kept_ = Duration(0);
  keep_ = std::max(kKeep, kKeepProbes * probed_);
  if (better != use_) Start(better);
}

}  // namespace covey::gradient
