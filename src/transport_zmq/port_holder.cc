#include "covey/transport_zmq/port_holder.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <vector>

namespace covey::transport_zmq {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kListening = "0A";  // TCP_LISTEN in /proc/net/tcp

// Returns: what /proc calls the sockets that listen there, "socket:[12345]".
std::vector<std::string> ListeningSockets(std::uint16_t port) {
  std::vector<std::string> sockets;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(table);
    std::string line;
    std::getline(file, line);  // names of the columns
    while (std::getline(file, line)) {
      std::istringstream columns(line);
      std::string number, local, remote, state, queues, timer, retries, user, probes, inode;
      columns >> number >> local >> remote >> state >> queues >> timer >> retries >> user >>
          probes >> inode;
      const std::size_t colon = local.rfind(':');
      if (state != kListening || colon == std::string::npos) continue;
      if (std::strtoul(local.c_str() + colon + 1, nullptr, 16) != port) continue;
      sockets.push_back("socket:[" + inode + "]");
    }
  }
  return sockets;
}

bool HasOneOf(const fs::path& process, const std::vector<std::string>& sockets) {
  std::error_code error;
  for (fs::directory_iterator at(process / "fd", error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;
    const std::string target = fs::read_symlink(at->path(), gone).string();
    if (!gone && std::find(sockets.begin(), sockets.end(), target) != sockets.end()) return true;
  }
  return false;
}

}  // namespace

std::string PortHolder(std::uint16_t port) {
  const std::vector<std::string> sockets = ListeningSockets(port);
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !sockets.empty() && !error && at != end;
       at.increment(error)) {
    const std::string pid = at->path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    if (!HasOneOf(at->path(), sockets)) continue;
    std::string name;
    std::ifstream file(at->path() / "comm");
    std::getline(file, name);
    return name + " (pid " + pid + ") listens there";
  }
  return "another process listens there";
}

}  // namespace covey::transport_zmq
