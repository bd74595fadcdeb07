// What broken links leave behind, until a later link to the same life of the peer goes on with it:
// parts of messages that were arriving, and own messages that had begun to leave.
//
// Limits: one part of each peer, the newest; an age for both; bytes for own messages. The bytes of
// parts count in the budget of reassembly, whose owner drops parts for what arrives now.
// Thread: none.  Determinism: peers are walked in key order; a function of the calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "covey/base/ids.h"
#include "covey/base/time.h"
#include "covey/consensus/message.h"
#include "covey/session/incoming.h"

namespace covey::learner {

// Messages of peers. Methods that drop parts return their bytes, which are to be released.
class KeptParts {
 public:
  explicit KeptParts(Duration age) : age_(age) {}

  std::size_t Keep(Time now, const PeerKey& peer, SessionId life, session::Incoming part);
  std::optional<session::Incoming> Take(const PeerKey& peer, SessionId life,
                                        consensus::MessageKind kind, ExchangeId exchange);
  std::size_t DropOldest();  // 0: there is none
  std::size_t Expire(Time now);
  Time due() const;  // of the next Expire
  std::size_t size() const { return parts_.size(); }

 private:
  struct Part {
    session::Incoming incoming;
    SessionId life;
    Time since{};
  };

  Duration age_;
  std::map<PeerKey, Part> parts_;
};

// Own messages to one peer, in the order in which they leave.
struct KeptFor {
  std::vector<consensus::Message> messages;
  bool begun = false;  // the first of them has begun, in several chunks
  SessionId life;      // of the peer: a later one did not ask for any of it
};

class KeptMessages {
 public:
  KeptMessages(Duration age, std::uint64_t most_bytes) : age_(age), most_(most_bytes) {}

  // Returns: what is given up: older ones to that peer, or what has no room.
  std::vector<consensus::Message> Keep(Time now, const PeerKey& peer, KeptFor kept);
  // One more behind them, as long as there are fewer than `most`. Returns: whether it is kept.
  bool Add(Time now, SessionId life, const consensus::Message& message, std::size_t most);
  KeptFor Take(const PeerKey& peer);  // empty: there is none
  std::vector<consensus::Message> Expire(Time now);
  Time due() const;
  std::size_t size() const { return kept_.size(); }

 private:
  struct Entry {
    KeptFor kept;
    Time since{};
  };

  Duration age_;
  std::uint64_t most_;
  std::uint64_t bytes_ = 0;
  std::map<PeerKey, Entry> kept_;
};

// The last message that each peer has delivered: its sender may not know.
class LastWhole {
 public:
  explicit LastWhole(std::size_t most) : most_(most) {}
  void Note(const PeerKey& peer, SessionId life, consensus::MessageKind kind, ExchangeId exchange);
  bool Is(const PeerKey& peer, SessionId life, consensus::MessageKind kind,
          ExchangeId exchange) const;

  std::optional<SessionId> Life(const PeerKey& peer) const;

 private:
  struct Entry {
    SessionId life;
    consensus::MessageKind kind = consensus::MessageKind::kWeights;
    ExchangeId exchange;
    bool operator==(const Entry&) const = default;
  };

  std::size_t most_;
  std::map<PeerKey, Entry> last_;
};

}  // namespace covey::learner
