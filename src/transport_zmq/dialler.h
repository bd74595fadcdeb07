// The supervisor of one dialled peer: its DEALER, made anew after every loss.
//
//     waiting -> resolving -> shaking hands -> up -> waiting
//
// Equation: attempt k waits uniformly in [0, min(cap, base 2^k)] (full jitter), and at least 20 ms.
#pragma once

#include <string>
#include <vector>

#include "transport_zmq/address.h"
#include "transport_zmq/core.h"

namespace covey::transport_zmq {

class Dialler {
 public:
  Dialler(Core& core, DialAddress peer, Address address)
      : core_(core), peer_(std::move(peer)), address_(std::move(address)) {}
  Dialler(const Dialler&) = delete;
  Dialler& operator=(const Dialler&) = delete;

  const DialAddress& peer() const { return peer_; }
  DialStatus status() const;
  bool open() const { return static_cast<bool>(dealer_); }
  bool up() const { return link_.value != 0; }
  transport::LinkId link() const { return link_; }
  void* socket() const { return dealer_.get(); }
  void* monitor() const { return monitor_.get(); }

  // Takes steps that are due: dial, give up, close what the sink closed.
  // Returns: true when the sockets changed.
  bool Tick(Time now);
  Time due() const { return due_; }
  // An address of this machine came or went: a pause before the next attempt ends by then.
  void Hurry(Time by) {
    if (state_ == State::kWaiting) due_ = std::min(due_, by);
  }

  void ReadMonitor(transport::Sink& sink, Time now);
  // As Listener::Read; 0 while the link is down.
  int Read(transport::Sink& sink, Time now, int most);
  // Ends the link whose connection ended; call when Read found the socket empty.
  void EndLink(transport::Sink& sink, Time now);
  void Revoke(transport::Sink& sink, Time now);
  bool CutUnfinished(transport::Sink& sink, Time now, std::uint64_t connection);

  transport::SendResult Send(ByteView header, ByteView body);
  void Close(Time now);
  // To be ended and thrown away.
  void Retire() { retiring_ = true; }
  bool retiring() const { return retiring_; }
  void End(transport::Sink& sink, Time now);
  void Stop(Duration linger);

 private:
  enum class State { kWaiting, kResolving, kShaking, kUp, kClosing };

  void Dial(Time now, const std::string& host);
  void Attempt(Time now);
  void Established(transport::Sink& sink, Time now);
  // The attempt or link is over: next one after a pause.
  void Lost(Time now, const std::string& problem, Duration linger);
  void Down(transport::Sink& sink, Time now, const std::string& reason);

  Core& core_;
  DialAddress peer_;
  Address address_;
  State state_ = State::kWaiting;
  Time due_{};  // at once
  Socket dealer_;
  Monitor monitor_;
  Message body_;
  transport::LinkId link_;
  std::string dialled_;           // the address of this attempt
  std::size_t next_host_ = 0;     // of a name with several addresses
  std::uint64_t connection_ = 0;  // TcpConnection::id
  bool ended_ = false;
  bool retiring_ = false;
  std::string failure_;  // what the monitor said about this attempt
  std::uint32_t attempts_ = 0;
  std::size_t moved_ = 0;  // bytes, since it came up
  Time up_since_{};
  Time last_up_ = kNever;
  std::string problem_;
};

}  // namespace covey::transport_zmq
