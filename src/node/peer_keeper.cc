#include "node/peer_keeper.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "covey/config/address.h"
#include "node/clock.h"

namespace covey::node {
namespace {

// Of peers that were heard in the last hour, whatever network.reconnect_most says.
constexpr Duration kPauseOfKnown = std::chrono::seconds(5);
// How long a node looks for the peers that it knows before it knocks at a door again.
constexpr Duration kBeforeKnocking = std::chrono::seconds(2);

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
      book_(plan_.settings, Stream(plan_.seed, 0, Purpose::kMembership)),
      knock_pause_(plan_.settings.again_first) {
  if (plan_.admissions) admissions_.emplace(std::move(*plan_.admissions), plan_.settings.self);
}

bool PeerKeeper::MayKeep(const std::string& address) const {
  if (!plan_.loopback_only) return true;
  const auto parsed = config::ParseHostPort(address);
  return parsed && config::IsLoopback(parsed->host);
}

void PeerKeeper::Start(Time now) {
  driver_.HearBeacons([this](const PeerKey& key, const std::string& address) {
    if (MayKeep(address)) book_.Remember(now_, key, address, std::nullopt);
  });
  if (admissions_) {
    driver_.AnswerKnocks([this](const PeerKey& key, const std::string&, ByteView frame) {
      return AnswerKnock(key, frame);
    });
    Allow(now);
  }
  for (const membership::StoredPeer& peer : plan_.stored) {
    if (MayKeep(peer.address)) book_.Remember(now, peer.key, peer.address, peer.age);
  }
  for (const config::Seed& seed : plan_.seeds) {
    book_.AddSeed(now, seed.key, seed.address.Text());
  }
  // Whoever knows somebody tries that first.
  knock_due_ = book_.peers().empty() ? now : now + kBeforeKnocking;
  due_ = now;
}

Time PeerKeeper::Tick(Time now) {
  now_ = now;
  if (now >= due_) {
    std::vector<membership::Action> actions;
    due_ = book_.Tick(now, now - due_, actions);
    Follow(actions);
    KnockWhenAlone(now);
  }
  if (!admissions_) return due_;
  for (auto& [to, what] : admissions_->Tellings(now)) {
    Follow({membership::Tell{to, std::move(what)}});
  }
  return std::min(due_, admissions_->due());
}

// --- By the operator's word ---

// The transport and the book go by one set of keys.
void PeerKeeper::Allow(Time now) {
  const std::set<PeerKey> keys = admissions_->allowed();
  driver_.SetAllowed(keys);
  std::vector<membership::Action> actions;
  book_.Allow(now, keys, actions);
  Follow(actions);
}

std::string PeerKeeper::AnswerKnock(const PeerKey& key, ByteView frame) {
  bool changed = false;
  std::string answer =
      admissions_->AnswerAtDoor(key, frame, plan_.settings.own_address, UnixSeconds(), &changed);
  if (changed) Allow(now_);
  return answer;
}

void PeerKeeper::TakeRecord(Time now, membership::RecordBytes record) {
  if (admissions_ && admissions_->Take({std::move(record)}, std::nullopt)) Allow(now);
}

void PeerKeeper::DoorOpened(Time now, const PeerKey& owner, const std::string& address) {
  knock_pause_ = plan_.settings.again_known;
  if (!address.empty() && MayKeep(address)) {
    book_.Remember(now, owner, address, Duration::zero());
    due_ = std::min(due_, now);
  }
}

// Nobody is linked: the peers that are known may have gone, or never have heard of this node.
void PeerKeeper::KnockWhenAlone(Time now) {
  if (!admissions_ || !plan_.knock || book_.linked() > 0 || now < knock_due_) return;
  knock_due_ = now + knock_pause_;
  knock_pause_ = std::min(2 * knock_pause_, plan_.settings.again_unknown);
  const membership::Admission* own = admissions_->own();
  if (own != nullptr) plan_.knock(own->terms.doors, *admissions_->own_record());
}

std::optional<AdmissionsReport> PeerKeeper::admissions() const {
  if (!admissions_) return std::nullopt;
  return admissions_->report();
}

// --- What happens ---

void PeerKeeper::Up(Time now, const PeerKey& peer) {
  problems_.erase(peer);
  if (admissions_) admissions_->LinkUp(peer);
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
  if (admissions_) admissions_->LinkDown(peer);
}

void PeerKeeper::Told(Time now, const PeerKey& by, wire::Membership what) {
  if (!MayKeep(what.own_address)) what.own_address.clear();
  std::erase_if(what.peers, [this](const auto& peer) { return !MayKeep(peer.address); });
  std::vector<membership::Action> actions;
  book_.Told(now, by, what, actions);
  Follow(actions);
  if (!admissions_) return;
  if (admissions_->Take(what.records, by)) Allow(now);
  if (what.records_digest) admissions_->Compare(now, by, *what.records_digest);
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
      wire::Membership what = tell->what;
      what.own_address = plan_.settings.own_address;
      if (admissions_) what.records_digest = admissions_->digest();
      links_.Tell(tell->to, std::move(what));
    } else if (const auto* dial = std::get_if<membership::Dial>(&action)) {
      driver_.Dial(dial->peer, dial->address);
    } else {
      HangUp(std::get<membership::HangUp>(action).peer);
    }
  }
}

}  // namespace covey::node
