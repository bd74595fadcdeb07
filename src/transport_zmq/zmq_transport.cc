#include "covey/transport_zmq/zmq_transport.h"

#include <algorithm>
#include <map>
#include <utility>

#include "covey/base/check.h"
#include "transport_zmq/beacon.h"
#include "transport_zmq/clock.h"
#include "transport_zmq/dialler.h"
#include "transport_zmq/door.h"
#include "transport_zmq/listener.h"
#include "transport_zmq/own_addresses.h"
#include "transport_zmq/self_test.h"

namespace covey::transport_zmq {
namespace {

using transport::LinkId;
using transport::SendResult;
using transport::Sink;

constexpr int kFramesPerPoll = 64;
constexpr int kFramesPerTurn = 4;
// A program that waits for ever may still be asked to look at its connections.
constexpr Duration kMaxWait = std::chrono::hours(1);
// Addresses come and go together; connections are looked at when they have.
constexpr Duration kAddressesSettle = std::chrono::milliseconds(200);

}  // namespace

class ZmqTransport::Impl {
 public:
  explicit Impl(Settings settings)
      : core_(std::move(settings), RandomSeed()),
        zap_(core_.keys, core_.settings.keys.public_key,
             RateLimit(core_.settings.refusals_per_second, core_.settings.refusals_burst),
             RateLimit(core_.settings.door.knocks_per_second, core_.settings.door.knocks_burst),
             core_.settings.zap_patience),
        listener_(core_),
        door_(core_),
        beacon_(core_.settings.beacon, core_.settings.keys.public_key,
                Stream(RandomSeed(), 0, Purpose::kNetwork)) {}

  ~Impl();
  Status Open();
  void Poll(Sink& sink, Duration at_most);
  Status Dial(const DialAddress& peer);
  void HangUp(const PeerKey& peer);
  void SetAllowedKeys(const std::vector<PeerKey>& keys);
  SendResult Send(LinkId link, ByteView header, ByteView body);
  void Close(LinkId link);
  Counters counters() const;
  std::vector<DialStatus> dials() const;
  const std::string& endpoint() const { return listener_.endpoint(); }
  const std::string& door_endpoint() const { return door_.endpoint(); }
  void Wake() { core_.waker->Wake(); }

 private:
  Dialler* Find(LinkId link);
  void Retire(Sink& sink, Time now);
  void BuildItems();
  void Wait(Duration at_most);
  void TellDowns(Sink& sink);
  void FollowOwnAddresses(Time now);
  bool ReadMonitors(Sink& sink, Time now);
  void ReadFrames(Sink& sink, Time now, bool all);
  void CutUnfinished(Sink& sink, Time now);

  Core core_;
  Zap zap_;
  Listener listener_;
  Door door_;
  Beacon beacon_;
  OwnAddresses own_;
  Time look_at_own_ = kNever;
  std::vector<std::unique_ptr<Dialler>> diallers_;
  std::uint64_t keys_seen_ = 0;
  bool more_ = false;     // the last Poll left frames behind
  bool drained_ = false;  // the running Poll saw every socket empty
  // What zmq_poll waits for: waker, watch, listener and its monitor, the door and its, then two for
  // each open dialler.
  std::vector<zmq_pollitem_t> items_;
  std::size_t beacon_item_ = 0;  // 0: none
  std::size_t own_item_ = 0;
  std::size_t door_item_ = 0;         // 0: none
  std::vector<std::size_t> item_of_;  // dialler -> its first item; 0: none
  std::size_t turn_ = 0;
};

Status ZmqTransport::Impl::Open() {
  if (const Status valid = Validate(core_.settings); !valid) return valid;
  if (core_.settings.curve && zmq_has("curve") == 0) {
    return Fail(ErrorCode::kSoftware, "libzmq", "it was built without CURVE",
                "install Debian's libzmq5, or run with security: {mode: none}");
  }
  core_.context = zmq_ctx_new();
  if (core_.context == nullptr || core_.waker->fd() < 0 || core_.watch.fd() < 0) {
    return Fail(ErrorCode::kCantCreate, "transport", zmq_strerror(zmq_errno()),
                "raise the limit of open files (ulimit -n)");
  }
  zmq_ctx_set(core_.context, ZMQ_BLOCKY, 0);
  // A dialled peer takes a DEALER and both ends of its monitor.
  const std::size_t sockets = 6 * core_.settings.max_links + 64;
  zmq_ctx_set(core_.context, ZMQ_MAX_SOCKETS, static_cast<int>(sockets));
  if (core_.settings.curve) {
    if (const Status started = zap_.Start(core_.context); !started) return started;
    if (const Status proved = ProveAccess(core_.context, core_.settings, &core_.keys); !proved) {
      return proved;
    }
    zap_.ResetCounters();
  }
  core_.keys.Swap(core_.settings.allowed);
  keys_seen_ = core_.keys.version();
  if (!core_.settings.listen.empty()) {
    if (const Status listening = listener_.Open(); !listening) return listening;
  }
  if (core_.settings.curve && !core_.settings.door.listen.empty()) {
    if (const Status opened = door_.Open(); !opened) return opened;
  }
  if (core_.settings.beacon.enabled) {
    if (const Status opened = beacon_.Open(listener_.endpoint()); !opened) return opened;
  }
  for (const DialAddress& peer : core_.settings.dial) {
    if (const Status dialled = Dial(peer); !dialled) return dialled;
  }
  return {};
}

ZmqTransport::Impl::~Impl() {
  // Sockets by the thread that owns them, then the ZAP thread's, then the context: any other order
  // can wait for ever.
  for (const auto& dialler : diallers_) dialler->Stop(core_.settings.linger);
  listener_.Stop(core_.settings.linger);
  door_.Stop(core_.settings.linger);
  zap_.Stop();
  if (core_.context == nullptr) return;
  zmq_ctx_shutdown(core_.context);
  Terminate(core_.context, core_.settings.stop_deadline);
}

Status ZmqTransport::Impl::Dial(const DialAddress& peer) {
  Result<Address> address = ParseAddress(peer.address, AddressUse::kDial);
  if (!address) return tl::unexpected<Error>(address.error());
  if (core_.settings.curve && peer.key == core_.settings.keys.public_key) {
    return Fail(ErrorCode::kConfig, "dial " + peer.address, "the key is this node's own",
                "a node does not dial itself: remove it from the list of peers");
  }
  for (const auto& dialler : diallers_) {
    const DialAddress& known = dialler->peer();
    if (dialler->retiring()) continue;
    if (known.address == peer.address && known.key == peer.key) {
      return Fail(ErrorCode::kConfig, "dial " + peer.address, "this peer is dialled already");
    }
  }
  if (diallers_.size() >= core_.settings.max_links) {
    return Fail(ErrorCode::kConfig, "dial " + peer.address,
                "there are " + std::to_string(diallers_.size()) + " dialled peers already",
                "raise max_links");
  }
  diallers_.push_back(std::make_unique<Dialler>(core_, peer, *address));
  return {};
}

void ZmqTransport::Impl::HangUp(const PeerKey& peer) {
  for (const auto& dialler : diallers_) {
    if (dialler->peer().key == peer) dialler->Retire();
  }
}

void ZmqTransport::Impl::Retire(Sink& sink, Time now) {
  for (const auto& dialler : diallers_) {
    if (dialler->retiring()) dialler->End(sink, now);
  }
  std::erase_if(diallers_, [](const auto& dialler) { return dialler->retiring(); });
}

void ZmqTransport::Impl::SetAllowedKeys(const std::vector<PeerKey>& keys) {
  core_.keys.Swap(keys);
  Wake();
}

void ZmqTransport::Impl::BuildItems() {
  items_.clear();
  items_.push_back({nullptr, core_.waker->fd(), ZMQ_POLLIN, 0});
  items_.push_back({nullptr, core_.watch.fd(), ZMQ_POLLIN, 0});
  if (listener_.open()) {
    items_.push_back({listener_.socket(), 0, ZMQ_POLLIN, 0});
    items_.push_back({listener_.monitor(), 0, ZMQ_POLLIN, 0});
  }
  door_item_ = door_.open() ? items_.size() : 0;
  if (door_.open()) {
    items_.push_back({door_.socket(), 0, ZMQ_POLLIN, 0});
    items_.push_back({door_.monitor(), 0, ZMQ_POLLIN, 0});
  }
  beacon_item_ = beacon_.fd() >= 0 ? items_.size() : 0;
  if (beacon_.fd() >= 0) items_.push_back({nullptr, beacon_.fd(), ZMQ_POLLIN, 0});
  own_item_ = own_.fd() >= 0 ? items_.size() : 0;
  if (own_.fd() >= 0) items_.push_back({nullptr, own_.fd(), ZMQ_POLLIN, 0});
  item_of_.assign(diallers_.size(), 0);
  for (std::size_t i = 0; i < diallers_.size(); ++i) {
    if (!diallers_[i]->open()) continue;
    item_of_[i] = items_.size();
    items_.push_back({diallers_[i]->socket(), 0, ZMQ_POLLIN, 0});
    items_.push_back({diallers_[i]->monitor(), 0, ZMQ_POLLIN, 0});
  }
}

void ZmqTransport::Impl::Wait(Duration at_most) {
  const Time now = Now();
  Time due = std::min(
      {core_.watch.due(), listener_.due(), door_.due(), beacon_.due(), zap_.due(), look_at_own_});
  for (const auto& dialler : diallers_) due = std::min(due, dialler->due());
  Duration wait = std::min(at_most, kMaxWait);
  if (due != kNever) wait = std::min(wait, due - now);
  if (more_ || !core_.downs.empty() || wait < Duration::zero()) wait = Duration::zero();
  BuildItems();
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
  if (zmq_poll(items_.data(), static_cast<int>(items_.size()), static_cast<long>(ms)) < 0) {
    for (zmq_pollitem_t& item : items_) item.revents = 0;  // a signal
  }
  if (items_[0].revents != 0) core_.waker->Drain();
}

void ZmqTransport::Impl::TellDowns(Sink& sink) {
  const auto downs = std::exchange(core_.downs, {});
  for (const auto& [link, reason] : downs) core_.Down(sink, link, reason);
}

void ZmqTransport::Impl::Poll(Sink& sink, Duration at_most) {
  TellDowns(sink);
  Retire(sink, Now());
  for (std::size_t i = 0; i < diallers_.size(); ++i) diallers_[i]->Tick(Now());
  listener_.Tick(Now());
  door_.Tick(Now());
  beacon_.Tick(Now());
  if (const char* news = zap_.Tick(Now()); news != nullptr) core_.Notice(news);
  FollowOwnAddresses(Now());
  Wait(at_most);
  const Time now = Now();
  const bool sampled = core_.watch.Begin(now);
  if (core_.keys.version() != keys_seen_) {
    keys_seen_ = core_.keys.version();
    if (core_.settings.curve) {
      listener_.Revoke(sink);
      for (std::size_t i = 0; i < diallers_.size(); ++i) diallers_[i]->Revoke(sink, now);
    }
  }
  if (own_item_ > 0 && items_[own_item_].revents != 0 && own_.Read()) {
    look_at_own_ = std::min(look_at_own_, now + kAddressesSettle);
  }
  if (beacon_item_ > 0 && items_[beacon_item_].revents != 0) beacon_.Read(now);
  if (door_item_ > 0) {
    if (items_[door_item_ + 1].revents != 0) door_.ReadMonitor(now);
    if (sampled || items_[door_item_].revents != 0) door_.Read(now);
  }
  // Before the end of a link is told, what came before it is read.
  const bool events = ReadMonitors(sink, now);
  ReadFrames(sink, now, more_ || sampled || events);
  if (sampled) CutUnfinished(sink, now);
  if (drained_) {
    listener_.EndLinks(sink);
    for (std::size_t i = 0; i < diallers_.size(); ++i) diallers_[i]->EndLink(sink, now);
  }
  more_ = !drained_;
  TellDowns(sink);
}

// The links of what is cut end as those that the other side ends, and are dialled again.
void ZmqTransport::Impl::FollowOwnAddresses(Time now) {
  if (now < look_at_own_) return;
  look_at_own_ = kNever;
  const std::set<std::string> own = OwnAddresses::Of(core_.settings.interfaces);
  if (!core_.settings.interfaces.empty()) core_.watch.LetIn(own);
  const std::size_t cut = core_.watch.CutOthers(own);
  core_.counters.cut_address_gone += cut;
  if (cut > 0) {
    core_.Notice("an address of this machine has gone: connections that had it are made anew");
  }
  for (const auto& dialler : diallers_) {
    dialler->Hurry(now + FromSeconds(core_.random.Uniform() * Seconds(kAddressesSettle)));
  }
}

bool ZmqTransport::Impl::ReadMonitors(Sink& sink, Time now) {
  bool events = false;
  if (listener_.open() && items_[3].revents != 0) {
    listener_.ReadMonitor(now);
    events = true;
  }
  for (std::size_t i = 0; i < item_of_.size(); ++i) {
    const std::size_t item = item_of_[i];
    if (item == 0 || items_[item + 1].revents == 0) continue;
    diallers_[i]->ReadMonitor(sink, now);
    events = true;
  }
  return events;
}

void ZmqTransport::Impl::ReadFrames(Sink& sink, Time now, bool all) {
  // Sources take turns of a few frames, another one first each time, until all are empty or enough
  // was read.
  std::vector<std::size_t> ready;  // 0: the listener; i + 1: dialler i
  if (listener_.open() && (all || items_[2].revents != 0)) ready.push_back(0);
  for (std::size_t i = 0; i < item_of_.size(); ++i) {
    if (item_of_[i] != 0 && (all || items_[item_of_[i]].revents != 0)) ready.push_back(i + 1);
  }
  if (!ready.empty()) {
    std::rotate(ready.begin(), ready.begin() + static_cast<std::ptrdiff_t>(turn_++ % ready.size()),
                ready.end());
  }
  int left = kFramesPerPoll;
  while (!ready.empty() && left > 0) {
    std::erase_if(ready, [&](std::size_t source) {
      const int most = std::min(left, kFramesPerTurn);
      if (most == 0) return false;
      const int got = source == 0 ? listener_.Read(sink, now, most)
                                  : diallers_[source - 1]->Read(sink, now, most);
      left -= got;
      return got < most;
    });
  }
  drained_ = ready.empty();
}

void ZmqTransport::Impl::CutUnfinished(Sink& sink, Time now) {
  for (const std::uint64_t connection : core_.watch.End(now, drained_)) {
    bool found = listener_.CutUnfinished(sink, connection) || door_.CutUnfinished(connection);
    for (std::size_t i = 0; i < diallers_.size() && !found; ++i) {
      found = diallers_[i]->CutUnfinished(sink, now, connection);
    }
  }
}

Dialler* ZmqTransport::Impl::Find(LinkId link) {
  for (const auto& dialler : diallers_) {
    if (dialler->up() && dialler->link() == link) return dialler.get();
  }
  return nullptr;
}

SendResult ZmqTransport::Impl::Send(LinkId link, ByteView header, ByteView body) {
  COVEY_CHECK(header.size() == transport::kHeaderSize, header.size());
  COVEY_CHECK(body.size() <= transport::kMaxBody, body.size());
  SendResult result = SendResult::kGone;
  if (listener_.Has(link)) {
    result = listener_.Send(link, header, body);
  } else if (Dialler* dialler = Find(link)) {
    result = dialler->Send(header, body);
  }
  return core_.Sent(result, header.size() + body.size());
}

void ZmqTransport::Impl::Close(LinkId link) {
  if (listener_.Has(link)) {
    listener_.Close(link, Now());
  } else if (Dialler* dialler = Find(link)) {
    dialler->Close(Now());
  }
}

Counters ZmqTransport::Impl::counters() const {
  Counters counters = core_.counters;
  counters.refused_unknown = zap_.refused_unknown();
  counters.refused_rate = zap_.refused_rate();
  counters.knocks_refused_rate = zap_.knocks_refused();
  counters.zap_stalls = zap_.stalls();
  return counters;
}

std::vector<DialStatus> ZmqTransport::Impl::dials() const {
  std::vector<DialStatus> all;
  for (const auto& dialler : diallers_) all.push_back(dialler->status());
  return all;
}

ZmqTransport::ZmqTransport(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ZmqTransport::~ZmqTransport() = default;

Result<std::unique_ptr<ZmqTransport>> ZmqTransport::Open(Settings settings) {
  auto impl = std::make_unique<Impl>(std::move(settings));
  if (const Status opened = impl->Open(); !opened) return tl::unexpected<Error>(opened.error());
  return std::unique_ptr<ZmqTransport>(new ZmqTransport(std::move(impl)));
}

const std::string& ZmqTransport::endpoint() const { return impl_->endpoint(); }
const std::string& ZmqTransport::door_endpoint() const { return impl_->door_endpoint(); }
void ZmqTransport::Poll(Sink& sink, Duration at_most) { impl_->Poll(sink, at_most); }
void ZmqTransport::Wake() { impl_->Wake(); }
Status ZmqTransport::Dial(const DialAddress& peer) { return impl_->Dial(peer); }
void ZmqTransport::HangUp(const PeerKey& peer) { impl_->HangUp(peer); }
void ZmqTransport::SetAllowedKeys(const std::vector<PeerKey>& keys) { impl_->SetAllowedKeys(keys); }
SendResult ZmqTransport::Send(LinkId link, ByteView header, ByteView body) {
  return impl_->Send(link, header, body);
}
void ZmqTransport::Close(LinkId link) { impl_->Close(link); }
Counters ZmqTransport::counters() const { return impl_->counters(); }
std::vector<DialStatus> ZmqTransport::dials() const { return impl_->dials(); }

}  // namespace covey::transport_zmq
