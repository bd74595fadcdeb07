// Knocks at the doors that an invitation names, on a thread of its own, because names are looked up
// and peers waited for.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "covey/membership/invitation.h"
#include "covey/node/network_driver.h"

namespace covey::node {

class Knocker {
 public:
  // A door that let this node in, and where its owner is to be dialled; empty: nowhere.
  using Opened = std::function<void(const PeerKey& owner, const std::string& address)>;

  // Requires: `driver` outlives this object. `opened` is called on the thread.
  Knocker(NetworkDriver& driver, Opened opened) : driver_(driver), opened_(std::move(opened)) {}
  Knocker(const Knocker&) = delete;
  Knocker& operator=(const Knocker&) = delete;
  ~Knocker() { Stop(); }

  // Knocks at one door after the other until one opens; does nothing while it still does.
  // Thread: one.
  void Knock(std::vector<membership::Door> doors, membership::RecordBytes record);
  // Ends the thread. Thread: any.
  void Stop();

 private:
  struct Round {
    std::vector<membership::Door> doors;
    membership::RecordBytes record;
  };

  void Run();
  void Try(const Round& round);

  NetworkDriver& driver_;
  const Opened opened_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Round> round_;
  bool busy_ = false;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace covey::node
