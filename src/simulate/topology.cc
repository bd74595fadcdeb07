#include "covey/simulate/topology.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "covey/base/check.h"
#include "simulate/world_stream.h"

namespace covey::simulate {
namespace {

using Kind = config::TopologySettings::Kind;
using Pairs = std::set<Pair>;

Pair Ordered(std::uint32_t a, std::uint32_t b) { return {std::max(a, b), std::min(a, b)}; }

Pairs Everybody(std::uint32_t nodes) {
  Pairs pairs;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    for (std::uint32_t j = 0; j < i; ++j) pairs.emplace(i, j);
  }
  return pairs;
}

Pairs PartialView(std::uint32_t peers, std::uint64_t seed, std::uint32_t nodes) {
  Pairs pairs;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    Stream stream = WorldStream(seed, Draw::kTopology, i);
    std::uint32_t found = 0;
    // A node that most others have drawn already may not find as many more.
    for (std::uint32_t draws = 0; found < std::max(1u, peers / 2) && draws < 64 * peers; ++draws) {
      const auto j = static_cast<std::uint32_t>(stream.Below(nodes));
      if (j == i || pairs.count({i, j}) != 0 || pairs.count({j, i}) != 0) continue;
      pairs.emplace(i, j);
      ++found;
    }
  }
  return pairs;
}

Pairs Ring(std::uint32_t nodes) {
  Pairs pairs;
  for (std::uint32_t i = 0; nodes > 1 && i < nodes; ++i) pairs.insert(Ordered(i, (i + 1) % nodes));
  return pairs;
}

Pairs Grid(std::uint32_t nodes) {
  std::uint32_t columns = 1;
  while (columns * columns < nodes) ++columns;
  Pairs pairs;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    if (i % columns != 0) pairs.emplace(i, i - 1);
    if (i >= columns) pairs.emplace(i, i - columns);
  }
  return pairs;
}

// A circulant graph whose edges are then exchanged in twos, which keeps every degree.
Pairs RandomRegular(std::uint32_t degree, std::uint64_t seed, std::uint32_t nodes) {
  Pairs pairs;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    for (std::uint32_t k = 1; k <= degree / 2; ++k) pairs.insert(Ordered(i, (i + k) % nodes));
    if (degree % 2 == 1) pairs.insert(Ordered(i, (i + nodes / 2) % nodes));
  }
  std::vector<Pair> edges(pairs.begin(), pairs.end());
  Stream stream = WorldStream(seed, Draw::kTopology, 0);
  for (std::size_t step = 0; step < 20 * edges.size(); ++step) {
    Pair& one = edges[static_cast<std::size_t>(stream.Below(edges.size()))];
    Pair& two = edges[static_cast<std::size_t>(stream.Below(edges.size()))];
    const bool crossed = stream.Chance(0.5);
    const Pair first = Ordered(one.first, crossed ? two.second : two.first);
    const Pair second = Ordered(one.second, crossed ? two.first : two.second);
    if (first.first == first.second || second.first == second.second || first == second) continue;
    if (pairs.count(first) != 0 || pairs.count(second) != 0) continue;
    pairs.erase(one);
    pairs.erase(two);
    pairs.insert(one = first);
    pairs.insert(two = second);
  }
  return pairs;
}

Result<Pairs> FromFile(const std::string& path, std::uint32_t nodes) {
  std::ifstream file(path);
  if (!file) {
    return Fail(ErrorCode::kNoInput, path, "can't be read", "give a file of pairs of indices");
  }
  Pairs pairs;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos || line.front() == '#') continue;
    std::istringstream words(line);
    std::uint64_t a = nodes;
    std::uint64_t b = nodes;
    std::string more;
    const bool two = static_cast<bool>(words >> a >> b) && !(words >> more);
    if (!two || a == b || a >= nodes || b >= nodes) {
      return Fail(ErrorCode::kData, path + ":" + std::to_string(number),
                  "got '" + line.substr(0, 40) + "', wanted two different indices below " +
                      std::to_string(nodes));
    }
    pairs.insert(Ordered(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)));
  }
  return pairs;
}

}  // namespace

double MixingGap(const std::vector<Pair>& pairs, std::uint32_t nodes) {
  if (nodes < 2) return 0;
  std::vector<double> degree(nodes, 0.0);
  for (const auto& [a, b] : pairs) {
    degree[a] += 1;
    degree[b] += 1;
  }
  // Power iteration on 2 w - L beside the mean, where 2 w bounds the spectrum of L.
  std::vector<double> weight(nodes, 0.0);
  for (const auto& [a, b] : pairs) {
    const double w = (1 / degree[a] + 1 / degree[b]) / 2;
    weight[a] += w;
    weight[b] += w;
  }
  const double bound = 2 * *std::max_element(weight.begin(), weight.end());
  std::vector<double> x(nodes);
  for (std::uint32_t i = 0; i < nodes; ++i) x[i] = std::cos(1.0 + i * i);
  double gap = 0;
  for (int step = 0; step < 1000; ++step) {
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / nodes;
    double norm = 0;
    for (double& value : x) {
      value -= mean;
      norm += value * value;
    }
    if (norm == 0) break;  // of two nodes nothing is left of 2 w - L
    norm = std::sqrt(norm);
    for (double& value : x) value /= norm;
    std::vector<double> next = x;
    for (double& value : next) value *= bound;
    double energy = 0;
    for (const auto& [a, b] : pairs) {
      const double w = (1 / degree[a] + 1 / degree[b]) / 2;
      const double d = x[a] - x[b];
      energy += w * d * d;
      next[a] -= w * d;
      next[b] += w * d;
    }
    if (step > 50 && std::abs(gap - energy) < 1e-7) return energy < 1e-5 ? 0 : energy;
    gap = energy;
    x = std::move(next);
  }
  return gap < 1e-5 ? 0 : gap;
}

bool IsPartialView(const config::TopologySettings& topology, std::uint32_t nodes) {
  return topology.kind == Kind::kAny && nodes > kFullMesh;
}

Result<std::vector<Pair>> PairsOf(const config::TopologySettings& topology, std::uint64_t seed,
                                  std::uint32_t nodes) {
  Pairs pairs;
  switch (topology.kind) {
    case Kind::kAny:
      pairs = IsPartialView(topology, nodes) ? PartialView(topology.peers, seed, nodes)
                                             : Everybody(nodes);
      break;
    case Kind::kRing:
      pairs = Ring(nodes);
      break;
    case Kind::kGrid:
      pairs = Grid(nodes);
      break;
    case Kind::kRandomRegular:
      if (nodes == 1) break;
      if (topology.degree >= nodes || (topology.degree * nodes) % 2 != 0) {
        return Fail(ErrorCode::kConfig, "faults.links.topology.degree",
                    "there is no such graph of " + std::to_string(nodes) + " nodes",
                    "want fewer neighbours than nodes, and one of both numbers even");
      }
      pairs = RandomRegular(topology.degree, seed, nodes);
      break;
    case Kind::kFile: {
      Result<Pairs> read = FromFile(topology.file, nodes);
      if (!read) return tl::unexpected(read.error());
      pairs = std::move(*read);
      break;
    }
    case Kind::kDistance:
      break;
  }
  return std::vector<Pair>(pairs.begin(), pairs.end());
}

}  // namespace covey::simulate
