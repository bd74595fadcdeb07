#include "covey/faults/message_faults.h"

#include "covey/base/check.h"

namespace covey::faults {

MessageFaults::MessageFaults(const Settings& settings, std::uint64_t node_seed, std::uint32_t node)
    : settings_(settings),
      stream_(settings.seed != 0 ? settings.seed : node_seed, node, Purpose::kFaults) {
  COVEY_CHECK(Validate(settings).has_value());
}

Fate MessageFaults::Decide(consensus::MessageKind kind) {
  const bool weights = kind == consensus::MessageKind::kWeights;
  Fate fate;
  // All three numbers are drawn for every message: see the header.
  fate.drop = stream_.Chance(weights ? settings_.weights_drop : settings_.deltas_drop);
  fate.duplicate = stream_.Chance(settings_.duplicate) && !fate.drop;
  const double later = stream_.Uniform();
  if (fate.drop) {
    ++(weights ? counters_.weights_dropped : counters_.deltas_dropped);
    return fate;
  }
  fate.delay = settings_.delay + FromSeconds(later * Seconds(settings_.reorder));
  if (fate.duplicate) ++counters_.duplicated;
  if (fate.delay > Duration::zero()) ++counters_.delayed;
  return fate;
}

}  // namespace covey::faults
