#include "doctor.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "covey/transport_zmq/keys.h"
#include "covey/transport_zmq/zmq_transport.h"

namespace covey {
namespace {

constexpr int kConnectMs = 3000;
constexpr auto kOnePoll = std::chrono::milliseconds(100);
constexpr int kPolls = 80;  // eight seconds, when nothing happens

class Diagnosis {
 public:
  void Good(std::string what, std::string text) {
    all.push_back({std::move(what), Finding::Kind::kGood, std::move(text), {}, {}});
  }
  void Warn(std::string what, std::string text, std::string remedy) {
    all.push_back(
        {std::move(what), Finding::Kind::kWarning, std::move(text), {}, std::move(remedy)});
  }
  void Bad(std::string what, std::string text, std::string remedy) {
    all.push_back({std::move(what), Finding::Kind::kError, std::move(text), ErrorCode::kUnavailable,
                   std::move(remedy)});
  }

  std::vector<Finding> all;
};

void LookAtInterfaces(Diagnosis& report) {
  ifaddrs* first = nullptr;
  std::string names;
  if (::getifaddrs(&first) == 0) {
    for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
      if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0) continue;
      if ((one->ifa_flags & IFF_LOOPBACK) != 0) continue;
      const int family = one->ifa_addr->sa_family;
      if (family != AF_INET && family != AF_INET6) continue;
      char host[NI_MAXHOST] = {};
      const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
      if (::getnameinfo(one->ifa_addr, size, host, sizeof host, nullptr, 0, NI_NUMERICHOST) != 0) {
        continue;
      }
      names += (names.empty() ? "" : ", ") + std::string(one->ifa_name) + " " + host;
    }
    ::freeifaddrs(first);
  }
  if (!names.empty()) return report.Good("interfaces", names);
  report.Warn("interfaces", "only loopback has an address",
              "connect this machine to a network; peers on this machine can be reached as it is");
}

void LookAtListening(const config::NodeConfig& config, const api::NodeStatus* status,
                     Diagnosis& report) {
  const config::HostPort& listen = config.network.listen;
  const std::string where =
      status != nullptr && !status->endpoints.empty() ? status->endpoints[0] : listen.Text();
  bool beyond = false;
  for (const config::Seed& seed : config.network.seeds) {
    beyond |= !config::IsLoopback(seed.address.host);
  }
  if (config::IsLoopback(listen.host) && beyond) {
    return report.Warn("listen", where + ": nobody beyond this machine can dial this node",
                       "set network.listen: 0.0.0.0:7420, or leave it when the node shall only "
                       "dial out");
  }
  report.Good("listen", where);
}

// Returns: why there is no connection; empty: there is one.
std::string TryTcp(const addrinfo& to) {
  const int socket =
      ::socket(to.ai_family, to.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, to.ai_protocol);
  if (socket < 0) return std::strerror(errno);
  int error = ::connect(socket, to.ai_addr, to.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd item{socket, POLLOUT, 0};
    socklen_t size = sizeof error;
    error = ETIMEDOUT;
    if (::poll(&item, 1, kConnectMs) == 1) {
      ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
    }
  }
  ::close(socket);
  return error == 0 ? "" : std::strerror(error);
}

// Returns: whether a TCP connection comes about.
bool LookAtAddress(const std::string& what, const config::HostPort& place, Diagnosis& report) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  const int found =
      ::getaddrinfo(place.host.c_str(), std::to_string(place.port).c_str(), &wanted, &first);
  if (found != 0) {
    report.Bad(what + ".name", place.host + ": " + ::gai_strerror(found),
               "write its address as a number, or repair the name service of this machine");
    return false;
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(first, &::freeaddrinfo);
  std::string problem;
  for (const addrinfo* one = first; one != nullptr; one = one->ai_next) {
    problem = TryTcp(*one);
    if (!problem.empty()) continue;
    report.Good(what + ".tcp", place.Text() + " accepts connections");
    return true;
  }
  report.Bad(what + ".tcp", place.Text() + ": " + problem,
             "start the node there, check the port, and let it through firewalls");
  return false;
}

struct Watcher final : transport::Sink {
  void OnLinkUp(const transport::LinkInfo&) override { up = true; }
  void OnLinkDown(transport::LinkId, const std::string&) override {}
  void OnFrame(transport::LinkId, ByteView) override {}
  bool up = false;
};

// What to do about what a peer, or the transport, said.
std::string RemedyFor(const std::string& problem, const std::string& own_key) {
  const auto says = [&problem](const char* words) {
    return problem.find(words) != std::string::npos;
  };
  if (says("refused our key") || says("allow-list")) {
    return "have its owner add this node's key to security.authorized_keys: " + own_key;
  }
  if (says("wrong server key")) {
    return "compare the key in network.seeds with the one it prints when it starts";
  }
  if (says("CURVE")) return "set the same security.mode on both";
  if (says("fleet")) return "set the same fleet.name on both";
  if (says("protocol")) return "update the older of the two";
  if (says("normalisation") || says("labels")) return "set the same data section on both";
  if (says("against")) return "set the same model section on both";
  return "look into the logs of both nodes";
}

// Without a daemon nobody else uses the node's key.
void ShakeHands(const std::string& what, const config::NodeConfig& config, const config::Seed& seed,
                Diagnosis& report) {
  struct stat info {};
  const bool curve = config.security.mode == config::SecuritySettings::Mode::kCurve;
  if (curve && ::stat(config.security.key_file.c_str(), &info) != 0) {
    return report.Warn(what + ".handshake", "this node has no key yet", "start it once");
  }
  transport_zmq::Settings settings;
  settings.listen.clear();
  settings.curve = curve;
  if (curve) {
    auto keys = transport_zmq::LoadOrCreateKeys(config.security.key_file);
    if (!keys) return report.Bad(what + ".handshake", keys.error().Format(), "");
    settings.keys = *keys;
  }
  settings.allowed = {seed.key};
  settings.dial = {{seed.key, "tcp://" + seed.address.Text()}};
  auto transport = transport_zmq::ZmqTransport::Open(settings);
  if (!transport) return report.Bad(what + ".handshake", transport.error().Format(), "");
  Watcher watcher;
  std::string problem = "no answer";
  for (int i = 0; i < kPolls && !watcher.up; ++i) {
    (*transport)->Poll(watcher, kOnePoll);
    const auto dials = (*transport)->dials();
    if (dials[0].problem.empty()) continue;
    problem = dials[0].problem;
    break;
  }
  if (!watcher.up) {
    return report.Bad(what + ".handshake", problem,
                      RemedyFor(problem, settings.keys.public_key.Hex()));
  }
  report.Good(what + ".handshake", curve ? "both keys are right" : "it speaks ZeroMQ");
}

// What the running daemon knows about a seed.
void LookAtLink(const std::string& what, const config::Seed& seed, const api::NodeStatus& status,
                Diagnosis& report) {
  for (const api::Member& member : status.members) {
    if (member.key != seed.key.Hex()) continue;
    if (member.linked) {
      std::string text = "linked, " + member.software;
      if (member.rtt_seconds) {
        char trip[48];
        std::snprintf(trip, sizeof trip, ", round trip %.2f ms", *member.rtt_seconds * 1e3);
        text += trip;
      }
      if (member.pings > 0) {
        text += ", " + std::to_string(member.pongs) + " of " + std::to_string(member.pings) +
                " pings answered";
      }
      return report.Good(what + ".link", text);
    }
    const std::string why = member.problem.empty() ? member.reason : member.problem;
    return report.Bad(what + ".link",
                      "no link, it is " + member.state + (why.empty() ? "" : ": " + why),
                      RemedyFor(why, status.key));
  }
  report.Bad(what + ".link", "the daemon does not know it", "restart it: its file has changed");
}

}  // namespace

std::vector<Finding> Diagnose(const config::NodeConfig& config, api::Client* daemon) {
  Diagnosis report;
  std::optional<api::NodeStatus> status;
  if (daemon != nullptr) {
    if (auto got = daemon->GetStatus()) status = std::move(*got);
  }
  if (status) {
    report.Good("daemon",
                status->name + " runs, covey " + status->version + ", key " + status->key);
  } else {
    report.Warn("daemon", "it does not run", "start it to see what the nodes say to each other");
  }
  LookAtInterfaces(report);
  LookAtListening(config, status ? &*status : nullptr, report);
  const auto& door = config.network.door;
  if (status && door && door->port != 0) LookAtAddress("door", *door, report);
  if (config.network.seeds.empty() && !config.network.alone) {
    report.Warn("seeds", "none: this node waits until another one dials it",
                "write one peer into network.seeds, unless this node is the one that others dial");
  }
  for (std::size_t i = 0; i < config.network.seeds.size(); ++i) {
    const config::Seed& seed = config.network.seeds[i];
    if (status && status->key == seed.key.Hex()) continue;  // a list that the whole fleet shares
    const std::string what = "seeds[" + std::to_string(i) + "]";
    const bool reachable = LookAtAddress(what, seed.address, report);
    if (status) {
      LookAtLink(what, seed, *status, report);
    } else if (reachable) {
      ShakeHands(what, config, seed, report);
    }
  }
  return std::move(report.all);
}

}  // namespace covey
