// Whom a node has links with: turns what the book of peers wants into calls of network and links.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "covey/config/node_config.h"
#include "covey/learner/links.h"
#include "covey/membership/book.h"
#include "covey/membership/peers_file.h"
#include "covey/node/network_driver.h"
#include "covey/setup/assemble.h"
#include "node/admissions.h"

namespace covey::node {

struct PeerPlan {
  membership::Settings settings;
  std::uint64_t seed = 0;  // of the book's random choices
  std::vector<config::Seed> seeds;
  std::vector<membership::StoredPeer> stored;  // of an earlier life
  bool loopback_only = false;                  // addresses beyond are neither dialled nor kept
  std::optional<AdmissionsPlan> admissions{};  // with fleet.operator_key
  // Knocks at these doors once; whoever opens is told by DoorOpened.
  std::function<void(std::vector<membership::Door>, membership::RecordBytes)> knock{};
};

// Where others are told to dial a node that listens at `endpoint` ("tcp://0.0.0.0:7420"): with the
// host "*" when it listens on every interface. Empty: nowhere.
std::string AddressToTell(const config::Advertise& advertise, const std::string& endpoint);

// The plan of a node that listens at `endpoint`; without keys that are allowed, and without peers
// of an earlier life.
PeerPlan PlanOf(const config::NodeConfig& config, const setup::Identity& identity,
                const std::string& endpoint);

// Thread: that of the links.
class PeerKeeper {
 public:
  // Requires: `driver` and `links` outlive this object.
  PeerKeeper(PeerPlan plan, NetworkDriver& driver, learner::Links& links);

  // Before all else.
  void Start(Time now);
  // Does what is due. Returns: when to be called next.
  Time Tick(Time now);

  void Up(Time now, const PeerKey& peer);
  void Down(Time now, const PeerKey& peer, const std::string& reason, session::Parting parting);
  void Told(Time now, const PeerKey& by, wire::Membership what);

  // What came through the local API.
  void TakeRecord(Time now, membership::RecordBytes record);
  // A door has let this node in; its owner is dialled there.
  void DoorOpened(Time now, const PeerKey& owner, const std::string& address);

  std::optional<AdmissionsReport> admissions() const;
  std::vector<membership::Known> peers() const { return book_.peers(); }
  // Why peers are not reached: what the last attempt came to, also while none runs.
  std::map<PeerKey, std::string> Problems() const;

 private:
  bool MayKeep(const std::string& address) const;
  void HangUp(const PeerKey& peer);
  void Follow(const std::vector<membership::Action>& actions);
  void Allow(Time now);
  std::string AnswerKnock(const PeerKey& key, ByteView frame);
  void KnockWhenAlone(Time now);

  PeerPlan plan_;
  NetworkDriver& driver_;
  learner::Links& links_;
  membership::Book book_;
  std::optional<Admissions> admissions_;
  Time knock_due_{};
  Duration knock_pause_;
  std::map<PeerKey, std::string> problems_;  // of attempts that are over
  Time due_{};
  Time now_{};  // of the last Tick
};

}  // namespace covey::node
