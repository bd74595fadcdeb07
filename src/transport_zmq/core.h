// What the listening and the dialling half share: settings, keys, counters, and what must be told
// to the sink.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "covey/base/random.h"
#include "covey/transport/transport.h"
#include "covey/transport_zmq/zmq_transport.h"
#include "transport_zmq/own_addresses.h"
#include "transport_zmq/resolver.h"
#include "transport_zmq/socket.h"
#include "transport_zmq/waker.h"
#include "transport_zmq/watch.h"
#include "transport_zmq/zap.h"

namespace covey::transport_zmq {

struct Core {
  Core(Settings s, std::uint64_t seed)
      : settings(std::move(s)),
        random(seed, 0, Purpose::kNetwork),
        watch((settings.credit + 16) * static_cast<std::uint64_t>(MaxMessageSize()),
              settings.curve),
        waker(std::make_shared<Waker>()),
        resolver(waker) {
    if (!settings.interfaces.empty()) watch.LetIn(OwnAddresses::Of(settings.interfaces));
  }

  const Settings settings;
  KeySet keys;
  Counters counters;
  Stream random;
  Watch watch;
  std::shared_ptr<Waker> waker;
  Resolver resolver;
  void* context = nullptr;
  // Links that ended within Send, to be told by the next Poll.
  std::vector<std::pair<transport::LinkId, std::string>> downs;

  // The own key is a copy of this node or this node itself; neither is a peer.
  bool Allowed(const PeerKey& key) const {
    return key != settings.keys.public_key && keys.Contains(key);
  }
  // Watches a connection, unless it came by an interface that is not to be used: then it is cut.
  bool Take(const TcpConnection& connection) {
    const bool good = watch.Add(connection);
    counters.cut_interface += good ? 0 : 1;
    return good;
  }
  void Notice(const std::string& text) const {
    if (settings.notice) settings.notice(text);
  }
  void Up(transport::Sink& sink, const transport::LinkInfo& link) {
    ++counters.links_up;
    sink.OnLinkUp(link);
  }
  void Down(transport::Sink& sink, transport::LinkId link, const std::string& reason) {
    ++counters.links_down;
    sink.OnLinkDown(link, reason);
  }
  void Frame(transport::Sink& sink, transport::LinkId link, Message& body) {
    ++counters.frames_received;
    counters.bytes_received += body.size();
    sink.OnFrame(link, ByteView(static_cast<const std::byte*>(body.data()), body.size()));
  }
  transport::SendResult Sent(transport::SendResult result, std::size_t bytes) {
    switch (result) {
      case transport::SendResult::kSent:
        ++counters.frames_sent;
        counters.bytes_sent += bytes;
        break;
      case transport::SendResult::kFull:
        ++counters.send_full;
        break;
      case transport::SendResult::kGone:
        ++counters.send_gone;
        break;
    }
    return result;
  }

  // Unique in this process.
  static transport::LinkId NewLink() {
    static std::atomic<std::uint64_t> next{1};
    return {next.fetch_add(1, std::memory_order_relaxed)};
  }
};

// Reads the parts of a multipart message that follow `message` off the socket.
// Returns: true when there were any.
bool ReadRest(Socket& socket, const Message& message);

// zmq_ctx_term waits for what lingers, and for ever for what hangs; this waits until `deadline` at
// most.
void Terminate(void* context, Duration deadline);

// Errors: kConfig naming the setting, what was got and the range.
Status Validate(const Settings& settings);

std::uint64_t RandomSeed();

// The port of "tcp://HOST:PORT"; 0: of nothing.
std::uint16_t PortOf(const std::string& endpoint);

// One message of header and body. Returns: 0, or the errno of the failure.
int SendFrame(Socket& socket, ByteView header, ByteView body);

}  // namespace covey::transport_zmq
