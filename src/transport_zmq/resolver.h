// Name look-ups on a thread of their own: within libzmq one dead name server would stall every
// connection.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "covey/base/time.h"
#include "transport_zmq/waker.h"

namespace covey::transport_zmq {

// All numeric addresses of a name, in the system's order of preference; blocks for as long as the
// system takes. Empty with `problem` filled in when there is none.
std::vector<std::string> LookUp(const std::string& name, std::string* problem);

// Thread: one. The thread behind it is started by the first question and left behind at the end,
// because a look-up can't be interrupted; it holds nothing but its own queue.
class Resolver {
 public:
  // An answer older than this is given once more and renewed meanwhile.
  static constexpr Duration kFresh = std::chrono::seconds(10);

  struct Answer {
    bool pending = true;                 // ask again after `waker` was woken
    std::vector<std::string> addresses;  // empty and not pending: the name has none
    std::string problem;
  };

  explicit Resolver(std::shared_ptr<Waker> waker);
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  ~Resolver();

  Answer Ask(const std::string& name, Time now);

 private:
  struct Shared;
  void Start();

  std::shared_ptr<Shared> shared_;
  bool started_ = false;
};

}  // namespace covey::transport_zmq
