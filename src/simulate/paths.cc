#include "covey/simulate/paths.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "simulate/world_stream.h"

namespace covey::simulate {
namespace {

// A node moves by this part of its range between two looks at the distances.
constexpr double kStep = 1.0 / 16;
constexpr Duration kShortest = std::chrono::milliseconds(10);
constexpr Duration kLongest = std::chrono::seconds(10);

}  // namespace

Result<Paths> Paths::Make(const config::FaultSettings& faults, std::uint64_t seed,
                          std::uint32_t nodes) {
  Paths paths;
  for (std::size_t i = 0; i < faults.partitions.size(); ++i) {
    const config::PartitionFault& fault = faults.partitions[i];
    const auto groups = config::ParseGroups(fault.groups, nodes);
    if (!groups) {
      return Fail(ErrorCode::kConfig, "faults.partitions[" + std::to_string(i) + "].groups",
                  groups.error().what, groups.error().hint);
    }
    Split split{fault.at, fault.at + fault.lasts, fault.one_way,
                std::vector<std::uint16_t>(nodes, 0)};
    for (std::size_t g = 0; g < groups->size(); ++g) {
      for (const std::uint32_t node : (*groups)[g]) {
        split.group[node] = static_cast<std::uint16_t>(g + 1);
      }
    }
    paths.splits_.push_back(std::move(split));
  }
  const config::TopologySettings& topology = faults.links.topology;
  paths.distance_ = topology.kind == config::TopologySettings::Kind::kDistance;
  if (!paths.distance_) return paths;
  paths.range_ = topology.range;
  paths.area_ = topology.area;
  paths.velocity_ = topology.velocity;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    Walker walker{.stream = WorldStream(seed, Draw::kMovement, i)};
    walker.x = paths.area_ * walker.stream.Uniform();
    walker.y = paths.area_ * walker.stream.Uniform();
    walker.goal_x = paths.area_ * walker.stream.Uniform();
    walker.goal_y = paths.area_ * walker.stream.Uniform();
    paths.walkers_.push_back(std::move(walker));
  }
  return paths;
}

bool Paths::Open(std::uint32_t from, std::uint32_t to) const {
  for (const Split& split : splits_) {
    if (now_ < split.from || now_ >= split.to) continue;
    const std::uint16_t a = split.group[from];
    const std::uint16_t b = split.group[to];
    if (a == 0 || b == 0 || a == b) continue;
    if (!split.one_way || a == 1) return false;
  }
  return InRange(from, to);
}

bool Paths::InRange(std::uint32_t a, std::uint32_t b) const {
  if (!distance_) return true;
  return std::hypot(walkers_[a].x - walkers_[b].x, walkers_[a].y - walkers_[b].y) <= range_;
}

Duration Paths::step() const {
  return std::clamp(FromSeconds(std::min(3600.0, kStep * range_ / velocity_)), kShortest, kLongest);
}

Time Paths::MoveTo(Time now) {
  now_ = now;
  Time next = kNever;
  if (distance_ && velocity_ > 0) {
    while (walked_ + step() <= now) {
      walked_ += step();
      Walk(step());
    }
    next = walked_ + step();
  }
  for (const Split& split : splits_) {
    for (const Time change : {split.from, split.to}) {
      if (change > now) next = std::min(next, change);
    }
  }
  return next;
}

void Paths::Walk(Duration time) {
  for (Walker& walker : walkers_) {
    double left = velocity_ * Seconds(time);
    // A square smaller than a step would take many goals a step: some are enough.
    for (int goals = 0; goals < 16; ++goals) {
      const double dx = walker.goal_x - walker.x;
      const double dy = walker.goal_y - walker.y;
      const double length = std::hypot(dx, dy);
      if (length > left) {
        walker.x += dx * left / length;
        walker.y += dy * left / length;
        break;
      }
      left -= length;
      walker.x = walker.goal_x;
      walker.y = walker.goal_y;
      walker.goal_x = area_ * walker.stream.Uniform();
      walker.goal_y = area_ * walker.stream.Uniform();
    }
  }
}

}  // namespace covey::simulate
