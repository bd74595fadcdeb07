#include "ping.h"

#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "covey/base/time.h"

namespace covey {
namespace {

using PingObject = nlohmann::ordered_json;

constexpr int kPingLookMs = 10;
constexpr int kLooks = 200;  // two seconds, then it is lost
constexpr std::uint32_t kMostPings = 1000;

Result<api::Member> FindMember(const api::NodeStatus& status, const std::string& wanted) {
  std::vector<api::Member> found;
  for (const api::Member& member : status.members) {
    if (member.key.starts_with(wanted) || member.address == wanted) found.push_back(member);
  }
  if (found.size() == 1) return found[0];
  return Fail(ErrorCode::kUsage, wanted,
              found.empty() ? "no peer that is known has such a key or address"
                            : std::to_string(found.size()) + " peers are meant",
              "`covey peers` lists them");
}

std::string Milliseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f ms", seconds * 1e3);
  return text;
}

// Returns: the round trip, or nothing when it was lost.
Result<std::optional<double>> PingOnce(api::Client& client, const std::string& key) {
  const auto before = client.GetStatus();
  if (!before) return tl::unexpected(before.error());
  const auto member = FindMember(*before, key);
  if (!member) return tl::unexpected(member.error());
  if (const auto sent = client.Ping(key); !sent) return tl::unexpected(sent.error());
  for (int i = 0; i < kLooks; ++i) {
    ::poll(nullptr, 0, kPingLookMs);
    const auto status = client.GetStatus();
    if (!status) return tl::unexpected(status.error());
    const auto now = FindMember(*status, key);
    if (now && now->pongs > member->pongs && now->rtt_seconds) return *now->rtt_seconds;
  }
  return std::optional<double>();
}

Status NoLink(const api::Member& member) {
  std::string why = member.problem.empty() ? member.reason : member.problem;
  if (why.empty()) why = "it is " + member.state;
  return Fail(ErrorCode::kUnavailable, "peer " + member.key.substr(0, 8),
              "there is no link to it: " + why, "`covey doctor` looks further");
}

std::string PingSummary(const std::vector<double>& answered, std::uint32_t count) {
  std::string text = std::to_string(count) + " sent, " + std::to_string(answered.size()) +
                     " answered, " + std::to_string(100 - 100 * answered.size() / count) + "% lost";
  if (answered.empty()) return text;
  double sum = 0;
  for (const double one : answered) sum += one;
  const auto [least, most] = std::minmax_element(answered.begin(), answered.end());
  return text + ", round trip " + Milliseconds(*least) + " to " + Milliseconds(*most) + ", mean " +
         Milliseconds(sum / static_cast<double>(answered.size()));
}

}  // namespace

Status Ping(api::Client& client, const PingOptions& options) {
  if (options.count < 1 || options.count > kMostPings) {
    return Fail(ErrorCode::kUsage, "--count", "got " + std::to_string(options.count),
                "wanted 1 to " + std::to_string(kMostPings));
  }
  const auto status = client.GetStatus();
  if (!status) return tl::unexpected(status.error());
  const auto member = FindMember(*status, options.peer);
  if (!member) return tl::unexpected(member.error());
  if (!member->linked) return NoLink(*member);
  std::vector<double> answered;
  for (std::uint32_t i = 0; i < options.count; ++i) {
    const auto one = PingOnce(client, member->key);
    if (!one) return tl::unexpected(one.error());
    if (*one) answered.push_back(**one);
    if (options.json) continue;
    std::printf("%s  %s\n", member->key.substr(0, 8).c_str(),
                *one ? Milliseconds(**one).c_str() : "lost");
    std::fflush(stdout);
  }
  if (options.json) {
    const PingObject json = {{"schema", "covey.ping/1"},       {"peer", member->key},
                             {"address", member->address},     {"software", member->software},
                             {"sent", options.count},          {"answered", answered.size()},
                             {"round_trips_seconds", answered}};
    std::printf("%s\n", json.dump().c_str());
  } else {
    std::printf("%s\n", PingSummary(answered, options.count).c_str());
  }
  if (!answered.empty()) return {};
  return Fail(ErrorCode::kUnavailable, "peer " + member->key.substr(0, 8), "answered nothing");
}

}  // namespace covey
