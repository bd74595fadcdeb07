#include "check.h"

#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "covey/config/load.h"
#include "covey/config/paths.h"
#include "covey/nn/model.h"
#include "covey/setup/assemble.h"
#include "covey/store/file_system.h"
#include "covey/transport_zmq/port_holder.h"

namespace covey {
namespace {

using CheckJson = nlohmann::ordered_json;

class Findings {
 public:
  void Good(std::string what, std::string text) {
    all.push_back({std::move(what), Finding::Kind::kGood, std::move(text), {}, {}});
  }
  void Warn(std::string what, std::string text) {
    all.push_back({std::move(what), Finding::Kind::kWarning, std::move(text), {}, {}});
  }
  void Bad(std::string what, const Error& error) {
    all.push_back({std::move(what), Finding::Kind::kError, error.Format(), error.code, {}});
  }

  std::vector<Finding> all;
};

// Addresses of a name. Owns them.
class Addresses {
 public:
  Addresses(const config::HostPort& place, bool to_listen) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = to_listen ? AI_PASSIVE : 0;
    const std::string port = std::to_string(place.port);
    error_ = ::getaddrinfo(place.host.c_str(), port.c_str(), &wanted, &first_);
  }
  ~Addresses() {
    if (first_ != nullptr) ::freeaddrinfo(first_);
  }
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;

  const addrinfo* first() const { return first_; }
  std::string problem() const { return error_ == 0 ? "" : ::gai_strerror(error_); }

 private:
  addrinfo* first_ = nullptr;
  int error_ = 0;
};

void CheckListen(const std::string& what, const config::HostPort& place, Findings& findings) {
  const Addresses addresses(place, true);
  if (!addresses.problem().empty()) {
    return findings.Bad(what, {ErrorCode::kConfig, place.Text(), addresses.problem(), {}});
  }
  const addrinfo& to = *addresses.first();
  const int socket = ::socket(to.ai_family, to.ai_socktype, to.ai_protocol);
  const int on = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const bool bound = ::bind(socket, to.ai_addr, to.ai_addrlen) == 0;
  const int error = errno;
  ::close(socket);
  if (bound) return findings.Good(what, place.Text() + " is free");
  findings.Bad(
      what,
      {ErrorCode::kCantCreate, place.Text(), std::strerror(error),
       error == EADDRINUSE ? transport_zmq::PortHolder(place.port) + ": is it this node?" : ""});
}

void CheckInterfaces(const std::vector<std::string>& interfaces, Findings& findings) {
  for (const std::string& name : interfaces) {
    if (::if_nametoindex(name.c_str()) != 0) {
      findings.Good("network.interfaces", name + " is there");
    } else {
      findings.Warn("network.interfaces",
                    "'" + name + "' is not there: nobody gets in by it until it comes");
    }
  }
}

void CheckSeeds(const config::NetworkSettings& network, Findings& findings) {
  if (network.seeds.empty()) {
    return network.alone
               ? findings.Good("network.seeds", "none, and it is meant to be alone")
               : findings.Warn("network.seeds", "none: this node waits until another one dials it");
  }
  for (std::size_t i = 0; i < network.seeds.size(); ++i) {
    const config::HostPort& place = network.seeds[i].address;
    const std::string what = "network.seeds[" + std::to_string(i) + "]";
    const Addresses addresses(place, false);
    if (addresses.problem().empty()) {
      findings.Good(what, place.Text() + " resolves");
    } else {
      findings.Warn(what, place.Text() + ": " + addresses.problem() + "; it is dialled for ever");
    }
  }
}

// The nearest folder above that exists already.
std::string Existing(std::string path) {
  struct stat info {};
  while (::stat(path.c_str(), &info) != 0) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    path = slash == 0 ? "/" : path.substr(0, slash);
  }
  return path;
}

void CheckState(const config::NodeConfig& config, std::uint64_t parameters, Findings& findings) {
  const std::string& folder = config.node.state_dir;
  const std::string existing = Existing(folder);
  if (::access(existing.c_str(), W_OK | X_OK) != 0) {
    return findings.Bad("node.state_dir", {ErrorCode::kNoPermission, existing, std::strerror(errno),
                                           "make it writable, or choose "
                                           "another node.state_dir"});
  }
  findings.Good("node.state_dir", folder);
  // Checkpoints hold x, the best x and the optimizer's state; two models are published.
  constexpr std::uint64_t kCopies = 24;
  const std::uint64_t wanted = kCopies * sizeof(float) * parameters + (1 << 20);
  const std::uint64_t free = store::RealFileSystem().Free(existing.c_str());
  const std::string text = FormatByteCount({free}) + " free, about " + FormatByteCount({wanted}) +
                           " needed for checkpoints and models";
  if (free < wanted) {
    findings.Bad("disk", {ErrorCode::kIo, folder, text, {}});
  } else {
    findings.Good("disk", text);
  }
}

void CheckKey(const std::string& path, Findings& findings) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    return findings.Good("security.key_file", path + " is made on the first start");
  }
  if ((info.st_mode & 077) != 0) {
    return findings.Bad("security.key_file", {ErrorCode::kNoPermission, path, "others may read it",
                                              "chmod 600 " + path});
  }
  findings.Good("security.key_file", path);
}

void CheckAuthorized(const std::string& path, Findings& findings) {
  constexpr const char* kKey = "security.authorized_keys_file";
  if (path.empty()) return;
  if (::access(path.c_str(), R_OK) == 0) return findings.Good(kKey, path);
  const ErrorCode code = errno == EACCES ? ErrorCode::kNoPermission : ErrorCode::kNoInput;
  findings.Bad(kKey, {code, path, std::string("can't be read: ") + std::strerror(errno),
                      "an empty file is enough as long as nobody else is to connect"});
}

void CheckData(const config::NodeConfig& config, Findings& findings) {
  const auto assembly = setup::Assemble(config, {});
  if (!assembly) return findings.Bad("data", assembly.error());
  const setup::NodeData& data = assembly->data;
  findings.Good("data", std::to_string(data.shard.size()) + " samples to train on, " +
                            std::to_string(data.validation.size()) + " to validate, " +
                            std::to_string(data.test ? data.test->size() : 0) + " to test");
  if (data.validation.empty()) {
    findings.Warn("data.validation",
                  "no samples are held out: the newest model is published, not the best");
  }
  if (!data.train.has_labels()) return;
  std::vector<bool> seen(data.train.classes());
  for (const std::uint32_t row : data.shard) seen[data.train.label(row)] = true;
  std::size_t classes = 0;
  for (const bool one : seen) classes += one ? 1 : 0;
  if (classes < seen.size()) {
    findings.Warn("data.classes", "this node's samples have " + std::to_string(classes) + " of " +
                                      std::to_string(seen.size()) +
                                      " classes; it learns the others from its peers alone");
  }
}

const char* Mark(Finding::Kind kind) {
  return kind == Finding::Kind::kGood      ? "ok"
         : kind == Finding::Kind::kWarning ? "warning"
                                           : "error";
}

}  // namespace

std::vector<Finding> CheckNode(const std::string& path) {
  Findings findings;
  auto loaded = config::LoadNode(path);
  if (!loaded) {
    findings.Bad("configuration", loaded.error());
    return findings.all;
  }
  config::NodeConfig& config = loaded->value;
  config::FillPaths(config, config::Environment::OfProcess());
  for (const std::string& warning : loaded->warnings) findings.Warn("configuration", warning);
  const std::size_t parameters = nn::LayoutOf(config.model).size();
  findings.Good("configuration", path + ": " + nn::Summary(config.model) + ", " +
                                     std::to_string(parameters) + " parameters");
  CheckData(config, findings);
  CheckListen("network.listen", config.network.listen, findings);
  CheckInterfaces(config.network.interfaces, findings);
  if (config.network.door) CheckListen("network.door", *config.network.door, findings);
  if (config.http.enabled) CheckListen("http.listen", config.http.listen, findings);
  CheckSeeds(config.network, findings);
  CheckKey(config.security.key_file, findings);
  CheckAuthorized(config.security.authorized_keys_file, findings);
  CheckState(config, parameters, findings);
  return std::move(findings.all);
}

std::string FindingsText(const std::vector<Finding>& findings) {
  std::string text;
  std::size_t errors = 0, warnings = 0;
  for (const Finding& one : findings) {
    errors += one.kind == Finding::Kind::kError ? 1 : 0;
    warnings += one.kind == Finding::Kind::kWarning ? 1 : 0;
    std::string mark = Mark(one.kind);
    mark.resize(9, ' ');
    text += mark + one.what + ": " + one.text + '\n';
    if (!one.remedy.empty()) text += std::string(mark.size(), ' ') + one.remedy + '\n';
  }
  return text + std::to_string(errors) + (errors == 1 ? " error, " : " errors, ") +
         std::to_string(warnings) + (warnings == 1 ? " warning\n" : " warnings\n");
}

std::string FindingsJson(const std::vector<Finding>& findings, const char* schema) {
  CheckJson json;
  json["schema"] = schema;
  json["good"] = ExitCodeOf(findings) == 0;
  json["findings"] = CheckJson::array();
  for (const Finding& one : findings) {
    CheckJson put{{"what", one.what}, {"result", Mark(one.kind)}, {"text", one.text}};
    if (!one.remedy.empty()) put["remedy"] = one.remedy;
    if (one.kind == Finding::Kind::kError) put["code"] = static_cast<int>(one.code);
    json["findings"].push_back(std::move(put));
  }
  return json.dump(2, ' ', false, CheckJson::error_handler_t::replace) + '\n';
}

int ExitCodeOf(const std::vector<Finding>& findings) {
  for (const Finding& one : findings) {
    if (one.kind == Finding::Kind::kError) return static_cast<int>(one.code);
  }
  return 0;
}

}  // namespace covey
