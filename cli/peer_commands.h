// covey peers, ping and doctor.
#pragma once

#include <functional>
#include <optional>

#include "covey/api/client.h"
#include "covey/base/result.h"
#include "covey/command_line/command.h"
#include "covey/config/node_config.h"
#include "ping.h"

namespace covey {

class PeerCommands {
 public:
  struct Host {
    // Adds a command that finds its daemon by --socket or --config, and takes --json.
    std::function<command_line::Command&(const char* name, const char* help)> add;
    std::function<Result<api::Client>()> connect;
    std::function<Result<config::NodeConfig>()> config;
    const bool& json;
  };

  explicit PeerCommands(Host host);

  // Returns: the exit code, or the error, of the command that was given; nothing when none of these
  // was.
  std::optional<Result<int>> Run();

 private:
  Status ShowPeers();
  Status PingPeer();
  Result<int> RunDoctor();

  const Host host_;
  bool watch_ = false;
  PingOptions ping_options_;
  command_line::Command& peers_;
  command_line::Command& ping_;
  command_line::Command& doctor_;
};

}  // namespace covey
