// covey key show: the public key by which others know a node.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "covey/base/result.h"
#include "covey/command_line/command.h"
#include "covey/config/node_config.h"

namespace covey {

class KeyCommand {
 public:
  // config: the configuration of the node that `path` names, or the default one of this user.
  KeyCommand(command_line::Command& program, std::string& path,
             std::function<Result<config::NodeConfig>()> config);

  // Returns: what came of it; nothing when another command was given.
  std::optional<Status> Run() const;

 private:
  Status Show() const;

  std::function<Result<config::NodeConfig>()> config_;
  bool json_ = false;
  command_line::Command* show_ = nullptr;
};

}  // namespace covey
