// The client library of the local API: one connection to one daemon on this machine.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "covey/api/types.h"
#include "covey/base/result.h"
#include "covey/base/time.h"

namespace covey::api {

// Thread: one at a time for each client. Clients of one process share their I/O thread. Not across
// fork: start children before the first client, or with exec.
class Client {
 public:
  // `socket` is a path or "ipc://" and a path. Connects once, to say early and clearly what is
  // wrong. Errors: kUnavailable when no daemon listens there, kNoPermission; both name the socket
  // and what to do.
  static Result<Client> Connect(const std::string& socket,
                                Duration timeout = std::chrono::seconds(5));

  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  // Errors: kUnavailable when no answer came within the time-out, kProtocol when it can't be read,
  // else what the daemon said. Events that arrive meanwhile are kept for NextEvent (at most 1024,
  // oldest leave first).
  Result<NodeStatus> GetStatus();
  // Returns: the status right after the command was accepted. kLeave is accepted long before it is
  // done: kFinished follows to subscribers, then the daemon exits.
  Result<NodeStatus> Do(Command command);
  // Has the daemon ask a linked peer (64 hex digits) for a sign of life. Returns: the status right
  // after; the Member's pongs grow when it answers. Errors: kUnavailable when it has no link.
  Result<NodeStatus> Ping(const std::string& peer);
  // Hands a record that the operator signed (membership/invitation.h) to the daemon, which tells
  // the fleet. Errors: as GetStatus; kUsage when it goes by no operator's word, kData when the
  // record is not the operator's.
  Result<NodeStatus> TakeRecord(const std::string& record);
  // What the published model answers, sample by sample.
  // Errors: as GetStatus; kUsage when the question is larger than a request may be (split it).
  Result<Predictions> Predict(const Question& question);
  // What a sample of its model looks like: names of features, shape of images.
  Result<InputForm> GetInputForm();
  // Samples for a node with data.live; returns when they are on its disk.
  // Errors: as GetStatus; kUsage when the node takes none, or they are more than a request holds;
  // kData when the lists don't fit one another or the table's columns are not the node's.
  Result<Pushed> Push(const Samples& samples);
  // From now on the daemon sends events.
  Result<void> Subscribe();

  // Returns: the next event, or nothing when none came within `timeout` (0: only look).
  // Errors: kProtocol when a message can't be read; kUnavailable when the daemon has gone.
  Result<std::optional<Event>> NextEvent(Duration timeout);

  const std::string& socket() const;

 private:
  struct State;
  explicit Client(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace covey::api
