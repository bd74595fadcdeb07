#include "covey/api/types.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace covey::api {

std::string_view Name(State state) {
  constexpr std::array<std::string_view, 6> kNames = {"starting", "joining", "training",
                                                      "settling", "done",    "leaving"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string_view Name(Command command) {
  constexpr std::array<std::string_view, 4> kNames = {"pause", "resume", "settle", "leave"};
  return kNames[static_cast<std::size_t>(command)];
}

std::vector<Answer> RankAnswers(std::span<const float> outputs, std::size_t n,
                                const std::vector<std::string>& labels, std::uint32_t top) {
  std::vector<Answer> answers(outputs.size() / n);
  std::vector<std::uint32_t> order(n);
  const std::size_t count = top == 0 ? n : std::min<std::size_t>(top, n);
  for (std::size_t b = 0; b < answers.size(); ++b) {
    const std::span<const float> row = outputs.subspan(b * n, n);
    std::iota(order.begin(), order.end(), 0u);
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count),
                      order.end(), [row](std::uint32_t x, std::uint32_t y) {
                        return row[x] != row[y] ? row[x] > row[y] : x < y;
                      });
    for (std::size_t k = 0; k < count; ++k) {
      const std::uint32_t index = order[k];
      const std::string label = labels.empty() ? std::to_string(index) : labels[index];
      answers[b].classes.push_back(RankedClass{index, label, row[index]});
    }
  }
  return answers;
}

std::vector<Answer> ValueAnswers(std::span<const float> outputs, std::size_t n) {
  std::vector<Answer> answers(outputs.size() / n);
  for (std::size_t b = 0; b < answers.size(); ++b) {
    const std::span<const float> row = outputs.subspan(b * n, n);
    answers[b].values.assign(row.begin(), row.end());
  }
  return answers;
}

}  // namespace covey::api
