#include "simulate/dialler.h"

#include <algorithm>

#include "simulate/world_stream.h"

namespace covey::simulate {

Dialler::Dialler(Scheduler& scheduler, VirtualNetwork& network, const Settings& settings,
                 const std::vector<Pair>& pairs)
    : scheduler_(scheduler),
      network_(network),
      settings_(settings),
      nodes_(static_cast<std::uint32_t>(settings.pauses.size())),
      partial_view_(IsPartialView(settings.topology, nodes_)),
      distance_(settings.topology.kind == config::TopologySettings::Kind::kDistance),
      listens_to_(nodes_),
      up_(nodes_, false),
      started_(nodes_, false) {
  for (const Pair& pair : pairs) Add(pair);
  for (std::uint32_t i = 0; partial_view_ && i < nodes_; ++i) {
    refreshes_.push_back(WorldStream(settings.seed, Draw::kTopology, i, 1));
  }
  network_.OnLost([this](const Pair& pair) { Lost(pair); });
}

void Dialler::Add(const Pair& pair) {
  if (pairs_.emplace(pair, State{}).second) listens_to_[pair.second].push_back(pair.first);
}

void Dialler::NodeUp(std::uint32_t node) {
  const bool first = !started_[node];
  up_[node] = true;
  started_[node] = true;
  if (distance_) PathsChanged();
  std::vector<Pair> due;
  for (auto own = pairs_.lower_bound({node, 0}); own != pairs_.end() && own->first.first == node;
       ++own) {
    if (started_[own->first.second]) due.push_back(own->first);
  }
  // Who has dialled in vain so far hears of it at once; later losses are dialled after a pause.
  for (const std::uint32_t dialler : listens_to_[node]) {
    if (first && up_[dialler]) due.push_back({dialler, node});
  }
  for (const Pair& pair : due) Attempt(pair);
  if (first && partial_view_ && settings_.topology.refresh > Duration::zero()) {
    ScheduleRefresh(node);
  }
}

void Dialler::NodeDown(std::uint32_t node) { up_[node] = false; }

void Dialler::Attempt(const Pair& pair) {
  const auto entry = pairs_.find(pair);
  if (entry == pairs_.end() || entry->second.linked || entry->second.waiting) return;
  const auto [dialler, listener] = pair;
  if (!up_[dialler] || !started_[listener]) return;
  if (distance_ && !network_.paths().InRange(dialler, listener)) {
    pairs_.erase(entry);  // PathsChanged makes it anew
    std::erase(listens_to_[listener], dialler);
    return;
  }
  if (!up_[listener] || !network_.paths().BothWays(dialler, listener)) return Retry(entry);
  entry->second.linked = true;
  network_.Connect(dialler, listener);
}

void Dialler::Retry(Entry entry) {
  State& state = entry->second;
  const Pair pair = entry->first;
  Stream stream = WorldStream(settings_.seed, Draw::kRedial, pair.first, pair.second);
  stream.Seek(2 * state.attempts++);
  const Pauses& pauses = settings_.pauses[pair.first];
  Duration pause = pauses.first;
  for (std::uint32_t i = 0; i < state.failures && pause < pauses.most; ++i) pause *= 2;
  pause = std::min(pause, pauses.most);
  ++state.failures;
  state.waiting = true;
  scheduler_.After(FromSeconds(Seconds(pause) * (0.5 + stream.Uniform() / 2)), [this, pair] {
    const auto again = pairs_.find(pair);
    if (again == pairs_.end()) return;
    again->second.waiting = false;
    Attempt(pair);
  });
}

void Dialler::Lost(const Pair& pair) {
  const auto entry = pairs_.find(pair);
  if (entry == pairs_.end() || !entry->second.linked) return;
  entry->second.linked = false;
  entry->second.failures = 0;
  if (up_[pair.first] && !entry->second.waiting) Retry(entry);
}

void Dialler::PathsChanged() {
  if (!distance_) return;
  for (std::uint32_t i = 0; i < nodes_; ++i) {
    for (std::uint32_t j = 0; j < i; ++j) {
      if (!up_[i] || !up_[j] || !network_.paths().InRange(i, j)) continue;
      Add({i, j});
      Attempt({i, j});
    }
  }
}

// --- Partial views ---

void Dialler::ScheduleRefresh(std::uint32_t node) {
  const double part = 0.5 + refreshes_[node].Uniform();
  scheduler_.After(FromSeconds(part * Seconds(settings_.topology.refresh)), [this, node] {
    if (up_[node]) Refresh(node);
    ScheduleRefresh(node);
  });
}

// The first pair after a random one gives way to a random new one.
void Dialler::Refresh(std::uint32_t node) {
  Stream& stream = refreshes_[node];
  const auto from = static_cast<std::uint32_t>(stream.Below(nodes_));
  const auto to = static_cast<std::uint32_t>(stream.Below(nodes_));
  auto old = pairs_.lower_bound({node, from});
  if (old == pairs_.end() || old->first.first != node) old = pairs_.lower_bound({node, 0});
  if (old == pairs_.end() || old->first.first != node) return;
  if (to == node || pairs_.count({node, to}) != 0 || pairs_.count({to, node}) != 0) return;
  const Pair gone = old->first;
  pairs_.erase(old);
  std::erase(listens_to_[gone.second], node);
  network_.Drop(gone);
  Add({node, to});
  Attempt({node, to});
}

}  // namespace covey::simulate
