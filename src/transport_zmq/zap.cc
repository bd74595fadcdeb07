#include "transport_zmq/zap.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "transport_zmq/clock.h"

namespace covey::transport_zmq {
namespace {

// Frames of a ZAP request with the CURVE mechanism (RFC 27).
enum Frame : std::size_t {
  kVersion,
  kRequestId,
  kDomain,
  kAddress,
  kRoutingId,
  kMechanism,
  kKey,
  kFrames
};

void SendText(Socket& socket, std::string_view text, int flags) {
  // The ZAP pipe has no high-water mark: this never waits.
  zmq_send(socket.get(), text.data(), text.size(), flags | ZMQ_DONTWAIT);
}

}  // namespace

void KeySet::Swap(std::vector<PeerKey> keys) {
  std::sort(keys.begin(), keys.end());
  auto fresh = std::make_shared<const std::vector<PeerKey>>(std::move(keys));
  const std::lock_guard<std::mutex> lock(mutex_);
  keys_.swap(fresh);
  version_.fetch_add(1, std::memory_order_release);
}

bool KeySet::Contains(const PeerKey& key) const {
  std::shared_ptr<const std::vector<PeerKey>> keys;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    keys = keys_;
  }
  return std::binary_search(keys->begin(), keys->end(), key);
}

bool RateLimit::Take(const std::string& address, Time now) {
  if (buckets_.size() >= kMaxAddresses && !buckets_.contains(address)) {
    std::erase_if(buckets_, [&](const auto& entry) {
      const Bucket& bucket = entry.second;
      return bucket.tokens + Seconds(now - bucket.at) * per_second_ >= burst_;
    });
    if (buckets_.size() >= kMaxAddresses) return false;  // a flood from everywhere
  }
  auto [at, fresh] = buckets_.try_emplace(address, Bucket{burst_, now});
  Bucket& bucket = at->second;
  bucket.tokens = std::min(burst_, bucket.tokens + Seconds(now - bucket.at) * per_second_);
  bucket.at = now;
  if (bucket.tokens < 1) return false;
  bucket.tokens -= 1;
  return true;
}

Zap::Zap(const KeySet& keys, const PeerKey& own, RateLimit limit, RateLimit knocks,
         Duration patience)
    : keys_(keys),
      own_(own),
      limit_(std::move(limit)),
      knocks_(std::move(knocks)),
      patience_(patience) {}

Status Zap::Start(void* context) {
  socket_ = Socket(context, ZMQ_REP);
  if (!socket_ || waker_.fd() < 0) {
    return Fail(ErrorCode::kCantCreate, "ZAP", zmq_strerror(zmq_errno()),
                "raise the limit of open files (ulimit -n)");
  }
  socket_.SetLinger(Duration::zero());
  if (zmq_bind(socket_.get(), "inproc://zeromq.zap.01") != 0) {
    return Fail(ErrorCode::kSoftware, "ZAP", zmq_strerror(zmq_errno()));
  }
  thread_ = std::thread([this] { Run(); });
  return {};
}

void Zap::Stop() {
  if (!thread_.joinable()) return;
  stopping_.store(true, std::memory_order_release);
  waker_.Wake();
  thread_.join();
}

const char* Zap::Tick(Time now) {
  if (!thread_.joinable() || now < tick_) return nullptr;
  tick_ = now + patience_;
  const std::uint64_t asked = asked_.load(std::memory_order_relaxed);
  const bool owes = answered_.load(std::memory_order_acquire) != asked;
  if (!owes) {
    asked_.store(asked + 1, std::memory_order_release);
    waker_.Wake();
  }
  if (owes == stalled_) return nullptr;
  stalled_ = owes;
  if (!owes) return "the thread that admits peers works again";
  ++stalls_;
  return "the thread that admits peers gives no sign of life: links that are up go on, nobody new "
         "gets in until it does";
}

void Zap::ResetCounters() {
  refused_unknown_.store(0, std::memory_order_relaxed);
  refused_rate_.store(0, std::memory_order_relaxed);
}

void Zap::Run() {
  pthread_setname_np(pthread_self(), "zap");
  std::array<zmq_pollitem_t, 2> items{};
  items[0] = {socket_.get(), 0, ZMQ_POLLIN, 0};
  items[1] = {nullptr, waker_.fd(), ZMQ_POLLIN, 0};
  while (!stopping_.load(std::memory_order_acquire)) {
    if (zmq_poll(items.data(), static_cast<int>(items.size()), -1) < 0) {
      if (zmq_errno() == EINTR) continue;
      break;  // the context is ending
    }
    if (items[1].revents != 0) waker_.Drain();
    answered_.store(asked_.load(std::memory_order_acquire), std::memory_order_release);
    if (items[0].revents != 0) Answer();
  }
  socket_.Close();
}

Verdict Zap::Judge(const PeerKey& key, const std::string& address, Time now) {
  // The own key is a copy of this node or this node itself; neither is a peer.
  if (key != own_ && keys_.Contains(key)) return Verdict::kAllow;
  if (limit_.Take(address, now)) {
    refused_unknown_.fetch_add(1, std::memory_order_relaxed);
    return Verdict::kRefuse;
  }
  refused_rate_.fetch_add(1, std::memory_order_relaxed);
  return Verdict::kLater;
}

Verdict Zap::JudgeKnock(const PeerKey& key, const std::string& address, Time now) {
  if (key == own_) return Verdict::kRefuse;
  if (knocks_.Take(address, now)) return Verdict::kAllow;
  knocks_refused_.fetch_add(1, std::memory_order_relaxed);
  return Verdict::kLater;
}

void Zap::Answer() {
  std::array<std::string, kFrames> frames;
  std::size_t count = 0;
  bool more = true;
  while (more) {
    Message part;
    if (!part.Receive(socket_)) return;
    if (count < kFrames) frames[count].assign(static_cast<const char*>(part.data()), part.size());
    ++count;
    more = part.more();
  }
  Verdict verdict = Verdict::kRefuse;
  PeerKey key;
  const bool at_door = frames[kDomain] == kDoorDomain;
  const bool sound = count == kFrames && frames[kVersion] == "1.0" &&
                     (at_door || frames[kDomain] == kZapDomain) && frames[kMechanism] == "CURVE" &&
                     frames[kKey].size() == key.bytes.size();
  if (sound) {
    std::memcpy(key.bytes.data(), frames[kKey].data(), key.bytes.size());
    verdict =
        at_door ? JudgeKnock(key, frames[kAddress], Now()) : Judge(key, frames[kAddress], Now());
  }
  const char* status = verdict == Verdict::kAllow    ? "200"
                       : verdict == Verdict::kRefuse ? "400"
                                                     : "300";
  SendText(socket_, "1.0", ZMQ_SNDMORE);
  SendText(socket_, frames[kRequestId], ZMQ_SNDMORE);
  SendText(socket_, status, ZMQ_SNDMORE);
  SendText(socket_, verdict == Verdict::kAllow ? "OK" : "not allowed", ZMQ_SNDMORE);
  SendText(socket_, verdict == Verdict::kAllow ? ToZ85(key) : std::string(), ZMQ_SNDMORE);
  SendText(socket_, "", 0);
}

}  // namespace covey::transport_zmq
