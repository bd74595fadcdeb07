// The state of a run as a display shows it, and its text: pure functions of what observers were
// told.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "covey/harness/observer.h"

namespace covey::harness {

struct BoardNode {
  NodeProgress progress;
  std::optional<Score> validation;  // of the last evaluation
};

struct BoardGroup {
  std::vector<BoardNode> nodes;
  bool finished = false;
  double began = 0;           // seconds of the run
  double ended = 0;           // when finished
  double first_samples = -1;  // when the first sample was trained; negative: none yet
  double last_samples = 0;    // when the number of samples last grew
};

// Thread: none; the caller locks.
class Board {
 public:
  Board(std::string title, double total_epochs);  // 0 epochs: unknown

  // `now`: seconds since the start of the run; never goes back.
  void Begin(Group group, std::uint32_t nodes, double now);
  void Update(const NodeProgress& progress, double now);
  void Update(Group group, std::uint32_t index, const Score& validation);
  void Finish(Group group, double now);

  // One line without a newline: what happens now.
  std::string Line(double now) const;

  struct Style {
    std::size_t width = 80;  // columns; lines are never longer
    bool color = false;
  };
  // Several lines, for a terminal that is redrawn.
  std::vector<std::string> Screen(double now, const Style& style) const;

 private:
  std::string title_;
  double total_epochs_;
  std::map<Group, BoardGroup> groups_;
};

}  // namespace covey::harness
