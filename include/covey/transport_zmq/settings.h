// What a ZeroMQ transport is told at start. The defaults are those of a daemon.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "covey/base/bytes.h"
#include "covey/base/ids.h"
#include "covey/base/time.h"
#include "covey/transport_zmq/keys.h"

namespace covey::transport_zmq {

// A peer that we dial: "tcp://HOST:PORT", HOST a number ("127.0.0.1", "[::1]") or a name. Names are
// looked up on a thread of their own, again for each attempt, and all their addresses are tried in
// turn.
struct DialAddress {
  PeerKey key;
  std::string address;
};

// Where newcomers knock: a second ROUTER, in a ZAP domain of its own that takes any key but the own
// one. It hears one frame of at most kMaxKnock bytes a connection, answers it, and hangs up.
struct DoorSettings {
  static constexpr std::size_t kMaxKnock = 1024;

  // As Settings::listen; empty: no door.
  std::string listen{};
  // What a newcomer is answered, at most kMaxKnock bytes. Called on the thread of Poll. `address`:
  // "tcp://HOST:PORT", where it comes from.
  std::function<std::vector<std::byte>(const PeerKey& key, const std::string& address,
                                       ByteView frame)>
      answer{};
  // Handshakes of one address; more are cut without an answer.
  double knocks_per_second = 1;
  double knocks_burst = 10;
  std::size_t max_connections = 32;             // more are cut
  Duration patience = std::chrono::seconds(5);  // a connection without a frame is cut then
};

// Tells the local network where this node listens, and hears where others do.
struct BeaconSettings {
  bool enabled = false;
  std::array<std::uint8_t, 16> fleet{};  // a hash of its name: others are left alone
  std::string group = "239.255.67.86";
  std::uint16_t port = 7422;              // UDP
  std::vector<std::string> interfaces{};  // as Settings::interfaces
  // Told where a node of the fleet says that it listens, "host:port", on the thread of Poll.
  std::function<void(const PeerKey& key, const std::string& address)> heard{};
};

struct Settings {
  // "tcp://HOST:PORT"; port 0 or * takes a free one; HOST * is every interface, IPv6 and IPv4.
  // Empty: don't listen, dial only (a robot behind NAT).
  std::string listen = "tcp://127.0.0.1:0";

  // CURVE on both sides, or no authentication at all (then LinkInfo.key stays empty and `allowed`
  // is unused).
  bool curve = true;
  KeyPair keys;
  // Who may connect, and whom we dial: a peer in `dial` that is not here waits until SetAllowedKeys
  // names it. The own key is always refused.
  std::vector<PeerKey> allowed;
  std::vector<DialAddress> dial;

  // Connections by other interfaces ("wlan0") are cut when they come about; empty: all are good. An
  // interface need not be there yet.
  std::vector<std::string> interfaces;

  // Chunks that a session grants at most. Queues towards a peer hold 16 frames more, so they never
  // fill before; a peer that has sent more than that ahead of what was read is cut.
  std::size_t credit = 16;
  // Links and half-open connections beyond this are dropped.
  std::size_t max_links = 256;

  Duration connect_timeout = std::chrono::seconds(5);
  Duration handshake_timeout = std::chrono::seconds(5);
  // An accepted connection that has brought no frame by then is cut.
  Duration first_frame_timeout = std::chrono::seconds(30);

  // Attempt k of a dialled peer waits uniformly in [0, min(cap, redial_base 2^k)], and at least 20
  // ms. The cap is `redial_known` for a peer that was up in the last hour, else `redial_unknown`.
  Duration redial_base = std::chrono::milliseconds(200);
  Duration redial_known = std::chrono::seconds(5);
  Duration redial_unknown = std::chrono::seconds(60);

  // How long frames already accepted by Send may still leave after Close and at stop, and how long
  // stopping may take as a whole before what hangs is abandoned.
  Duration linger = std::chrono::seconds(1);
  Duration stop_deadline = std::chrono::seconds(5);

  // Handshakes with unknown keys that one address is answered; more are cut without an answer.
  double refusals_per_second = 20;
  double refusals_burst = 40;

  // How long the thread that answers ZAP may take for a sign of life; asked as often.
  Duration zap_patience = std::chrono::seconds(5);

  DoorSettings door;  // only with CURVE
  BeaconSettings beacon;

  // SO_SNDBUF and SO_RCVBUF in bytes; 0 leaves them to the kernel.
  int socket_buffer = 0;

  // Told, on the thread of Poll, what a person should know ("peer 1a2b3c4d: wrong server key?");
  // may be empty. At most one call for each failed attempt of each dialled peer and each stall, and
  // none that a stranger can cause.
  std::function<void(const std::string&)> notice;
};

}  // namespace covey::transport_zmq
