#include "fleet_commands.h"

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "covey/base/time.h"
#include "operator_key.h"

namespace covey {
namespace {

using FleetObject = nlohmann::ordered_json;

constexpr std::uint32_t kMostUses = 65535;
constexpr Duration kLongestInvitation = std::chrono::hours(24 * 366);

std::uint64_t SecondsSince1970() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

void PrintFleetJson(const FleetObject& json) {
  std::printf("%s\n", json.dump(-1, ' ', false, FleetObject::error_handler_t::replace).c_str());
}

// "HOST:PORT@KEY".
Result<membership::Door> DoorOf(const std::string& text) {
  const std::size_t at = text.rfind('@');
  const auto address = config::ParseHostPort(text.substr(0, at));
  const auto key = PeerKey::FromHex(at == std::string::npos ? "" : text.substr(at + 1));
  if (!address || address->port == 0 || !key) {
    return Fail(ErrorCode::kUsage, "--seed", "got '" + text + "', wanted HOST:PORT@KEY",
                "the address of a node's network.door and the node's public key, e.g. "
                "10.0.0.7:7430@1a2b...");
  }
  return membership::Door{*key, address->Text()};
}

}  // namespace

FleetCommands::FleetCommands(command_line::Command& program, Host host)
    : host_(std::move(host)),
      invite_(host_.add("invite", "Print an invitation: whoever has it can join the fleet")),
      admit_(host_.add("admit", "Let a key into the fleet, by the operator's signature")),
      revoke_(host_.add("revoke", "Send a key, or an invitation and all who came with it, away")) {
  command_line::Command& fleet = program.Sub("fleet", "What belongs to a fleet as a whole");
  key_ = &fleet.Sub("key", "Make the operator's key, or show its public half");
  key_->Add("FILE", key_file_, "Where it is kept, mode 0600").ShowDefault();
  for (command_line::Command* command : {&invite_, &admit_, &revoke_}) {
    command->Add("--operator", key_file_, "The operator's key file").ShowDefault();
    command->Add("--fleet", fleet_, "Name of the fleet; else that of --config");
  }
  invite_.Add("--seed", seeds_, "HOST:PORT@KEY of a node's door; up to four").Required();
  invite_.Add("--expires", expires_, "How long doors take it").ShowDefault();
  invite_.Add("--count", count_, "Nodes that it lets in; 0: any number").ShowDefault();
  invite_.Add("--name", name_, "What it is for, e.g. the robot's name");
  admit_.Add("KEY", whom_, "Public key of the node").Required();
  revoke_.Add("WHAT", whom_, "Public key, invitation, or what --print printed").Required();
  for (command_line::Command* command : {&admit_, &revoke_}) {
    command->Flag("--print", print_, "Print it, for `covey revoke` on a node; tell no daemon");
  }
}

std::optional<Status> FleetCommands::Run() {
  if (key_->given()) return MakeKey();
  if (invite_.given()) return Invite();
  if (admit_.given()) return AdmitKey();
  if (revoke_.given()) return Revoke();
  return std::nullopt;
}

Status FleetCommands::MakeKey() {
  auto key = ReadOperatorKey(key_file_);
  if (!key && key.error().code == ErrorCode::kNoInput) {
    key = MakeOperatorKey(key_file_);
    if (key) std::fprintf(stderr, "covey: made %s; keep a copy of it\n", key_file_.c_str());
  }
  if (!key) return tl::unexpected(key.error());
  std::printf("%s\n", key->Public().Hex().c_str());
  return {};
}

Result<std::string> FleetCommands::Fleet() const {
  if (!fleet_.empty()) return fleet_;
  if (host_.config_file.empty()) {
    return Fail(ErrorCode::kUsage, "--fleet", "is missing",
                "name the fleet, or a node's file with --config");
  }
  const auto config = host_.config();
  if (!config) return tl::unexpected(config.error());
  return config->fleet.name;
}

Result<membership::Terms> FleetCommands::TermsOf() const {
  const auto fleet = Fleet();
  if (!fleet) return tl::unexpected(fleet.error());
  const auto lasts = ParseDuration(expires_);
  if (!lasts || *lasts < std::chrono::seconds(1) || *lasts > kLongestInvitation) {
    return Fail(ErrorCode::kUsage, "--expires", "got '" + expires_ + "', wanted 1s to 8784h",
                "e.g. 24h");
  }
  if (count_ > kMostUses) {
    return Fail(ErrorCode::kUsage, "--count", "got " + std::to_string(count_),
                "wanted at most " + std::to_string(kMostUses) + ", or 0 for any number");
  }
  membership::Terms terms;
  terms.fleet = membership::FleetTag(*fleet);
  terms.expires =
      SecondsSince1970() +
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(*lasts).count());
  terms.uses = static_cast<std::uint16_t>(count_);
  terms.name = name_;
  for (const std::string& seed : seeds_) {
    auto door = DoorOf(seed);
    if (!door) return tl::unexpected(door.error());
    terms.doors.push_back(std::move(*door));
  }
  return terms;
}

Result<membership::Invitation> FleetCommands::Sign() const {
  auto terms = TermsOf();
  if (!terms) return tl::unexpected(terms.error());
  const auto key = ReadOperatorKey(key_file_);
  if (!key) return tl::unexpected(key.error());
  return membership::Invite(std::move(*terms), *key);
}

Status FleetCommands::Invite() {
  const auto invitation = Sign();
  if (!invitation) return tl::unexpected(invitation.error());
  const std::string text = membership::FormatInvitation(*invitation);
  if (host_.json) {
    PrintFleetJson({{"schema", "covey.invitation/1"},
                    {"invitation", text},
                    {"id", invitation->terms.id.Hex()},
                    {"expires", invitation->terms.expires},
                    {"operator_key", invitation->issuer.Hex()}});
  } else {
    std::printf("%s\n", text.c_str());
    std::fprintf(stderr,
                 "covey: on the new node: coveyd --config FILE --join INVITATION, with fleet: "
                 "{operator_key: %s} in FILE\n",
                 invitation->issuer.Hex().c_str());
  }
  return {};
}

Status FleetCommands::HandOver(const membership::RecordBytes& record, const std::string& what) {
  if (print_) {
    std::printf("%s\n", membership::FormatRecord(record).c_str());
    return {};
  }
  auto client = host_.connect();
  if (!client) return tl::unexpected(client.error());
  const auto status =
      client->TakeRecord(std::string(reinterpret_cast<const char*>(record.data()), record.size()));
  if (!status) return tl::unexpected(status.error());
  if (host_.json) {
    PrintFleetJson({{"schema", "covey.record/1"}, {"told", status->name}, {"what", what}});
  } else {
    std::printf("%s: told %s, which tells the fleet\n", what.c_str(), status->name.c_str());
  }
  return {};
}

Status FleetCommands::AdmitKey() {
  const auto node = PeerKey::FromHex(whom_);
  if (!node) return Fail(ErrorCode::kUsage, "KEY", node.error().what, "wanted 64 hex digits");
  const auto invitation = Sign();
  if (!invitation) return tl::unexpected(invitation.error());
  return HandOver(membership::Admit(*invitation, *node), "admitted " + node->Short());
}

Status FleetCommands::Revoke() {
  if (whom_.starts_with("covey-record-")) {
    const auto record = membership::ParseRecord(whom_);
    if (!record) return tl::unexpected(record.error());
    return HandOver(*record, "record");
  }
  auto revoked = PeerKey::FromHex(whom_);
  if (whom_.starts_with("covey-invitation-")) {
    const auto invitation = membership::ParseInvitation(whom_);
    if (!invitation) return tl::unexpected(invitation.error());
    revoked = invitation->terms.id;
  }
  if (!revoked) {
    return Fail(ErrorCode::kUsage, "WHAT", "got '" + whom_ + "'",
                "wanted a public key of 64 hex digits, or a text that begins with covey-");
  }
  const auto fleet = Fleet();
  if (!fleet) return tl::unexpected(fleet.error());
  const auto key = ReadOperatorKey(key_file_);
  if (!key) return tl::unexpected(key.error());
  return HandOver(membership::Revoke(membership::FleetTag(*fleet), *revoked, *key),
                  "revoked " + revoked->Short());
}

}  // namespace covey
