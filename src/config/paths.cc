#include "covey/config/paths.h"

#include <cstdlib>

namespace covey::config {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::string StateFolder(const Environment& environment) {
  // systemd separates several folders by colons; the first is ours.
  if (!environment.state_directory.empty()) {
    return environment.state_directory.substr(0, environment.state_directory.find(':'));
  }
  if (!environment.xdg_state_home.empty()) return environment.xdg_state_home + "/covey";
  if (!environment.home.empty()) return environment.home + "/.local/state/covey";
  return "covey-state";
}

}  // namespace

Environment Environment::OfProcess() {
  Environment environment;
  environment.state_directory = Variable("STATE_DIRECTORY");
  environment.xdg_state_home = Variable("XDG_STATE_HOME");
  environment.xdg_cache_home = Variable("XDG_CACHE_HOME");
  environment.home = Variable("HOME");
  return environment;
}

void FillPaths(NodeConfig& config, const Environment& environment) {
  std::string& state = config.node.state_dir;
  if (state.empty()) state = StateFolder(environment);
  if (config.security.key_file.empty()) config.security.key_file = state + "/identity.key";
  if (config.api.listen.empty()) config.api.listen = state + "/api.sock";
  if (!config.data.cache.empty()) return;
  if (!environment.xdg_cache_home.empty()) {
    config.data.cache = environment.xdg_cache_home + "/covey";
  } else if (!environment.home.empty()) {
    config.data.cache = environment.home + "/.cache/covey";
  } else {
    config.data.cache = state + "/cache";
  }
}

}  // namespace covey::config
