#include "coveyd.h"

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "authorized_keys.h"
#include "covey/api/version.h"
#include "covey/base/check.h"
#include "covey/config/load.h"
#include "covey/config/paths.h"
#include "covey/control/daemon_questions.h"
#include "covey/control/http_server.h"
#include "covey/control/local_api.h"
#include "covey/log/log.h"
#include "covey/node/daemon.h"
#include "covey/node/process.h"
#include "covey/setup/assemble.h"
#include "covey/store/file_system.h"
#include "covey/transport_zmq/keys.h"
#include "covey/transport_zmq/zmq_transport.h"
#include "zmq_driver.h"

namespace covey {
namespace {

constexpr Duration kLongestRedial = std::chrono::seconds(5);

std::string Absolute(const std::string& path) {
  if (path.empty() || path[0] == '/') return path;
  char folder[4096];
  if (::getcwd(folder, sizeof folder) == nullptr) return path;
  return std::string(folder) + '/' + path;
}

bool UsesCurve(const config::NodeConfig& config) {
  return config.security.mode == config::SecuritySettings::Mode::kCurve;
}

SessionId DrawSession() {
  SessionId session;
  COVEY_CHECK(::getrandom(&session.value, sizeof session.value, 0) == sizeof session.value);
  return session;
}

void ConfigureLog(const config::LogSettings& from) {
  log::Settings settings;
  switch (from.level) {
    case config::LogSettings::Level::kDebug:
      settings.level = log::Level::kDebug;
      break;
    case config::LogSettings::Level::kInfo:
      settings.level = log::Level::kInfo;
      break;
    case config::LogSettings::Level::kWarning:
      settings.level = log::Level::kWarning;
      break;
    case config::LogSettings::Level::kError:
      settings.level = log::Level::kError;
      break;
  }
  const bool json = from.format == config::LogSettings::Format::kJson;
  settings.format = json ? log::Settings::Format::kJson : log::Settings::Format::kText;
  log::Configure(settings);
}

Result<transport_zmq::KeyPair> OpenKeys(const std::string& path) {
  struct stat info {};
  const bool fresh = ::stat(path.c_str(), &info) != 0;
  auto keys = transport_zmq::LoadOrCreateKeys(path);
  if (keys && fresh) {
    log::Info(log::Category::kNode,
              "made a key pair; others need the public key to let this node in",
              {{"public_key", keys->public_key.Hex()}, {"file", path}});
  }
  return keys;
}

transport_zmq::Settings TransportSettings(const config::NodeConfig& config,
                                          const transport_zmq::KeyPair& keys,
                                          const std::set<PeerKey>& known) {
  const config::NetworkSettings& network = config.network;
  transport_zmq::Settings settings;
  settings.listen = "tcp://" + network.listen.Text();
  settings.curve = UsesCurve(config);
  settings.keys = keys;
  settings.allowed.assign(known.begin(), known.end());
  if (network.door) settings.door.listen = "tcp://" + network.door->Text();
  settings.interfaces = network.interfaces;
  settings.beacon.interfaces = network.interfaces;
  settings.beacon.enabled = network.beacon;
  settings.beacon.fleet = membership::FleetTag(config.fleet.name);
  settings.credit = network.credit;
  settings.max_links = network.max_links;
  settings.handshake_timeout = network.handshake;
  settings.redial_base = network.reconnect_first;
  // Longer pauses are made by whoever decides whom to dial.
  settings.redial_known = std::min(network.reconnect_most, kLongestRedial);
  settings.redial_unknown = settings.redial_known;
  settings.linger = std::chrono::milliseconds(300);
  settings.stop_deadline = std::chrono::seconds(3);
  settings.notice = [](const std::string& text) {
    log::WriteLimited(log::Level::kWarning, log::Category::kNetwork, text, text);
  };
  return settings;
}

// A node that can never meet anybody is a mistake, unless it is said.
Status CheckCompany(const config::NodeConfig& config, const node::Daemon& daemon) {
  const config::SecuritySettings& security = config.security;
  const bool somebody = daemon.has_members() || config.network.door || config.network.beacon ||
                        !config.network.seeds.empty() || !security.authorized_keys.empty() ||
                        !security.authorized_keys_file.empty();
  if (!UsesCurve(config) || config.network.alone || somebody) return {};
  return Fail(
      ErrorCode::kConfig, "network.seeds",
      "no peer to dial and no key that may connect: this node would train alone for ever",
      "write `network: {seeds: [{key: ..., address: HOST:PORT}]}` for a peer, or its key in "
      "`security: {authorized_keys: [...]}` when it dials; start it with --join INVITATION; "
      "`network: {alone: true}` when that is meant");
}

// One word of the ready line: a name may hold anything.
std::string Word(std::string text) {
  for (char& c : text) {
    if (c <= ' ' || c == 0x7F) c = '_';
  }
  return text;
}

void PrintReady(const std::string& name, const PeerKey& key, const std::string& listen,
                const std::string& api) {
  std::printf("coveyd ready name=%s key=%s listen=%s api=%s pid=%d\n", Word(name).c_str(),
              key.Hex().c_str(), listen.c_str(), api.c_str(), static_cast<int>(::getpid()));
  std::fflush(stdout);
}

}  // namespace

Result<config::Loaded<config::NodeConfig>> LoadConfig(const Options& options) {
  auto loaded = config::LoadNode(options.config);
  if (!loaded) return loaded;
  for (const std::string& warning : loaded->warnings) std::fprintf(stderr, "%s\n", warning.c_str());
  config::NodeConfig& config = loaded->value;
  config::FillPaths(config, config::Environment::OfProcess());
  config.node.state_dir = Absolute(config.node.state_dir);
  config.api.listen = Absolute(config.api.listen);
  return loaded;
}

Status Check(const Options& options, const config::NodeConfig& config) {
  if (auto known = KnownKeys(config); !known) return tl::unexpected(known.error());
  const auto assembly = setup::Assemble(config, {});
  if (!assembly) return tl::unexpected(assembly.error());
  const setup::NodeData& data = assembly->data;
  std::printf("%s is good: %s, %zu samples to train on, %zu to validate, %zu to test\n",
              options.config.c_str(), assembly->links.session.model_summary.c_str(),
              data.shard.size(), data.validation.size(), data.test ? data.test->size() : 0);
  return {};
}

Status Init(const config::NodeConfig& config) {
  ConfigureLog(config.log);
  const auto lock = store::StateLock::Take(config.node.state_dir);
  if (!lock) return tl::unexpected(lock.error());
  const auto keys = OpenKeys(config.security.key_file);
  if (!keys) return tl::unexpected(keys.error());
  std::printf("key=%s\n", keys->public_key.Hex().c_str());
  return {};
}

Status RunNode(const Options& options, const config::NodeConfig& config, node::Signals& signals) {
  const api::BuildInfo build = api::GetBuildInfo();
  ConfigureLog(config.log);
  log::Info(log::Category::kNode, api::VersionLine("coveyd"), {{"config", options.config}});
  node::RaiseFileLimit(4 * std::uint64_t{config.network.max_links} + 512);

  const auto lock = store::StateLock::Take(config.node.state_dir);
  if (!lock) return tl::unexpected(lock.error());
  const auto keys = OpenKeys(config.security.key_file);
  if (!keys) return tl::unexpected(keys.error());
  const auto known = KnownKeys(config);
  if (!known) return tl::unexpected(known.error());

  node::DaemonSettings settings;
  settings.config = config;
  settings.identity = {keys->public_key, DrawSession(), UsesCurve(config)};
  settings.software = "covey " + build.version;
  settings.start_paused = options.paused || config.node.start_paused;
  // Without CURVE a key is only what a peer says; a list still keeps strangers' mistakes out.
  const bool listed =
      !config.security.authorized_keys.empty() || !config.security.authorized_keys_file.empty();
  if (!UsesCurve(config) && listed) settings.allowed = *known;
  if (UsesCurve(config) || listed) settings.members = *known;
  if (!options.join.empty()) {
    auto invitation = membership::ParseInvitation(options.join);
    if (!invitation) return tl::unexpected(invitation.error());
    settings.invitation = std::move(*invitation);
  }
  auto daemon = node::Daemon::Open(std::move(settings));
  if (!daemon) return tl::unexpected(daemon.error());
  if (Status company = CheckCompany(config, **daemon); !company) return company;

  auto opened_network = ZmqDriver::Open(TransportSettings(config, *keys, *known));
  if (!opened_network) return tl::unexpected(opened_network.error());
  ZmqDriver& driver = **opened_network;
  const std::string name = config.node.name.empty() ? keys->public_key.Short() : config.node.name;
  auto local =
      control::LocalApi::Open(config.api.listen, {name, keys->public_key.Hex(), config.fleet.name});
  if (!local) return tl::unexpected(local.error());

  std::unique_ptr<control::HttpServer> web;
  if (config.http.enabled) {
    auto opened = control::HttpServer::Open(config.http.listen);
    if (!opened) return tl::unexpected(opened.error());
    web = std::move(*opened);
  }

  (*daemon)->Start(driver, **local);
  (*local)->Serve(**daemon);
  control::DaemonQuestions questions(**daemon);
  if (web) {
    web->Serve(questions);
    log::Info(log::Category::kNode, "serves HTTP", {{"address", web->endpoint()}});
  }
  log::Info(
      log::Category::kNode, "ready",
      {{"listen", driver.endpoint()}, {"door", driver.door()}, {"api", (*local)->endpoint()}});
  PrintReady(name, keys->public_key, driver.endpoint(), (*local)->endpoint());

  const Status ended = (*daemon)->Run(signals);
  if (web) web->Stop();
  (*local)->Stop();
  if (ended) log::Info(log::Category::kNode, "stopped");
  return ended;
}

}  // namespace covey
