// How the listening socket comes to its address.
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "covey/transport_zmq/port_holder.h"
#include "transport_zmq/listener.h"

namespace covey::transport_zmq {
namespace {

constexpr int kListenerEvents =
    ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_ACCEPT_FAILED | ZMQ_EVENT_DISCONNECTED;

tl::unexpected<Error> BindError(const std::string& address, int error) {
  std::string hint;
  if (error == EADDRINUSE) {
    const Result<Address> place = ParseAddress(address, AddressUse::kListen);
    const unsigned long port = place ? std::strtoul(place->port.c_str(), nullptr, 10) : 0;
    hint = PortHolder(static_cast<std::uint16_t>(port)) +
           ": stop it, or choose another port (0 takes a free one)";
  } else if (error == EADDRNOTAVAIL || error == ENODEV) {
    hint = "no interface of this machine has that address: use one of `ip address`, or *";
  } else if (error == EACCES) {
    hint = "ports below 1024 need a privilege: choose a higher one";
  } else if (error == EMFILE || error == ENFILE) {
    hint = "raise the limit of open files (ulimit -n)";
  }
  return Fail(ErrorCode::kCantCreate, "listen on " + address, zmq_strerror(error), hint);
}

}  // namespace

// A dual-stack socket names 127.0.0.1 as ::ffff:127.0.0.1; people and configurations do not.
std::string ShownEndpoint(const std::string& bound) {
  const std::string mapped = "tcp://[::ffff:";
  const std::size_t close = bound.find(']');
  if (bound.compare(0, mapped.size(), mapped) != 0 || close == std::string::npos) return bound;
  const std::string address = bound.substr(mapped.size(), close - mapped.size());
  return address.find('.') == std::string::npos ? bound
                                                : "tcp://" + address + bound.substr(close + 1);
}

std::string BindAgain(Socket& router, const std::string& bound) {
  if (zmq_bind(router.get(), bound.c_str()) != 0) return {};
  char text[256] = {};
  std::size_t size = sizeof text;
  const bool known = zmq_getsockopt(router.get(), ZMQ_LAST_ENDPOINT, text, &size) == 0;
  return known ? text : bound;
}

Result<std::string> BindTo(Socket& router, const std::string& listen) {
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
  int error = 0;
  for (const std::string& candidate : candidates) {
    const std::string bound = BindAgain(router, candidate);
    if (!bound.empty()) return bound;
    error = zmq_errno();
    if (error == EADDRINUSE) break;  // taking it on the other protocol only would hide this
  }
  return BindError(listen, error);
}

Status Listener::Open() {
  const std::string& listen = core_.settings.listen;
  router_ = Socket(core_.context, ZMQ_ROUTER);
  if (!router_) return BindError(listen, zmq_errno());
  SetListening(router_, core_.settings);
  monitor_ = Monitor(core_.context, router_, kListenerEvents);
  if (!monitor_) return BindError(listen, zmq_errno());
  Result<std::string> bound = BindTo(router_, listen);
  if (!bound) return tl::unexpected<Error>(bound.error());
  bind_to_ = std::move(*bound);  // with its port, also after a pause
  endpoint_ = ShownEndpoint(bind_to_);
  return {};
}

}  // namespace covey::transport_zmq
