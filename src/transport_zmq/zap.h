// Who may connect: the set of allowed keys and the thread that answers libzmq's ZAP requests from
// it.
//
// Two domains: that of the door lets any key knock, within a rate.
//
// Source: ZeroMQ RFC 27 (ZAP 1.0). Where we differ: 400 only while the address still has a token,
// else 300, which libzmq turns into a silent disconnect.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "covey/base/ids.h"
#include "covey/base/time.h"
#include "transport_zmq/socket.h"
#include "transport_zmq/waker.h"

namespace covey::transport_zmq {

// An immutable sorted set behind a pointer that is swapped as a whole.
//
// Thread: any.
class KeySet {
 public:
  void Swap(std::vector<PeerKey> keys);
  bool Contains(const PeerKey& key) const;
  // Grows with each Swap.
  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const std::vector<PeerKey>> keys_ =
      std::make_shared<const std::vector<PeerKey>>();
  std::atomic<std::uint64_t> version_{0};
};

// A token bucket for each address, for at most kMaxAddresses of them.
class RateLimit {
 public:
  static constexpr std::size_t kMaxAddresses = 1024;

  RateLimit(double per_second, double burst) : per_second_(per_second), burst_(burst) {}
  // Takes a token; false when there is none.
  bool Take(const std::string& address, Time now);
  std::size_t size() const { return buckets_.size(); }

 private:
  struct Bucket {
    double tokens = 0;
    Time at{};
  };
  double per_second_;
  double burst_;
  std::map<std::string, Bucket> buckets_;
};

// What ZAP decides about one client.
enum class Verdict { kAllow, kRefuse, kLater };

class Zap {
 public:
  // patience: how long its thread may take for a sign of life, and how often one is asked for.
  Zap(const KeySet& keys, const PeerKey& own, RateLimit limit, RateLimit knocks = {0, 0},
      Duration patience = std::chrono::seconds(5));
  Zap(const Zap&) = delete;
  Zap& operator=(const Zap&) = delete;
  ~Zap() { Stop(); }

  // Binds before it returns, so that no socket of `context` is ever without a handler.
  Status Start(void* context);
  // Ends the thread, which closes its socket.
  void Stop();

  // Watches over the thread: without it no handshake ends, while links that are up go on.
  // Returns: what a person should know now, or nullptr.  Thread: one.
  const char* Tick(Time now);
  Time due() const { return thread_.joinable() ? tick_ : kNever; }  // of the next Tick

  Verdict Judge(const PeerKey& key, const std::string& address, Time now);
  Verdict JudgeKnock(const PeerKey& key, const std::string& address, Time now);

  std::uint64_t refused_unknown() const { return refused_unknown_.load(std::memory_order_relaxed); }
  std::uint64_t refused_rate() const { return refused_rate_.load(std::memory_order_relaxed); }
  std::uint64_t knocks_refused() const { return knocks_refused_.load(std::memory_order_relaxed); }
  std::uint64_t stalls() const { return stalls_; }  // the thread of Tick only
  void ResetCounters();

 private:
  void Run();
  void Answer();

  const KeySet& keys_;
  PeerKey own_;
  RateLimit limit_;
  RateLimit knocks_;
  Waker waker_;
  std::atomic<bool> stopping_{false};
  const Duration patience_;
  Time tick_{};
  bool stalled_ = false;
  std::uint64_t stalls_ = 0;
  std::atomic<std::uint64_t> asked_{0};
  std::atomic<std::uint64_t> answered_{0};
  std::atomic<std::uint64_t> refused_unknown_{0};
  std::atomic<std::uint64_t> refused_rate_{0};
  std::atomic<std::uint64_t> knocks_refused_{0};
  Socket socket_;  // handed to the thread at Start
  std::thread thread_;
};

}  // namespace covey::transport_zmq
