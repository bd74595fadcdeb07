// The one description of every key: name, meaning, unit, range, place in the settings. Defaults are
// those of the structs. Whoever adds a key adds it here and nowhere else, and regenerates
// configs/node.yaml.
#pragma once

#include <string>
#include <vector>

#include "config/visitor.h"
#include "covey/config/experiment.h"
#include "covey/config/node_config.h"

namespace covey::config {

void VisitNode(Visitor& visitor, NodeConfig& config);
void VisitExperiment(Visitor& visitor, Experiment& experiment);  // template included
void VisitOverride(Visitor& visitor, Override& own, NodeConfig& config);

// Copies what the keys of a file leave implied: normalisation and classes of the data sets.
void Complete(NodeConfig& config);

// Returns: NodeConfig{} with an example for every key that a file must give.
NodeConfig ExampleNode();

// A contradiction between settings, each alone legal.
struct Problem {
  std::string path;  // the key to point at
  std::vector<std::string>
      reads;  // keys that took part; when one of them is wrong already, say nothing
  std::string what;
  std::string note;
  bool warning = false;
};

std::vector<Problem> Contradictions(const NodeConfig& config);
// Those of the experiment itself; the template's are Contradictions(experiment.node).
std::vector<Problem> Contradictions(const Experiment& experiment);

}  // namespace covey::config
