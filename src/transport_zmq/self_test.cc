#include "transport_zmq/self_test.h"

#include <chrono>
#include <string>

#include "transport_zmq/clock.h"

namespace covey::transport_zmq {
namespace {

constexpr Duration kPatience = std::chrono::seconds(5);

enum class Outcome { kAccepted, kRefused, kFailed, kNoSocket };

// One handshake with `endpoint` as `who`.
Outcome Shake(void* context, const Settings& settings, const KeyPair& who,
              const std::string& endpoint) {
  Socket dealer(context, ZMQ_DEALER);
  if (!dealer) return Outcome::kNoSocket;
  SetDialling(dealer, settings, who, settings.keys.public_key);
  Monitor monitor(context, dealer, ZMQ_EVENT_ALL);
  if (!monitor || zmq_connect(dealer.get(), endpoint.c_str()) != 0) {
    monitor.Stop(dealer);
    return Outcome::kNoSocket;
  }
  Outcome outcome = Outcome::kFailed;
  const Time end = Now() + kPatience;
  for (bool done = false; !done && Now() < end;) {
    zmq_pollitem_t item{monitor.get(), 0, ZMQ_POLLIN, 0};
    zmq_poll(&item, 1, 100);
    MonitorEvent event;
    while (!done && monitor.Next(&event)) {
      done = true;
      if (event.kind == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
        outcome = Outcome::kAccepted;
      } else if (event.kind == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH && event.value == 400) {
        outcome = Outcome::kRefused;
      } else if (event.kind != ZMQ_EVENT_DISCONNECTED && event.kind != ZMQ_EVENT_CLOSED) {
        done = false;
      }
    }
  }
  monitor.Stop(dealer);
  return outcome;
}

}  // namespace

Status ProveAccess(void* context, const Settings& settings, KeySet* keys) {
  constexpr char kWhere[] = "CURVE self-test";
  const auto no_socket = [&] {
    return Fail(ErrorCode::kCantCreate, kWhere, zmq_strerror(zmq_errno()),
                "the test needs a loopback interface and a few free descriptors");
  };
  Socket router(context, ZMQ_ROUTER);
  if (!router) return no_socket();
  SetListening(router, settings);
  if (zmq_bind(router.get(), "tcp://127.0.0.1:*") != 0 &&
      zmq_bind(router.get(), "tcp://[::1]:*") != 0) {
    return no_socket();
  }
  char endpoint[128] = {};
  std::size_t size = sizeof endpoint;
  zmq_getsockopt(router.get(), ZMQ_LAST_ENDPOINT, endpoint, &size);

  const KeyPair member = KeyPair::Generate();
  keys->Swap({member.public_key});
  const Outcome stranger = Shake(context, settings, KeyPair::Generate(), endpoint);
  if (stranger == Outcome::kNoSocket) return no_socket();
  if (stranger != Outcome::kRefused) {
    return Fail(ErrorCode::kSoftware, kWhere,
                stranger == Outcome::kAccepted ? "a random key was accepted"
                                               : "a random key got no refusal (no ZAP handler?)",
                "this libzmq can't keep strangers out; Covey does not start with it");
  }
  const Outcome known = Shake(context, settings, member, endpoint);
  keys->Swap({});
  if (known == Outcome::kNoSocket) return no_socket();
  if (known != Outcome::kAccepted) {
    return Fail(
        ErrorCode::kSoftware, kWhere, "an allowed key was not accepted",
        "check that the key file belongs to this node, and that the machine is not overloaded");
  }
  return {};
}

}  // namespace covey::transport_zmq
