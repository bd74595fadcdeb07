#include "key_command.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "covey/transport_zmq/keys.h"

namespace covey {

KeyCommand::KeyCommand(command_line::Command& program, std::string& path,
                       std::function<Result<config::NodeConfig>()> config)
    : config_(std::move(config)) {
  command_line::Command& key = program.Sub("key", "What this node is known by");
  show_ = &key.Sub("show", "Print the public key of a node, for the lists of its peers");
  show_->Add("--config", path, "The node's configuration file");
  show_->Flag("--json", json_, "Print JSON");
}

std::optional<Status> KeyCommand::Run() const {
  if (!show_->given()) return std::nullopt;
  return Show();
}

Status KeyCommand::Show() const {
  const auto config = config_();
  if (!config) return tl::unexpected(config.error());
  const std::string& file = config->security.key_file;
  // Reading must not make a key, as a node does that starts.
  if (::access(file.c_str(), F_OK) != 0 && errno == ENOENT) {
    return Fail(ErrorCode::kNoInput, file, "there is no key yet",
                "`coveyd --config FILE --init` makes it, or the first start of the node");
  }
  const auto keys = transport_zmq::LoadOrCreateKeys(file);
  if (!keys) return tl::unexpected(keys.error());
  const std::string key = keys->public_key.Hex();
  const nlohmann::ordered_json json = {
      {"schema", "covey.key/1"}, {"public_key", key}, {"file", file}};
  std::printf("%s\n", json_ ? json.dump(2).c_str() : key.c_str());
  return {};
}

}  // namespace covey
