// The pairs of nodes that a fleet links.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "covey/base/result.h"
#include "covey/config/fault_settings.h"

namespace covey::simulate {

// Dialler and listener.
using Pair = std::pair<std::uint32_t, std::uint32_t>;

// Up to so many nodes `any` means everybody; above, a partial view.
inline constexpr std::uint32_t kFullMesh = 64;

// Returns: pairs in index order, each once, the larger index dialling except in partial views,
// where node i dials peers/2 others that it draws; for kDistance none: who is near changes.
// Errors: kNoInput, kData for the file (line, what was got); kConfig for a degree that is not below
// the number of nodes.
// Determinism: a function of the settings, the seed and the number of nodes.
Result<std::vector<Pair>> PairsOf(const config::TopologySettings& topology, std::uint64_t seed,
                                  std::uint32_t nodes);

// How fast pairwise averaging brings a graph together: in a round, where each node begins one
// exchange with a random neighbour and completes it, gamma = 1/2, V = sum |x_i - mean|^2 falls to
// exp(-gap) V.
// Equation: gap = the second smallest eigenvalue of the Laplacian with weights (1/d_i + 1/d_j)/2;
//   on a regular graph 1 - lambda_2 of the walk, N/(N-1) where everybody is linked to everybody.
// Returns: to three digits; 0 for a graph that is not connected.
// Source: Boyd, Ghosh, Prabhakar & Shah (2006), Randomized gossip algorithms, IEEE Trans. Inf.
//   Theory 52, section III; in rounds instead of single exchanges.
double MixingGap(const std::vector<Pair>& pairs, std::uint32_t nodes);

bool IsPartialView(const config::TopologySettings& topology, std::uint32_t nodes);

}  // namespace covey::simulate
