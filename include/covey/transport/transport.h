// The seam between sessions and the network: frames of at most 256 KiB in and out, links up and
// down.
//
// A link is one connection between two nodes, from the moment the transport can send on it until it
// is lost; a reconnect is a new link. Implemented over ZeroMQ by transport_zmq and over a virtual
// network by simulate.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "covey/base/bytes.h"
#include "covey/base/ids.h"

namespace covey::transport {

inline constexpr std::size_t kMaxBody = 256 * 1024;
inline constexpr std::size_t kHeaderSize = 64;
inline constexpr std::size_t kMaxFrame = kHeaderSize + kMaxBody;

// Never reused within one process.
struct LinkId {
  std::uint64_t value = 0;
  auto operator<=>(const LinkId&) const = default;
};

struct LinkInfo {
  LinkId id;
  // The key that the transport has authenticated (CURVE). Without authentication: empty, and the
  // peer's hello names it.
  std::optional<PeerKey> key;
  bool dialled = false;  // we dialled it; the dialling side says hello first
  std::string address;   // for people: "tcp://127.0.0.1:7420"
};

enum class SendResult {
  kSent,  // accepted; it may still be lost
  kFull,  // try again after the next event on this link or the next tick
  kGone,  // the link is down; OnLinkDown follows or has been called
};

// Called by the transport, on the transport's thread, never from within Send or Close.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void OnLinkUp(const LinkInfo& link) = 0;
  virtual void OnLinkDown(LinkId link, const std::string& reason) = 0;
  // `frame` is valid during the call and has no alignment.
  virtual void OnFrame(LinkId link, ByteView frame) = 0;
};

// Thread: all calls from the transport's own thread.
class Transport {
 public:
  virtual ~Transport() = default;
  // Sends header and body as one frame; both are copied. Requires: header of kHeaderSize, body <=
  // kMaxBody.
  virtual SendResult Send(LinkId link, ByteView header, ByteView body) = 0;
  // Drops the link; no OnLinkDown follows. A dialled peer is dialled again later.
  virtual void Close(LinkId link) = 0;
};

}  // namespace covey::transport
