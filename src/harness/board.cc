#include "covey/harness/board.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "covey/base/check.h"
#include "harness/text.h"

namespace covey::harness {
namespace {

constexpr std::size_t kBarWidth = 28;

// A group in figures.
struct Totals {
  double fraction = 0;  // mean over the nodes that have not died
  double epochs = 0;    // the same
  std::uint64_t samples = 0;
  Traffic traffic;
  std::size_t evaluated = 0;
  bool accuracy = false;  // what the next three are: accuracies, or else losses
  double mean = 0, low = 0, high = 0;
  std::string states;  // "3 starting, 5 training"; only what differs from "training"
};

std::string States(const BoardGroup& group) {
  std::map<std::string, std::size_t> counts;
  for (const BoardNode& node : group.nodes) ++counts[node.progress.state];
  std::string text;
  for (const auto& [state, count] : counts) {
    if (state == "training" || state.empty()) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + ' ' + state;
  }
  return text;
}

Totals Sum(const BoardGroup& group) {
  Totals totals;
  double alive = 0;
  for (const BoardNode& node : group.nodes) {
    totals.samples += node.progress.samples;
    totals.traffic += node.progress.traffic;
    if (node.progress.state == "died") continue;
    ++alive;
    totals.fraction += node.progress.fraction;
    totals.epochs += node.progress.epochs;
    if (!node.validation) continue;
    totals.accuracy = node.validation->accuracy.has_value();
    const double figure = node.validation->accuracy.value_or(node.validation->loss);
    totals.mean += figure;
    totals.low = totals.evaluated == 0 ? figure : std::min(totals.low, figure);
    totals.high = totals.evaluated == 0 ? figure : std::max(totals.high, figure);
    ++totals.evaluated;
  }
  totals.fraction /= std::max(alive, 1.0);
  totals.epochs /= std::max(alive, 1.0);
  totals.mean /= std::max(static_cast<double>(totals.evaluated), 1.0);
  totals.states = States(group);
  return totals;
}

// Seconds until the group is done at its present pace; negative: can't tell.
double Remaining(const BoardGroup& group, const Totals& totals, double now) {
  if (group.first_samples < 0 || totals.fraction < 0.01 || totals.fraction >= 1) return -1;
  return (now - group.first_samples) * (1 - totals.fraction) / totals.fraction;
}

// While it trains: the tail and the last evaluations don't slow it down. 0: can't tell.
double Rate(const BoardGroup& group, const Totals& totals) {
  const double seconds = group.last_samples - group.first_samples;
  if (group.first_samples < 0 || seconds < 0.2) return 0;
  return static_cast<double>(totals.samples) / seconds;
}

std::string Lost(const Traffic& traffic) {
  const std::uint64_t sent = traffic.weights_sent + traffic.deltas_sent;
  if (sent == 0) return "";
  const std::uint64_t lost = traffic.weights_dropped + traffic.deltas_dropped;
  return Percent(static_cast<double>(lost) / static_cast<double>(sent), 1) + " lost";
}

std::string Epochs(const Totals& totals, double total_epochs) {
  std::string text = "epoch " + Fixed(totals.epochs, 1);
  if (total_epochs > 0) text += " of " + Fixed(total_epochs, total_epochs < 10 ? 1 : 0);
  return text;
}

// Cuts after `width` code points. Requires: no escape sequences in `text`.
std::string Cut(std::string text, std::size_t width) {
  std::size_t points = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U) continue;
    if (points == width) {
      text.resize(i);
      break;
    }
    ++points;
  }
  return text;
}

std::string Bar(double fraction) {
  const auto full = static_cast<std::size_t>(
      std::lround(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(kBarWidth)));
  std::string bar;
  for (std::size_t i = 0; i < kBarWidth; ++i) bar += i < full ? "█" : "░";
  return bar;
}

std::string Paint(const std::string& text, std::string_view code, bool color) {
  return color ? "\x1b[" + std::string(code) + 'm' + text + "\x1b[0m" : text;
}

std::string_view Code(Group group) {
  switch (group) {
    case Group::kConsensus:
      return "36";
    case Group::kMonolithic:
      return "37";
    case Group::kIsolated:
      return "33";
  }
  return "0";
}

// Accuracy of each node, as many in a row as fit.
void PutNodes(std::vector<std::string>& lines, const BoardGroup& group, std::size_t width) {
  constexpr std::size_t kCell = 13;
  constexpr std::size_t kMostRows = 4;  // a fleet of hundreds must not scroll the screen away
  const std::size_t in_row =
      std::max<std::size_t>(1, (width - std::min<std::size_t>(width, 4)) / kCell);
  std::string row;
  for (std::size_t i = 0; i < group.nodes.size(); ++i) {
    if (i / in_row == kMostRows) {
      row = "    and " + std::to_string(group.nodes.size() - i) + " more";
      break;
    }
    const BoardNode& node = group.nodes[i];
    std::string value = node.progress.state;
    if (node.progress.state != "died" && node.validation) {
      const Score& score = *node.validation;
      value = score.accuracy ? Fixed(*score.accuracy * 100, 1) + " %" : Fixed(score.loss, 4);
    }
    row += (row.empty() ? "    " : "") + PadLeft(std::to_string(i), 3) + ' ' +
           PadRight(Cut(value, kCell - 5), kCell - 4);
    if ((i + 1) % in_row == 0) {
      lines.push_back(Cut(std::exchange(row, {}), width));
    }
  }
  if (!row.empty()) lines.push_back(Cut(row, width));
}

}  // namespace

Board::Board(std::string title, double total_epochs)
    : title_(std::move(title)), total_epochs_(total_epochs) {}

void Board::Begin(Group group, std::uint32_t nodes, double now) {
  BoardGroup& entry = groups_[group];
  entry = BoardGroup{};
  entry.began = now;
  entry.nodes.resize(nodes);
  for (std::uint32_t i = 0; i < nodes; ++i) {
    entry.nodes[i].progress.group = group;
    entry.nodes[i].progress.index = i;
    entry.nodes[i].progress.state = "starting";
  }
}

void Board::Update(const NodeProgress& progress, double now) {
  BoardGroup& group = groups_[progress.group];
  COVEY_CHECK(progress.index < group.nodes.size(), progress.index, group.nodes.size());
  NodeProgress& known = group.nodes[progress.index].progress;
  if (progress.samples > known.samples) group.last_samples = now;
  known = progress;
  if (group.first_samples < 0 && progress.samples > 0) group.first_samples = now;
}

void Board::Update(Group group, std::uint32_t index, const Score& validation) {
  BoardGroup& entry = groups_[group];
  COVEY_CHECK(index < entry.nodes.size(), index, entry.nodes.size());
  entry.nodes[index].validation = validation;
}

void Board::Finish(Group group, double now) {
  groups_[group].finished = true;
  groups_[group].ended = now;
}

std::string Board::Line(double now) const {
  std::string line = PadLeft(Span(now), 8);
  bool any = false;
  for (const auto& [name, group] : groups_) {
    if (group.finished) continue;
    any = true;
    const Totals totals = Sum(group);
    line += "  " + std::string(Name(name)) + ' ' + Percent(totals.fraction, 0) + ", " +
            Epochs(totals, total_epochs_);
    if (totals.evaluated > 0) {
      line += (totals.accuracy ? ", accuracy " : ", loss ") + Fixed(totals.mean, 4);
    }
    if (totals.evaluated > 1) {
      line += " (" + Fixed(totals.low, 4) + " to " + Fixed(totals.high, 4) + ')';
    }
    if (const std::string lost = Lost(totals.traffic); !lost.empty()) line += ", " + lost;
    if (const double rate = Rate(group, totals); rate > 0) {
      line += ", " + Grouped(static_cast<std::uint64_t>(rate)) + " samples/s";
    }
    if (const double left = Remaining(group, totals, now); left >= 0) line += ", ETA " + Span(left);
    if (!totals.states.empty()) line += ", " + totals.states;
    line += ';';
  }
  if (!any) return line + "  " + title_;
  line.pop_back();
  return line;
}

std::vector<std::string> Board::Screen(double now, const Style& style) const {
  std::vector<std::string> lines;
  lines.push_back(Cut(title_ + "  " + Span(now), style.width));
  for (const auto& [name, group] : groups_) {
    const Totals totals = Sum(group);
    std::string head = PadRight(Name(name), 11) + Bar(totals.fraction) + ' ' +
                       PadLeft(Percent(totals.fraction, 0), 5) + "  " +
                       Epochs(totals, total_epochs_);
    if (group.finished) {
      head += "  took " + Span(group.ended - group.began);
    } else if (const double left = Remaining(group, totals, now); left >= 0) {
      head += "  ETA " + Span(left);
    }
    lines.push_back(Paint(Cut(head, style.width), Code(name), style.color));
    std::string detail = "    ";
    if (totals.evaluated > 0) {
      const bool percent = totals.accuracy;
      detail += percent ? "accuracy " + Percent(totals.mean) : "loss " + Fixed(totals.mean, 4);
      if (totals.evaluated > 1) {
        detail += ", " + (percent ? Fixed(totals.low * 100, 2) + " to " + Percent(totals.high)
                                  : Fixed(totals.low, 4) + " to " + Fixed(totals.high, 4));
      }
      detail += "   ";
    }
    if (const std::string lost = Lost(totals.traffic); !lost.empty()) detail += lost + "   ";
    if (const double rate = Rate(group, totals); rate > 0) {
      detail += Grouped(static_cast<std::uint64_t>(rate)) + " samples/s   ";
    }
    if (!totals.states.empty() && !group.finished) detail += totals.states;
    while (detail.ends_with(' ')) detail.pop_back();
    if (!detail.empty()) lines.push_back(Cut(detail, style.width));
    if (!group.finished && group.nodes.size() > 1) PutNodes(lines, group, style.width);
  }
  return lines;
}

}  // namespace covey::harness
