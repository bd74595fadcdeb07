#include "peer_commands.h"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "check.h"
#include "doctor.h"
#include "peers.h"

namespace covey {

PeerCommands::PeerCommands(Host host)
    : host_(std::move(host)),
      peers_(host_.add("peers", "Show whom the daemon knows, and how it stands")),
      ping_(host_.add("ping", "Ask a linked peer for signs of life")),
      doctor_(host_.add("doctor", "Find out why peers are not reached")) {
  peers_.Flag("--watch", watch_, "Go on, and tell what changes");
  ping_.Add("PEER", ping_options_.peer, "First digits of its key, or its address").Required();
  ping_.Add("--count", ping_options_.count, "How many").ShowDefault();
}

std::optional<Result<int>> PeerCommands::Run() {
  if (doctor_.given()) return RunDoctor();
  if (!peers_.given() && !ping_.given()) return std::nullopt;
  Status done = peers_.given() ? ShowPeers() : PingPeer();
  if (!done) return Result<int>(tl::unexpected(std::move(done.error())));
  return Result<int>(0);
}

Status PeerCommands::ShowPeers() {
  auto client = host_.connect();
  if (!client) return tl::unexpected(client.error());
  if (watch_) return WatchPeers(*client, host_.json);
  const auto status = client->GetStatus();
  if (!status) return tl::unexpected(status.error());
  std::fputs((host_.json ? PeersJson(*status) : PeersText(*status)).c_str(), stdout);
  return {};
}

Status PeerCommands::PingPeer() {
  auto client = host_.connect();
  if (!client) return tl::unexpected(client.error());
  ping_options_.json = host_.json;
  return Ping(*client, ping_options_);
}

Result<int> PeerCommands::RunDoctor() {
  const auto config = host_.config();
  if (!config) return tl::unexpected(config.error());
  auto client = host_.connect();
  const std::vector<Finding> findings = Diagnose(*config, client ? &*client : nullptr);
  const std::string text =
      host_.json ? FindingsJson(findings, "covey.doctor/1") : FindingsText(findings);
  std::fputs(text.c_str(), stdout);
  return ExitCodeOf(findings);
}

}  // namespace covey
