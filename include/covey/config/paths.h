// Defaults that depend on the machine: where state, cache and sockets live.
#pragma once

#include <string>

#include "covey/config/node_config.h"

namespace covey::config {

// What the process was told about folders; empty: not set.
struct Environment {
  std::string state_directory;  // $STATE_DIRECTORY, set by systemd
  std::string xdg_state_home;
  std::string xdg_cache_home;
  std::string home;

  // Reads the environment variables of this process.
  static Environment OfProcess();
};

// Fills what is empty in `config`:
//   node.state_dir     $STATE_DIRECTORY, else $XDG_STATE_HOME/covey, else ~/.local/state/covey,
//   else "covey-state" security.key_file  <state_dir>/identity.key api.listen <state_dir>/api.sock
//   data.cache         $XDG_CACHE_HOME/covey, else ~/.cache/covey, else <state_dir>/cache
// Nothing is created or touched.
void FillPaths(NodeConfig& config, const Environment& environment);

}  // namespace covey::config
