// What a node file says about data and model: chosen for data, or taken over from a fleet.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "covey/base/result.h"
#include "covey/config/node_config.h"
#include "init.h"

namespace covey {

struct InitPlan {
  std::string fleet = "covey";
  std::optional<PeerKey> operator_key;
  std::string train;  // "{csv: /data/log.csv}", without "train: "
  // Top-level sections of YAML, each with its key; `data` has no key `train`.
  std::string model;
  std::string data;
  // Other sections that a fleet agrees on.
  std::string more =
      "train:\n  optimizer: {kind: adam, learning_rate: 0.003}\n"
      "  until: forever  # data may grow; covey leave ends it\n"
      "  evaluate: {every: {batches: 200}}\n\nconsensus:\n"
      "  batches: 100  # between two exchanges\n";
  std::vector<config::Seed> seeds;
  std::vector<std::string> remarks;  // for the person
};

// Answers a question: gets the text and what Enter means.
using AskPerson = std::string (*)(const std::string& question, const std::string& usual);

// ask: null to ask nothing. options.data is absolute.
Result<InitPlan> PlanForData(const InitOptions& options, const std::string& cache, AskPerson ask);
// The sections of a join.yaml, as they stand there.
Result<InitPlan> PlanFromJoin(const InitOptions& options);

}  // namespace covey
