#include "init.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "covey/api/server.h"
#include "covey/config/load.h"
#include "covey/config/paths.h"
#include "covey/membership/roster.h"
#include "covey/setup/assemble.h"
#include "covey/store/file_system.h"
#include "covey/transport_zmq/keys.h"
#include "init_plan.h"
#include "yaml.h"

namespace covey {
namespace {

using InitJson = nlohmann::ordered_json;

constexpr ByteCount kMaxKeys{1 << 20};
constexpr const char* kUsualListen = "127.0.0.1:7420";

std::string FullPath(const std::string& path) {
  char folder[4096];
  if (path.empty() || path[0] == '/' || ::getcwd(folder, sizeof folder) == nullptr) return path;
  return std::string(folder) + '/' + path;
}

std::string Ask(const std::string& question, const std::string& usual) {
  std::fprintf(stderr, "%s [%s] ", question.c_str(), usual.c_str());
  std::fflush(stderr);
  char line[4096];
  if (std::fgets(line, sizeof line, stdin) == nullptr) return usual;
  std::string answer = line;
  while (!answer.empty() && (answer.back() == '\n' || answer.back() == ' ')) answer.pop_back();
  return answer.empty() ? usual : answer;
}

// Where a node's files are.
struct NodeFiles {
  std::string folder;  // absolute
  std::string config = folder + "/node.yaml";
  std::string join = folder + "/join.yaml";
  std::string keys = folder + "/authorized_keys";
  std::string state = folder + "/state";
  std::string admissions = state + "/admissions";
};

Status Fits(const InitOptions& options, const NodeFiles& files) {
  struct stat info {};
  if (::stat(files.config.c_str(), &info) == 0 && !options.force) {
    return Fail(ErrorCode::kCantCreate, files.config, "is there already",
                "--force writes it anew and keeps the key, or choose another folder with --to");
  }
  const std::string socket = files.state + "/api.sock";
  if (socket.size() > api::kMaxSocketPath) {
    return Fail(ErrorCode::kUsage, files.folder,
                "is too long for the socket inside: " + std::to_string(socket.size()) +
                    " characters, wanted at most " + std::to_string(api::kMaxSocketPath),
                "choose a folder with a shorter path");
  }
  return {};
}

// What a file says of one node.
struct Own {
  std::string name;
  std::string listen;
  std::vector<config::Seed> seeds;
  unsigned index = 0;
};

std::string SeedsText(const std::vector<config::Seed>& seeds) {
  if (seeds.empty()) return {};
  std::string text = "  seeds:  # nodes that this one dials, again and again\n";
  for (const config::Seed& seed : seeds) {
    text += "    - {key: " + seed.key.Hex() + ", address: '" + seed.address.Text() + "'}\n";
  }
  return text;
}

std::string FleetText(const InitPlan& plan) {
  std::string text = "fleet: {name: " + Yaml(plan.fleet);
  if (plan.operator_key) text += ", operator_key: " + plan.operator_key->Hex();
  return text + '}';
}

std::string NodeFileText(const InitPlan& plan, const Own& own, const NodeFiles& files) {
  std::string data = plan.data;
  data.insert(data.find('\n') + 1, "  train: " + plan.train + '\n');
  std::string text = "# A node of the fleet " + plan.fleet +
                     ", written by covey init. What else can be said: covey's "
                     "configs/node.yaml.\n#   covey check " +
                     files.config + "\n#   coveyd --config " + files.config +
                     "\n#   covey predict --config " + files.config + " ...\n";
  text += FleetText(plan) + "  # nodes of another fleet are refused\n\nnode:\n";
  text += "  name: " + Yaml(own.name) + "\n  state_dir: " + Yaml(files.state) +
          "  # key, checkpoints, socket; model/ has the model as ONNX\n";
  text += "  index: " + std::to_string(own.index) +
          "  # of its random numbers: other nodes, other numbers\n"
          "  cpu_limit: 0.5  # of one processor, for training\n\n";
  text += "network:\n  listen: " + Yaml(own.listen) +
          "  # other machines can dial it at 0.0.0.0:7420\n" + SeedsText(own.seeds) + '\n';
  text += "security:\n  authorized_keys_file: " + Yaml(files.keys) +
          "  # who may connect, beside the seeds\n\n";
  text += plan.model + '\n' + data + '\n';
  return text + plan.more;
}

std::string JoinText(const InitPlan& plan, const Own& own) {
  std::string data = plan.data;
  const bool folder = plan.train.starts_with("{folder");
  const bool table = plan.train.starts_with("{csv");
  data.insert(data.find('\n') + 1, std::string("  train: ") +
                                       (folder  ? "{folder: yours}"
                                        : table ? "{csv: yours}"
                                                : "{images: yours, labels: yours}") +
                                       "  # covey init puts the data of the new node here\n");
  return "# What a node needs to join the fleet " + plan.fleet + ". No secret is in it.\n" +
         "#   covey init DATA --to FOLDER --join THIS_FILE\n" + FleetText(plan) + "\n\nnetwork:\n" +
         SeedsText(own.seeds) + '\n' + plan.model + '\n' + data + '\n' + plan.more;
}

// Opens data and model as the daemon will.
Status Try(const std::string& text, const NodeFiles& files, const std::string& join) {
  auto parsed = config::ParseNode(text, files.config);
  if (!parsed) {
    Error error = parsed.error();
    if (!join.empty()) error.what += "\ncan't take over the sections of " + join;
    return tl::unexpected(std::move(error));
  }
  config::FillPaths(parsed->value, config::Environment::OfProcess());
  const auto assembly = setup::Assemble(parsed->value, {});
  if (assembly) return {};
  Error error = assembly.error();
  if (!join.empty()) error.what += " (" + join + ")";
  return tl::unexpected(std::move(error));
}

Status WriteText(const std::string& path, const std::string& text) {
  return store::WriteAtomically(
      path, {reinterpret_cast<const std::byte*>(text.data()), text.size()}, {.mode = 0644});
}

// Adds a key to a list of keys. Returns: whether there is such a list that can be written.
bool Admit(const std::string& path, const std::string& key, const std::string& name) {
  if (::access(path.c_str(), W_OK) != 0) return false;
  const auto bytes = store::ReadFile(path, kMaxKeys);
  if (!bytes) return false;
  std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  if (text.find(key) != std::string::npos) return true;
  if (!text.empty() && text.back() != '\n') text += '\n';
  return WriteText(path, text + key + "  # " + name + '\n').has_value();
}

// What an invitation says of the fleet must be what the plan says.
Result<std::optional<membership::Invitation>> TakeInvitation(const InitOptions& options,
                                                             InitPlan& plan) {
  std::optional<membership::Invitation> taken;
  if (options.invitation.empty()) return taken;
  auto invitation = membership::ParseInvitation(options.invitation);
  if (!invitation) return tl::unexpected(invitation.error());
  if (invitation->terms.fleet != membership::FleetTag(plan.fleet)) {
    return Fail(ErrorCode::kData, "invitation", "is not for the fleet " + plan.fleet,
                "name its fleet with --fleet, or take the join.yaml of one of its nodes");
  }
  if (plan.operator_key && *plan.operator_key != invitation->issuer) {
    return Fail(ErrorCode::kData, "invitation",
                "is signed by " + invitation->issuer.Hex() + ", and " + options.join +
                    " has the operator key " + plan.operator_key->Hex(),
                "ask the operator which is right");
  }
  if (!plan.operator_key) {
    plan.operator_key = invitation->issuer;
    plan.remarks.push_back("goes by the word of the operator " + invitation->issuer.Hex() +
                           ", who signed the invitation");
  }
  taken = std::move(*invitation);
  return taken;
}

// Adds the node's admission to what its state folder has of them.
Status KeepAdmission(const std::string& path, const membership::Invitation& invitation,
                     const InitPlan& plan, const PeerKey& node) {
  membership::Roster roster(*plan.operator_key, plan.fleet);
  const auto bytes = store::ReadFile(path, ByteCount{membership::kMaxRosterFile});
  if (!bytes && bytes.error().code != ErrorCode::kNoInput) return tl::unexpected(bytes.error());
  if (bytes) {
    (void)membership::ReadRoster({reinterpret_cast<const char*>(bytes->data()), bytes->size()},
                                 roster);
  }
  if (const auto taken = roster.Take(membership::Admit(invitation, node)); !taken) {
    return Fail(ErrorCode::kData, "invitation", std::string(Name(taken.error())),
                "ask the operator for another one");
  }
  const std::string text = membership::FormatRoster(roster);
  return store::WriteAtomically(path,
                                {reinterpret_cast<const std::byte*>(text.data()), text.size()});
}

// Where others reach a node that listens there.
Result<config::HostPort> Reached(const InitOptions& options, const config::HostPort& listen) {
  if (!options.advertise.empty()) return config::ParseHostPort(options.advertise);
  config::HostPort place = listen;
  char host[256] = {};
  const bool all = listen.host == "0.0.0.0" || listen.host == "::";
  if (all && ::gethostname(host, sizeof host - 1) == 0) place.host = host;
  return place;
}

struct InitDone {
  NodeFiles files;
  InitPlan plan;
  std::string key;
  bool reachable = false;
  bool admitted = false;
  bool invited = false;
};

std::string NextSteps(const InitDone& done, const InitOptions& options) {
  std::string text;
  if (!options.join.empty() && !done.admitted && !done.invited) {
    text += "let it in, on the machine of " + options.join +
            ", and restart the node there:\n  echo " + done.key + " >> authorized_keys\n";
  }
  text += "start it:\n  coveyd --config " + done.files.config + '\n';
  if (done.reachable) {
    text +=
        "another node joins with\n  covey init DATA --to FOLDER --join " + done.files.join + '\n';
  }
  return text;
}

void Tell(const InitDone& done, const InitOptions& options) {
  if (options.json) {
    InitJson json = {{"schema", "covey.init/1"}, {"config", done.files.config}};
    json["join"] = done.reachable ? InitJson(done.files.join) : InitJson();
    json["key"] = done.key;
    json["fleet"] = done.plan.fleet;
    json["admitted"] = done.admitted;
    json["invited"] = done.invited;
    json["remarks"] = done.plan.remarks;
    std::printf("%s\n", json.dump(-1, ' ', false, InitJson::error_handler_t::replace).c_str());
    return;
  }
  for (const std::string& remark : done.plan.remarks) std::printf("%s\n", remark.c_str());
  std::printf("wrote %s; the node's key is %s\n%s", done.files.config.c_str(), done.key.c_str(),
              NextSteps(done, options).c_str());
}

void AskForTheRest(InitOptions& options) {
  if (options.join.empty()) {
    options.join = Ask("Join a fleet? The join.yaml of one of its nodes, or nothing", "");
  }
  if (options.name.empty()) options.name = Ask("Name of this node", "");
  if (options.listen.empty()) {
    options.listen = Ask("Address to listen on", options.join.empty() ? kUsualListen : "");
  }
}

// A node that joins over loopback shares the machine, and the usual port is taken.
std::string ListenFor(const InitOptions& options, const InitPlan& plan) {
  if (!options.listen.empty()) return options.listen;
  if (options.join.empty()) return kUsualListen;
  return config::IsLoopback(plan.seeds[0].address.host) ? "127.0.0.1:0" : "0.0.0.0:7420";
}

}  // namespace

Status Init(InitOptions options) {
  const bool asks = !options.yes && !options.json && ::isatty(STDIN_FILENO) == 1;
  while (options.to.size() > 1 && options.to.back() == '/') options.to.pop_back();
  while (options.data.size() > 1 && options.data.back() == '/') options.data.pop_back();
  NodeFiles files{.folder = FullPath(options.to)};
  if (Status fits = Fits(options, files); !fits) return fits;
  if (options.data.empty()) return Fail(ErrorCode::kUsage, "init", "no data are named");
  if (asks) AskForTheRest(options);
  if (options.name.empty()) options.name = options.to.substr(options.to.rfind('/') + 1);
  options.data = FullPath(options.data);
  options.answers = FullPath(options.answers);

  config::NodeConfig usual;
  config::FillPaths(usual, config::Environment::OfProcess());
  auto plan = options.join.empty() ? PlanForData(options, usual.data.cache, asks ? Ask : nullptr)
                                   : PlanFromJoin(options);
  if (!plan) return tl::unexpected(plan.error());
  if (!options.fleet.empty()) plan->fleet = options.fleet;
  const auto invitation = TakeInvitation(options, *plan);
  if (!invitation) return tl::unexpected(invitation.error());
  const auto listen = config::ParseHostPort(ListenFor(options, *plan));
  if (!listen) return tl::unexpected(listen.error());
  const auto reached = Reached(options, *listen);
  if (!reached) return tl::unexpected(reached.error());
  Own own{.name = options.name, .listen = listen->Text(), .seeds = plan->seeds};
  if (Status good = Try(NodeFileText(*plan, own, files), files, options.join); !good) return good;

  if (Status made = store::MakeFolder(files.state); !made) return made;
  const auto keys = transport_zmq::LoadOrCreateKeys(files.state + "/identity.key");
  if (!keys) return tl::unexpected(keys.error());
  InitDone done{files, std::move(*plan), keys->public_key.Hex()};
  own.index = keys->public_key.bytes[0] + 256u * keys->public_key.bytes[1];
  struct stat info {};
  Status wrote;
  if (::stat(files.keys.c_str(), &info) != 0) {
    wrote = WriteText(files.keys, "# Public keys of nodes that may connect, one a line.\n");
  }
  if (wrote) wrote = WriteText(files.config, NodeFileText(done.plan, own, files));
  done.reachable = reached->port != 0;
  own.seeds.assign(1, {keys->public_key, *reached});
  if (wrote && done.reachable) wrote = WriteText(files.join, JoinText(done.plan, own));
  if (wrote && *invitation) {
    wrote = KeepAdmission(files.admissions, **invitation, done.plan, keys->public_key);
    done.invited = wrote.has_value();
  }
  if (!wrote) return wrote;
  if (!options.join.empty()) {
    const std::string beside = options.join.substr(0, options.join.rfind('/') + 1);
    done.admitted = Admit(beside + "authorized_keys", done.key, options.name);
  }
  Tell(done, options);
  return {};
}

}  // namespace covey
