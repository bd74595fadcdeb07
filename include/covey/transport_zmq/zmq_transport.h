// Frames over ZeroMQ: one ROUTER that others dial, one DEALER for each peer that we dial.
//
// A peer's identity is its CURVE public key: the ROUTER side takes it from the User-Id that the ZAP
// thread attached, the DEALER side from the server key that the socket was made with. Routing ids
// are throw-away return addresses; one that a peer chose itself ends its connection.
//
// Link up: dialled, when the handshake succeeded; accepted, with its first frame. Link down: the
// connection ended, the peer's key left the allowed set, or the peer broke a rule (multipart
// message, unfinished message of more than 1 MiB, more than credit allows ahead of what was read,
// own routing id). Every loss of a dialled
// peer makes a new socket after a back-off with full jitter, because errors of protocol and
// authentication are final within libzmq and its own reconnecting has either jitter or back-off,
// never both.
//
// When an address of this machine goes, connections that have it end at once, and when one comes or
// goes, every peer that is waited for is dialled again.
//
// Requires: a limit of open files of 6 max_links + 512; when it is reached all the same,
// connections that are nobody's link yet are cut first, and listening pauses last.
//
// Thread: one at a time; Wake and SetAllowedKeys may be called from any. Helper threads: libzmq's,
// ZAP, and one for name look-ups (started by the first name).
//
// Source: ZeroMQ RFC 23 (ZMTP), 26 (CurveZMQ), 27 (ZAP). Where we differ: libzmq's own reconnecting
// is off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "covey/base/bytes.h"
#include "covey/base/ids.h"
#include "covey/base/result.h"
#include "covey/base/time.h"
#include "covey/transport/transport.h"
#include "covey/transport_zmq/settings.h"

namespace covey::transport_zmq {

struct Counters {
  std::uint64_t frames_sent = 0;
  std::uint64_t frames_received = 0;
  std::uint64_t bytes_sent = 0;  // header and body, without what ZMTP and CURVE add
  std::uint64_t bytes_received = 0;
  std::uint64_t links_up = 0;
  std::uint64_t links_down = 0;
  std::uint64_t send_full = 0;
  std::uint64_t send_gone = 0;
  std::uint64_t dial_attempts = 0;
  std::uint64_t dial_failures = 0;     // attempts that ended before the handshake did
  std::uint64_t accepted = 0;          // TCP connections
  std::uint64_t accept_failures = 0;   // no descriptor left; listening pauses
  std::uint64_t accepted_in_vain = 0;  // of them: ended without a frame (failed handshakes, scans)
  std::uint64_t refused_unknown = 0;   // unknown, revoked or own key, answered 400
  std::uint64_t refused_rate = 0;      // the same beyond the rate limit, answered 300
  std::uint64_t dropped_unauthenticated = 0;  // frames without an allowed User-Id
  std::uint64_t dropped_closed = 0;           // frames that came after their link was closed
  std::uint64_t dropped_multipart = 0;
  std::uint64_t dropped_oversize = 0;
  std::uint64_t dropped_routing_id = 0;  // peers that named themselves
  std::uint64_t dropped_links = 0;       // beyond max_links
  std::uint64_t cut_unfinished = 0;      // with an endless message, or too much ahead
  std::uint64_t cut_address_gone = 0;    // connections whose own address this machine has lost
  std::uint64_t cut_interface = 0;       // connections by interfaces that are not to be used
  std::uint64_t cut_silent = 0;          // connections without a first frame
  std::uint64_t knocks = 0;              // frames at the door
  std::uint64_t knocks_dropped = 0;  // at the door: connections without a sound frame, or too many
  std::uint64_t knocks_refused_rate = 0;  // at the door: handshakes beyond the rate limit
  std::uint64_t zap_stalls = 0;  // times that the thread which admits peers gave no sign of life
};

// One dialled peer, for people.
struct DialStatus {
  PeerKey key;
  std::string address;
  bool up = false;
  std::uint32_t attempts = 0;  // since the last lasting link
  std::string problem;         // why the last attempt or link ended; empty: nothing has
};

class ZmqTransport final : public transport::Transport {
 public:
  // Binds, starts the ZAP thread and proves it: a random key must be refused and an allowed one
  // accepted. Errors: kConfig (address, time-outs), kCantCreate (address in use, no such interface,
  // no descriptor left),
  //   kSoftware (libzmq without CURVE, self-test failed). Nothing is left running then.
  static Result<std::unique_ptr<ZmqTransport>> Open(Settings settings);

  // Stops: sockets, ZAP thread, context. Takes at most Settings::stop_deadline.
  ~ZmqTransport() override;

  // The bound address with its real port ("tcp://127.0.0.1:41873"); empty when not listening.
  const std::string& endpoint() const;
  // The same of the door.
  const std::string& door_endpoint() const;

  // Waits for at most `at_most` for something to happen, then hands at most about 64 frames to the
  // sink, taking sockets in turn. Returns early when there is more to do; then the next call
  // doesn't wait. `at_most` may be kNever.
  void Poll(transport::Sink& sink, Duration at_most);

  // Ends the wait of the running or next Poll.
  void Wake();

  // Dials one more peer from the next Poll on.
  // Errors: kConfig when the address is malformed, the key is our own, or the peer is dialled
  // already.
  Status Dial(const DialAddress& peer);

  // Dials this peer no more. From the next Poll on its dialled link is down (OnLinkDown, unless it
  // was closed before); what was handed over may still leave.
  void HangUp(const PeerKey& peer);

  // Replaces the set of keys. In the next Poll links of keys that left it go down (OnLinkDown) and
  // peers that joined it are dialled.
  void SetAllowedKeys(const std::vector<PeerKey>& keys);

  transport::SendResult Send(transport::LinkId link, ByteView header, ByteView body) override;
  // Frames accepted before may still leave for Settings::linger; what arrives from now on is
  // dropped.
  void Close(transport::LinkId link) override;

  Counters counters() const;
  std::vector<DialStatus> dials() const;  // thread of Poll

 private:
  class Impl;
  explicit ZmqTransport(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace covey::transport_zmq
