// The ROUTER at which newcomers knock (DoorSettings): nobody here is a peer.
//
// Limits: connections, time and bytes of each; an endless message is seen by the Watch.
#pragma once

#include <map>
#include <string>

#include "transport_zmq/core.h"

namespace covey::transport_zmq {

class Door {
 public:
  explicit Door(Core& core) : core_(core) {}
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  // Requires: the ZAP thread runs.
  Status Open();
  void Stop(Duration linger);

  bool open() const { return static_cast<bool>(router_); }
  const std::string& endpoint() const { return endpoint_; }
  void* socket() const { return router_.get(); }
  void* monitor() const { return monitor_.get(); }

  void ReadMonitor(Time now);
  // Answers every frame that is there.
  void Read(Time now);
  // Cuts what has had its time; listens again after a pause.
  void Tick(Time now);
  Time due() const { return due_; }
  // False when it is no connection of the door.
  bool CutUnfinished(std::uint64_t connection);

 private:
  struct Connection {
    TcpConnection tcp;
    Time cut_at{};
    bool heard = false;
  };

  void Accepted(int fd, Time now);
  void Ended(int fd);
  void Pause(Time now);
  void Answer(Connection& connection, Time now);

  Core& core_;
  Socket router_;
  Monitor monitor_;
  Message id_;
  Message body_;
  std::string bound_;
  std::string endpoint_;
  std::map<int, Connection> connections_;
  Time due_ = kNever;
  Time rebind_at_ = kNever;
};

}  // namespace covey::transport_zmq
