// The ROUTER that others dial: routes, their keys, and the TCP connections behind them.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "transport_zmq/address.h"
#include "transport_zmq/core.h"

namespace covey::transport_zmq {

// Binds a socket to "tcp://HOST:PORT", "*" and names included.
// Returns: what it is bound to, with the real port. Errors: as ZmqTransport::Open.
Result<std::string> BindTo(Socket& router, const std::string& listen);
// The same to what was bound before. Returns: where; empty: it is not to be had, errno says why.
std::string BindAgain(Socket& router, const std::string& bound);
// As people and configurations write it.
std::string ShownEndpoint(const std::string& bound);

class Listener {
 public:
  explicit Listener(Core& core) : core_(core) {}
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Binds to Settings::listen. Requires: the ZAP thread runs.
  Status Open();
  void Stop(Duration linger);

  bool open() const { return static_cast<bool>(router_); }
  const std::string& endpoint() const { return endpoint_; }
  void* socket() const { return router_.get(); }
  void* monitor() const { return monitor_.get(); }

  void ReadMonitor(Time now);
  // Hands at most `most` messages to the sink. Returns: how many there were; fewer than `most`: no
  // more.
  int Read(transport::Sink& sink, Time now, int most);
  // Ends the links whose connections ended; call when Read found the socket empty.
  void EndLinks(transport::Sink& sink);
  // Ends the links whose keys are not allowed any more.
  void Revoke(transport::Sink& sink);
  // Cuts what is silent for too long, or closed and has lingered; listens again after a pause.
  void Tick(Time now);
  Time due() const { return due_; }
  // False when it is no connection of ours.
  bool CutUnfinished(transport::Sink& sink, std::uint64_t connection);

  bool Has(transport::LinkId link) const { return links_.contains(link.value); }
  transport::SendResult Send(transport::LinkId link, ByteView header, ByteView body);
  void Close(transport::LinkId link, Time now);

 private:
  struct Route {
    transport::LinkId link;
    std::string id;    // what libzmq calls this connection
    std::string user;  // the User-Id of every frame; empty without CURVE
    PeerKey key;
    int fd = -1;
    std::uint64_t connection = 0;  // TcpConnection::id
  };
  struct Connection {
    TcpConnection tcp;
    Time since{};
    Time cut_at = kNever;
    bool named = false;  // has brought a message, and so a route
    std::optional<transport::LinkId> link;
  };

  void HandleMessage(transport::Sink& sink, Time now);
  Route* NewRoute(transport::Sink& sink, const std::string& id);
  // Why this message may not pass, with its counter raised; empty: it may.
  std::string Violation(bool multipart);
  void Drop(transport::Sink& sink, Route& route, const std::string& reason);
  void Forget(Route& route);
  void Bury(const std::string& id);
  void Accepted(int fd, Time now);
  void Disconnected(int fd);
  void AcceptFailed(int error, Time now);

  Core& core_;
  Socket router_;
  Monitor monitor_;
  Message id_;
  Message body_;
  std::string endpoint_;
  std::string bind_to_;
  std::unordered_map<std::string, Route> routes_;
  std::unordered_map<std::uint64_t, std::string> links_;  // link -> route
  std::map<int, Connection> connections_;
  std::vector<transport::LinkId> ended_;
  // Routes that were closed: what still comes from them is no new link.
  std::unordered_set<std::string> buried_;
  std::deque<std::string> burials_;
  Time due_ = kNever;
  Time rebind_at_ = kNever;
  Duration pause_{};
};

}  // namespace covey::transport_zmq
