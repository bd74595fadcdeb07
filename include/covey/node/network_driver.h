// What the host of a learner needs of a network: the transport, and a way to drive it from one
// thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "covey/base/bytes.h"
#include "covey/base/ids.h"
#include "covey/base/result.h"
#include "covey/base/time.h"
#include "covey/transport/transport.h"

namespace covey::node {

// The host's network thread makes every call but Wake and endpoint.
class NetworkDriver {
 public:
  virtual ~NetworkDriver() = default;

  virtual transport::Transport& transport() = 0;

  // Dials a peer ("host:port") again and again until it is hung up on. Somebody who is dialled
  // already, or an address that is none: nothing happens.
  virtual void Dial(const PeerKey& peer, const std::string& address) = 0;
  // Dials it no more; its link, if it has one still, goes down (OnLinkDown).
  virtual void HangUp(const PeerKey& peer) = 0;

  // Who may connect and be dialled from now on. A network without authentication lets in anybody.
  virtual void SetAllowed(const std::set<PeerKey>&) {}

  // What newcomers at the door of this node are answered, which may come from `address`
  // ("tcp://HOST:PORT") and own `key`. Called within Poll.
  using Answer =
      std::function<std::string(const PeerKey& key, const std::string& address, ByteView frame)>;
  virtual void AnswerKnocks(Answer) {}
  // Knocks at the door of another ("host:port"); waits for its answer, shorter once `stop` is set.
  // Errors: kUnavailable, kConfig. Thread: any.
  virtual Result<std::vector<std::byte>> Knock(const PeerKey&, const std::string& address, ByteView,
                                               const std::atomic<bool>&) {
    return Fail(ErrorCode::kUnavailable, "door " + address, "this network has no doors");
  }

  // Told where a node says on the local network that it listens ("host:port"), within Poll. Nothing
  // proves it before it is dialled.
  using Heard = std::function<void(const PeerKey& key, const std::string& address)>;
  virtual void HearBeacons(Heard) {}

  // Why the last attempts to reach peers failed, for people; of those that are dialled.
  virtual std::map<PeerKey, std::string> Problems() const = 0;

  // Waits at most `at_most` for traffic, reports it to `sink`, and returns; earlier when woken.
  virtual void Poll(transport::Sink& sink, Duration at_most) = 0;

  // Ends a Poll that waits, or the next one; does nothing after Close. Thread: any.
  virtual void Wake() = 0;

  // Closes all sockets; what was handed over gets a moment to leave.
  virtual void Close() = 0;

  // The bound address, "tcp://127.0.0.1:7420" (never port 0). Thread: any.
  virtual std::string endpoint() const = 0;
};

}  // namespace covey::node
