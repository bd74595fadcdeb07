#include "peers.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <poll.h>

#include "covey/base/time.h"

namespace covey {
namespace {

using PeersObject = nlohmann::ordered_json;

constexpr int kLookEveryMs = 500;

std::string Whom(const api::Member& member) { return member.key.substr(0, 8); }

std::string HowLong(double seconds) {
  return FormatDuration(std::chrono::floor<std::chrono::seconds>(FromSeconds(seconds)));
}

// What there is to say beside the state: why it is not reached, or what became of it.
std::string Why(const api::Member& member) {
  if (member.linked) return {};
  return member.problem.empty() ? member.reason : member.problem;
}

std::string Padded(std::string text, std::size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

std::string StateOf(const api::Member& member) {
  return member.state == "alive" && !member.linked ? "alive, no link" : member.state;
}

// Keeps what is compared from one look to the next.
std::map<std::string, std::string> StatesOf(const api::NodeStatus& status) {
  std::map<std::string, std::string> states;
  for (const api::Member& member : status.members) states[member.key] = StateOf(member);
  return states;
}

}  // namespace

std::string PeersText(const api::NodeStatus& status) {
  std::size_t width = 0;
  for (const api::Member& member : status.members) width = std::max(width, member.address.size());
  std::string text;
  for (const api::Member& member : status.members) {
    std::string line = Whom(member) + "  " + Padded(StateOf(member), 14) + "  " +
                       Padded("for " + HowLong(member.since_seconds), 12) + "  " +
                       Padded(member.address.empty() ? "-" : member.address, width);
    if (member.rtt_seconds) {
      line += "  rtt " + FormatDuration(std::chrono::floor<std::chrono::microseconds>(
                             FromSeconds(*member.rtt_seconds)));
    }
    if (const std::string why = Why(member); !why.empty()) line += "  " + why;
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text.empty() ? "nobody is known yet\n" : text;
}

std::string PeersJson(const api::NodeStatus& status) {
  PeersObject json = {{"schema", "covey.peers/1"}, {"name", status.name}, {"key", status.key}};
  json["peers"] = PeersObject::array();
  for (const api::Member& member : status.members) {
    PeersObject one = {{"key", member.key},        {"address", member.address},
                       {"state", member.state},    {"since_seconds", member.since_seconds},
                       {"reason", member.reason},  {"linked", member.linked},
                       {"dialled", member.dialled}};
    if (member.heard_seconds) one["heard_seconds"] = *member.heard_seconds;
    if (!member.problem.empty()) one["problem"] = member.problem;
    if (!member.software.empty()) one["software"] = member.software;
    if (member.rtt_seconds) one["rtt_seconds"] = *member.rtt_seconds;
    json["peers"].push_back(std::move(one));
  }
  return json.dump(-1, ' ', false, PeersObject::error_handler_t::replace) + '\n';
}

Status WatchPeers(api::Client& client, bool json) {
  std::map<std::string, std::string> before;
  for (bool first = true;; first = false) {
    const auto status = client.GetStatus();
    if (!status) return first ? Status(tl::unexpected(status.error())) : Status();
    const std::map<std::string, std::string> states = StatesOf(*status);
    if (json) {
      if (first || states != before) std::fputs(PeersJson(*status).c_str(), stdout);
    } else if (first) {
      std::fputs(PeersText(*status).c_str(), stdout);
    } else {
      for (const api::Member& member : status->members) {
        const auto old = before.find(member.key);
        if (old != before.end() && old->second == StateOf(member)) continue;
        std::printf("%s  %s -> %s%s%s\n", Whom(member).c_str(),
                    old == before.end() ? "new" : old->second.c_str(), StateOf(member).c_str(),
                    Why(member).empty() ? "" : "  ", Why(member).c_str());
      }
    }
    if (std::fflush(stdout) != 0) return Fail(ErrorCode::kIo, "stdout", "can't be written");
    before = states;
    ::poll(nullptr, 0, kLookEveryMs);
  }
}

}  // namespace covey
