#include "covey/transport_zmq/knock.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <memory>

#include "transport_zmq/address.h"
#include "transport_zmq/clock.h"
#include "transport_zmq/resolver.h"
#include "transport_zmq/socket.h"

namespace covey::transport_zmq {
namespace {

constexpr Duration kStopWithin = std::chrono::milliseconds(50);
constexpr int kGlance = 50;  // ms between looks at `stop`

class Context {
 public:
  Context() : handle_(zmq_ctx_new()) {
    if (handle_ != nullptr) zmq_ctx_set(handle_, ZMQ_BLOCKY, 0);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() {
    if (handle_ != nullptr) zmq_ctx_term(handle_);
  }
  void* get() const { return handle_; }

 private:
  void* handle_;
};

// Returns: numeric addresses; none with `problem` filled in.
std::vector<std::string> AddressesOf(const Address& address, Time end,
                                     const std::atomic<bool>& stop, std::string* problem) {
  if (address.numeric()) return {address.host};
  const auto waker = std::make_shared<Waker>();
  Resolver resolver(waker);
  while (Now() < end && !stop) {
    const Resolver::Answer answer = resolver.Ask(address.host, Now());
    *problem = answer.problem;
    if (!answer.pending) return answer.addresses;
    pollfd item{waker->fd(), POLLIN, 0};
    ::poll(&item, 1, kGlance);
    waker->Drain();
  }
  *problem = "the name server does not answer";
  return {};
}

// Says the frame to one address. Returns: the answer; empty with `problem` filled in.
std::vector<std::byte> SayTo(const std::string& address, const KeyPair& own, const PeerKey& door,
                             ByteView frame, Time end, const std::atomic<bool>& stop,
                             std::string* problem) {
  const Context context;
  Settings settings;
  Socket dealer(context.get(), ZMQ_DEALER);
  *problem = "no descriptor left";
  if (!dealer) return {};
  SetDialling(dealer, settings, own, door);
  Monitor monitor(context.get(), dealer, ZMQ_EVENT_ALL);
  if (!monitor || zmq_connect(dealer.get(), address.c_str()) != 0) {
    monitor.Stop(dealer);
    return {};
  }
  *problem = "no answer";
  std::vector<std::byte> answer;
  for (bool over = false; !over && Now() < end && !stop;) {
    std::array<zmq_pollitem_t, 2> items{};
    items[0] = {dealer.get(), 0, ZMQ_POLLIN, 0};
    items[1] = {monitor.get(), 0, ZMQ_POLLIN, 0};
    zmq_poll(items.data(), static_cast<int>(items.size()), kGlance);
    Message message;
    while (message.Receive(dealer)) {
      const auto* bytes = static_cast<const std::byte*>(message.data());
      if (message.size() > 0) answer.assign(bytes, bytes + message.size());
      over = true;
    }
    MonitorEvent event;
    while (!over && monitor.Next(&event)) {
      if (event.kind == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
        zmq_send(dealer.get(), frame.data(), frame.size(), ZMQ_DONTWAIT);
      } else if (event.kind == ZMQ_EVENT_CONNECTED) {
        *problem = "the handshake was not completed (another key, or too many knocks)";
      } else if (event.kind == ZMQ_EVENT_CLOSED || event.kind == ZMQ_EVENT_DISCONNECTED) {
        over = true;
      }
    }
  }
  monitor.Stop(dealer);
  dealer.SetLinger(kStopWithin);
  return answer;
}

}  // namespace

Result<std::vector<std::byte>> Knock(const KeyPair& own, const DialAddress& door, ByteView frame,
                                     Duration patience, const std::atomic<bool>& stop) {
  const Result<Address> address = ParseAddress(door.address, AddressUse::kDial);
  if (!address) return tl::unexpected<Error>(address.error());
  const Time end = Now() + patience;
  std::string problem;
  const std::vector<std::string> hosts = AddressesOf(*address, end, stop, &problem);
  for (const std::string& host : hosts) {
    std::vector<std::byte> answer =
        SayTo(Address{host, address->port}.Text(), own, door.key, frame, end, stop, &problem);
    if (!answer.empty()) return answer;
  }
  return Fail(ErrorCode::kUnavailable, "door " + door.address, problem);
}

}  // namespace covey::transport_zmq
