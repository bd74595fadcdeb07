// A made-up outcome: eight nodes that learned together, one of which died, and both controls.
#pragma once

#include <cmath>
#include <string>

#include "covey/harness/outcome.h"

namespace covey::harness {

inline Score CurveAt(double epoch, double top, double overfit) {
  return {.loss = 0.35 + 1.2 * std::exp(-epoch / 2) + overfit * epoch * epoch / 1600,
          .accuracy = top - 0.35 * std::exp(-epoch / 4)};
}

inline NodeOutcome MadeUpNode(Group group, std::uint32_t index, double top, double overfit) {
  NodeOutcome node;
  node.group = group;
  node.index = index;
  node.shard = 6875;
  node.samples = 275000;
  node.epochs = 40;
  node.rounds = 860;
  for (int epoch = 1; epoch <= 40; ++epoch) {
    const double wobble = 0.003 * std::sin(7.0 * index + 2.1 * epoch);
    node.curve.push_back(
        {static_cast<double>(epoch), 0.5 * epoch, CurveAt(epoch, top + wobble, overfit)});
  }
  const Point& end = node.curve.back();
  node.best = Selected{38, Score{end.validation.loss, top + 0.003}, Score{0.36, top}};
  node.last = Selected{40, Score{end.validation.loss, top + 0.002}, Score{0.37, top - 0.001}};
  if (group == Group::kConsensus) {
    node.traffic = {.weights_sent = 860,
                    .weights_dropped = 215,
                    .weights_received = 640,
                    .deltas_sent = 640,
                    .deltas_dropped = 160,
                    .deltas_received = 478,
                    .bytes_sent = 258'000'000};
    node.pss_bytes = 14'200'000 + 100'000 * index;
  }
  return node;
}

inline Outcome MadeUpOutcome() {
  Outcome outcome;
  outcome.experiment = "fashion-8x25";
  outcome.seed = 7;
  outcome.nodes = 8;
  outcome.mode = "process";
  outcome.wall_seconds = 41.25;
  outcome.samples_per_second = 231456.7;
  outcome.spread = 0.0213;
  outcome.model = "mlp 784-72-10";
  outcome.build = "covey 0.1.0 (kernels v3)";
  outcome.command = "covey-sim run configs/experiments/fashion-8x25.yaml --seed 7";
  outcome.settings = {{"consensus.batches (N)", "10"},
                      {"consensus.sends (M)", "1"},
                      {"faults.weights_drop", "0.25"},
                      {"faults.deltas_drop", "0.25"}};
  for (std::uint32_t i = 0; i < 8; ++i) {
    for (std::uint32_t j = i + 1; j < 8; ++j) outcome.links.emplace_back(i, j);
    outcome.runs.push_back(MadeUpNode(Group::kConsensus, i, 0.876 + 0.0005 * i, 0.0));
  }
  outcome.runs.push_back(MadeUpNode(Group::kMonolithic, 0, 0.882, 0.02));
  for (std::uint32_t i = 0; i < 8; ++i) {
    outcome.runs.push_back(MadeUpNode(Group::kIsolated, i, 0.842 + 0.0008 * i, 0.25));
  }
  return outcome;
}

}  // namespace covey::harness
