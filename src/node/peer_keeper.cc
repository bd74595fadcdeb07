#include "node/peer_keeper.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "covey/config/address.h"

namespace covey::node {
namespace {

// Of peers that were heard in the last hour, whatever network.reconnect_most says.
constexpr Duration kPauseOfKnown = std::chrono::seconds(5);

}  // namespace

std::string AddressToTell(const config::Advertise& advertise, const std::string& endpoint) {
  if (advertise.kind == config::Advertise::Kind::kNone) return {};
  if (advertise.kind == config::Advertise::Kind::kAddress) return advertise.address.Text();
  const std::size_t colon = endpoint.rfind(':');
  constexpr std::string_view kScheme = "tcp://";
  if (!endpoint.starts_with(kScheme) || colon < kScheme.size()) return {};
  const std::string host = endpoint.substr(kScheme.size(), colon - kScheme.size());
  const bool everywhere = host == "0.0.0.0" || host == "[::]" || host == "*";
  return (everywhere ? "*" : host) + endpoint.substr(colon);
}

PeerPlan PlanOf(const config::NodeConfig& config, const setup::Identity& identity,
                const std::string& endpoint) {
  const config::NetworkSettings& network = config.network;
  PeerPlan plan;
  plan.settings.self = identity.key;
  plan.settings.own_address = AddressToTell(network.advertise, endpoint);
  plan.settings.active = std::min(network.peers.active, network.max_links);
  plan.settings.again_first = network.reconnect_first;
  plan.settings.again_known = std::min(network.reconnect_most, kPauseOfKnown);
  plan.settings.again_unknown = network.reconnect_most;
  plan.seed = identity.session.value;
  plan.seeds = network.seeds;
  plan.loopback_only = config.security.mode == config::SecuritySettings::Mode::kNone &&
                       !config.security.allow_plaintext_beyond_loopback;
  return plan;
}

PeerKeeper::PeerKeeper(PeerPlan plan, NetworkDriver& driver, learner::Links& links)
    : plan_(std::move(plan)),
      driver_(driver),
      links_(links),
      book_(plan_.settings, Stream(plan_.seed, 0, Purpose::kMembership)) {}

bool PeerKeeper::MayKeep(const std::string& address) const {
  if (!plan_.loopback_only) return true;
  const auto parsed = config::ParseHostPort(address);
  return parsed && config::IsLoopback(parsed->host);
}

void PeerKeeper::Start(Time now) {
  for (const membership::StoredPeer& peer : plan_.stored) {
    if (MayKeep(peer.address)) book_.Remember(now, peer.key, peer.address, peer.age);
  }
  for (const config::Seed& seed : plan_.seeds) {
    book_.AddSeed(now, seed.key, seed.address.Text());
  }
  due_ = now;
}

Time PeerKeeper::Tick(Time now) {
  if (now < due_) return due_;
  std::vector<membership::Action> actions;
  due_ = book_.Tick(now, now - due_, actions);
  Follow(actions);
  return due_;
}

void PeerKeeper::Up(Time now, const PeerKey& peer) {
  problems_.erase(peer);
  std::vector<membership::Action> actions;
  book_.LinkUp(now, peer, actions);
  Follow(actions);
}

void PeerKeeper::Down(Time now, const PeerKey& peer, const std::string& reason,
                      session::Parting parting) {
  using membership::State;
  const State became = parting == session::Parting::kLeft     ? State::kLeft
                       : parting == session::Parting::kClosed ? State::kAlive
                                                              : State::kSuspect;
  book_.LinkDown(now, peer, reason, became);
}

void PeerKeeper::Told(Time now, const PeerKey& by, wire::Membership what) {
  if (!MayKeep(what.own_address)) what.own_address.clear();
  std::erase_if(what.peers, [this](const auto& peer) { return !MayKeep(peer.address); });
  std::vector<membership::Action> actions;
  book_.Told(now, by, what, actions);
  Follow(actions);
}

std::map<PeerKey, std::string> PeerKeeper::Problems() const {
  std::map<PeerKey, std::string> problems = driver_.Problems();
  // A link that was refused is up for the driver.
  for (const learner::PeerInfo& info : links_.peers()) {
    if (info.key && info.state == session::State::kRefused) problems[*info.key] = info.reason;
  }
  problems.insert(problems_.begin(), problems_.end());
  return problems;
}

void PeerKeeper::HangUp(const PeerKey& peer) {
  const std::map<PeerKey, std::string> problems = Problems();
  if (const auto found = problems.find(peer); found != problems.end()) {
    if (problems_.size() >= plan_.settings.max_peers) problems_.clear();
    problems_[peer] = found->second;
  }
  links_.HangUp(peer);
  driver_.HangUp(peer);
}

void PeerKeeper::Follow(const std::vector<membership::Action>& actions) {
  for (const membership::Action& action : actions) {
    if (const auto* tell = std::get_if<membership::Tell>(&action)) {
      links_.Tell(tell->to, tell->what);
    } else if (const auto* dial = std::get_if<membership::Dial>(&action)) {
      driver_.Dial(dial->peer, dial->address);
    } else {
      HangUp(std::get<membership::HangUp>(action).peer);
    }
  }
}

}  // namespace covey::node
