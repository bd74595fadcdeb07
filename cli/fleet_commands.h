// What the operator of a fleet does: covey fleet key, invite, admit, revoke.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "covey/api/client.h"
#include "covey/base/result.h"
#include "covey/command_line/command.h"
#include "covey/config/node_config.h"
#include "covey/membership/invitation.h"

namespace covey {

class FleetCommands {
 public:
  struct Host {
    // Adds a command that finds its daemon by --socket or --config, and takes --json.
    std::function<command_line::Command&(const char* name, const char* help)> add;
    std::function<Result<api::Client>()> connect;
    std::function<Result<config::NodeConfig>()> config;
    const std::string& config_file;  // --config
    const bool& json;
  };

  FleetCommands(command_line::Command& program, Host host);

  // Returns: what came of the command that was given; nothing when none of these was.
  std::optional<Status> Run();

 private:
  Status MakeKey();
  Status Invite();
  Status AdmitKey();
  Status Revoke();
  Result<std::string> Fleet() const;
  Result<membership::Terms> TermsOf() const;
  // What the options say, signed by the operator.
  Result<membership::Invitation> Sign() const;
  Status HandOver(const membership::RecordBytes& record, const std::string& what);

  const Host host_;
  std::string key_file_ = "operator.key";
  std::string fleet_;
  std::string expires_ = "24h";
  std::string name_;
  std::uint32_t count_ = 1;
  std::vector<std::string> seeds_;
  std::string whom_;
  bool print_ = false;
  command_line::Command* key_ = nullptr;
  command_line::Command& invite_;
  command_line::Command& admit_;
  command_line::Command& revoke_;
};

}  // namespace covey
