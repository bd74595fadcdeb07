// Sums of counters over the lives of a node.
#pragma once

#include <cstddef>

#include "covey/consensus/fifo.h"
#include "covey/consensus/node.h"
#include "covey/learner/links.h"

namespace covey::simulate {

// Rounds and batches go on over a restart: of them the later life's count.
inline void Add(const consensus::Counters& from, consensus::Counters& to) {
  const consensus::Counters before = to;
  to = from;
  to.weights_started += before.weights_started;
  to.weights_applied += before.weights_applied;
  to.deltas_made += before.deltas_made;
  to.deltas_applied += before.deltas_applied;
  to.nacked += before.nacked;
  to.expired += before.expired;
  to.held_back += before.held_back;
  to.without_peer += before.without_peer;
  for (std::size_t i = 0; i < std::size(to.dropped); ++i) to.dropped[i] += before.dropped[i];
}

inline void Add(const session::Counters& from, session::Counters& to) {
  const session::Counters before = to;
  to = from;
  to.frames_in += before.frames_in;
  to.frames_out += before.frames_out;
  to.bytes_in += before.bytes_in;
  to.bytes_out += before.bytes_out;
  to.weights_in += before.weights_in;
  to.deltas_in += before.deltas_in;
  to.weights_out += before.weights_out;
  to.deltas_out += before.deltas_out;
  to.copies_out += before.copies_out;
  to.replaced += before.replaced;
  to.deltas_refused += before.deltas_refused;
  to.nacks_lost += before.nacks_lost;
  to.resumed_in += before.resumed_in;
  to.resumed_out += before.resumed_out;
  to.full += before.full;
  to.timeouts += before.timeouts;
  for (std::size_t i = 0; i < to.rejected.size(); ++i) to.rejected[i] += before.rejected[i];
  for (std::size_t i = 0; i < to.nacks.size(); ++i) to.nacks[i] += before.nacks[i];
}

inline void Add(const learner::LinkCounters& from, learner::LinkCounters& to) {
  const learner::LinkCounters before = to;
  to = from;
  to.session = before.session;
  Add(from.session, to.session);
  to.faults.weights_dropped += before.faults.weights_dropped;
  to.faults.deltas_dropped += before.faults.deltas_dropped;
  to.faults.duplicated += before.faults.duplicated;
  to.faults.delayed += before.faults.delayed;
  to.bytes.corrupted += before.bytes.corrupted;
  to.bytes.cut += before.bytes.cut;
  to.bytes.throttled += before.bytes.throttled;
  to.links_up += before.links_up;
  to.links_refused += before.links_refused;
  to.links_down += before.links_down;
  to.weights_lost += before.weights_lost;
  to.deltas_lost += before.deltas_lost;
  to.delayed_lost += before.delayed_lost;
  to.busy += before.busy;
}

inline void Add(const consensus::FifoCounters& from, consensus::FifoCounters& to) {
  to.evicted_weights += from.evicted_weights;
  to.refused_weights += from.refused_weights;
  to.refused_deltas += from.refused_deltas;
}

}  // namespace covey::simulate
