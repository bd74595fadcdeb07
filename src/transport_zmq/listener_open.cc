// How the listening socket comes to its address.
#include <cerrno>

#include "transport_zmq/listener.h"

namespace covey::transport_zmq {
namespace {

constexpr int kListenerEvents =
    ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_ACCEPT_FAILED | ZMQ_EVENT_DISCONNECTED;

tl::unexpected<Error> BindError(const std::string& address, int error) {
  std::string hint;
  if (error == EADDRINUSE) {
    hint = "another process listens there: stop it, or choose another port (0 takes a free one)";
  } else if (error == EADDRNOTAVAIL || error == ENODEV) {
    hint = "no interface of this machine has that address: use one of `ip address`, or *";
  } else if (error == EACCES) {
    hint = "ports below 1024 need a privilege: choose a higher one";
  } else if (error == EMFILE || error == ENFILE) {
    hint = "raise the limit of open files (ulimit -n)";
  }
  return Fail(ErrorCode::kCantCreate, "listen on " + address, zmq_strerror(error), hint);
}

// A dual-stack socket names 127.0.0.1 as ::ffff:127.0.0.1; people and configurations do not.
std::string ShownEndpoint(const std::string& bound) {
  const std::string mapped = "tcp://[::ffff:";
  const std::size_t close = bound.find(']');
  if (bound.compare(0, mapped.size(), mapped) != 0 || close == std::string::npos) return bound;
  const std::string address = bound.substr(mapped.size(), close - mapped.size());
  return address.find('.') == std::string::npos ? bound
                                                : "tcp://" + address + bound.substr(close + 1);
}

}  // namespace

Status Listener::Open() {
  const std::string& listen = core_.settings.listen;
  Result<Address> address = ParseAddress(listen, AddressUse::kListen);
  if (!address) return tl::unexpected<Error>(address.error());
  std::vector<std::string> candidates;
  if (address->host == "*") {
    candidates = {Address{"::", address->port}.Text(), Address{"0.0.0.0", address->port}.Text()};
  } else if (address->numeric()) {
    candidates = {address->Text()};
  } else {
    std::string problem;
    for (const std::string& host : LookUp(address->host, &problem)) {
      candidates.push_back(Address{host, address->port}.Text());
    }
    if (candidates.empty()) {
      return Fail(ErrorCode::kConfig, "listen on " + listen, problem, "give an address instead");
    }
  }
  router_ = Socket(core_.context, ZMQ_ROUTER);
  if (!router_) return BindError(listen, zmq_errno());
  SetListening(router_, core_.settings);
  monitor_ = Monitor(core_.context, router_, kListenerEvents);
  if (!monitor_) return BindError(listen, zmq_errno());
  int error = 0;
  for (const std::string& candidate : candidates) {
    bind_to_ = candidate;
    if (Bind()) return {};
    error = zmq_errno();
    if (error == EADDRINUSE) break;  // taking it on the other protocol only would hide this
  }
  return BindError(listen, error);
}

bool Listener::Bind() {
  if (zmq_bind(router_.get(), bind_to_.c_str()) != 0) return false;
  char text[256] = {};
  std::size_t size = sizeof text;
  if (zmq_getsockopt(router_.get(), ZMQ_LAST_ENDPOINT, text, &size) == 0) bind_to_ = text;
  endpoint_ = ShownEndpoint(bind_to_);  // bind_to_ has the same port after a pause
  return true;
}

}  // namespace covey::transport_zmq
