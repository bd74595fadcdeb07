// A daemon from its configuration to its exit code.
#pragma once

#include <string>

#include "covey/base/result.h"
#include "covey/config/load.h"
#include "covey/node/signals.h"

namespace covey {

struct Options {
  std::string config;
  bool check = false;
  bool init = false;
  bool paused = false;
  std::string join;  // an invitation
};

// Reads and completes the configuration; prints its warnings to stderr. Paths become absolute.
Result<config::Loaded<config::NodeConfig>> LoadConfig(const Options& options);

// Opens data and model as a start would, and tells what it found on stdout. Touches no state
// directory.
Status Check(const Options& options, const config::NodeConfig& config);

// Makes the state directory and the key pair unless they are there, and prints "key=<64 hex
// digits>" to stdout: peers can be told the key before the node's first start.
Status Init(const config::NodeConfig& config);

// Runs until the node has ended. Prints the ready line to stdout.
Status RunNode(const Options& options, const config::NodeConfig& config, node::Signals& signals);

}  // namespace covey
