// Did-you-mean.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace covey::config {

// Returns: the least number of insertions, deletions, substitutions and swaps of neighbours (each
// place touched once) that turn a into b. Source: Damerau 1964, in the restricted form "optimal
// string alignment".
std::size_t EditDistance(std::string_view a, std::string_view b);

// Returns: the candidate that a person most likely meant, or "" when none is near: at most about a
// third of the letters differ, or one contains the other. Ties: the first.
std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

// Returns: "a, b, c".
std::string Joined(const std::vector<std::string>& words);

}  // namespace covey::config
