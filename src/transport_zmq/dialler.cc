#include "transport_zmq/dialler.h"

#include <algorithm>
#include <cerrno>
#include <cmath>

namespace covey::transport_zmq {
namespace {

using transport::LinkId;
using transport::SendResult;
using transport::Sink;

constexpr Duration kMinPause = std::chrono::milliseconds(20);
constexpr Duration kKnown = std::chrono::hours(1);
// A link that lasted so long, or moved so much, forgives the attempts before it: a network that
// resets is dialled again at once, a peer that hangs up is not.
constexpr Duration kLasting = std::chrono::seconds(5);
constexpr std::size_t kUseful = 16 * 1024;
constexpr int kDiallerEvents = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_CLOSED | ZMQ_EVENT_DISCONNECTED |
                               ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
                               ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                               ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL;

}  // namespace

DialStatus Dialler::status() const { return {peer_.key, peer_.address, up(), attempts_, problem_}; }

bool Dialler::Tick(Time now) {
  if (now < due_) return false;
  switch (state_) {
    case State::kWaiting:
    case State::kResolving:
      Attempt(now);
      return true;
    case State::kShaking:
      Lost(now, "no answer in time", Duration::zero());
      return true;
    case State::kClosing:
      Lost(now, "closed", core_.settings.linger);
      return true;
    case State::kUp:
      due_ = kNever;
      return false;
  }
  return false;
}

void Dialler::Attempt(Time now) {
  if (core_.settings.curve && !core_.Allowed(peer_.key)) {  // until Revoke says otherwise
    problem_ = "not dialled: its key is not in the allowed set";
    state_ = State::kWaiting;
    due_ = kNever;
    return;
  }
  if (address_.numeric()) return Dial(now, address_.host);
  const Resolver::Answer answer = core_.resolver.Ask(address_.host, now);
  if (answer.pending) {
    state_ = State::kResolving;
    due_ = now + std::chrono::milliseconds(100);  // the waker is quicker when the answer comes
    return;
  }
  if (answer.addresses.empty()) {
    ++core_.counters.dial_attempts;
    return Lost(now, answer.problem, Duration::zero());
  }
  Dial(now, answer.addresses[next_host_++ % answer.addresses.size()]);
}

void Dialler::Dial(Time now, const std::string& host) {
  ++core_.counters.dial_attempts;
  dialled_ = Address{host, address_.port}.Text();
  failure_.clear();
  ended_ = false;
  dealer_ = Socket(core_.context, ZMQ_DEALER);
  if (!dealer_) return Lost(now, zmq_strerror(zmq_errno()), Duration::zero());
  SetDialling(dealer_, core_.settings, core_.settings.keys, peer_.key);
  monitor_ = Monitor(core_.context, dealer_, kDiallerEvents);
  if (!monitor_ || zmq_connect(dealer_.get(), dialled_.c_str()) != 0) {
    return Lost(now, zmq_strerror(zmq_errno()), Duration::zero());
  }
  state_ = State::kShaking;
  due_ = now + core_.settings.connect_timeout + core_.settings.handshake_timeout +
         std::chrono::seconds(1);
}

void Dialler::ReadMonitor(Sink& sink, Time now) {
  MonitorEvent event;
  while (monitor_.Next(&event)) {
    switch (event.kind) {
      case ZMQ_EVENT_CONNECTED:
        if (const auto tcp = TcpConnection::Of(event.value)) {
          connection_ = tcp->id();
          if (!core_.Take(*tcp)) failure_ = "by an interface that network.interfaces leaves out";
        }
        break;
      case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
        Established(sink, now);
        break;
      case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
        failure_ = event.value == 400 ? "it refused our key: ask its owner to allow it"
                                      : "it put us off: too many attempts from our address";
        break;
      case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
        failure_ = event.value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH
                       ? "one of us uses CURVE and the other does not"
                       : "handshake failed: not a node of this kind?";
        break;
      case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
        if (failure_.empty()) {
          failure_ = "it ended the handshake: wrong server key, or not a node?";
        }
        break;
      case ZMQ_EVENT_CLOSED:
        if (failure_.empty())
          failure_ = "no connection: is it running, and reachable at this address?";
        ended_ = true;
        break;
      case ZMQ_EVENT_DISCONNECTED:
        ended_ = true;
        break;
      default:
        break;
    }
  }
}

void Dialler::Established(Sink& sink, Time now) {
  if (state_ != State::kShaking) return;
  dealer_.Events();  // takes in the pipe, so that the sink may send at once
  state_ = State::kUp;
  due_ = kNever;
  up_since_ = now;
  last_up_ = now;
  moved_ = 0;
  link_ = Core::NewLink();
  transport::LinkInfo info{link_, {}, true, dialled_};
  if (core_.settings.curve) info.key = peer_.key;
  core_.Up(sink, info);
}

int Dialler::Read(Sink& sink, Time now, int most) {
  for (int i = 0; i < most; ++i) {
    if (!up() || !body_.Receive(dealer_)) return i;
    if (ReadRest(dealer_, body_)) {
      ++core_.counters.dropped_multipart;
      Down(sink, now, "sent a multipart message");
    } else if (body_.size() > transport::kMaxFrame) {
      ++core_.counters.dropped_oversize;
      Down(sink, now, "sent a frame of " + std::to_string(body_.size()) + " bytes");
    } else {
      core_.watch.Delivered(connection_, body_.size());
      moved_ += body_.size();
      core_.Frame(sink, link_, body_);
    }
  }
  return most;
}

void Dialler::EndLink(Sink& sink, Time now) {
  if (!ended_ || state_ == State::kClosing) return;
  if (up()) {
    Down(sink, now, "connection ended");
  } else if (state_ == State::kShaking) {
    Lost(now, failure_.empty() ? "connection ended" : failure_, Duration::zero());
  }
}

void Dialler::Revoke(Sink& sink, Time now) {
  const bool allowed = core_.Allowed(peer_.key);
  if (up() && !allowed) Down(sink, now, "key is not allowed any more");
  if (allowed && state_ == State::kWaiting && due_ == kNever) due_ = now;
}

bool Dialler::CutUnfinished(Sink& sink, Time now, std::uint64_t connection) {
  if (connection != connection_ || !dealer_) return false;
  ++core_.counters.cut_unfinished;
  if (up()) Down(sink, now, "sent more than it was granted");
  return true;
}

SendResult Dialler::Send(ByteView header, ByteView body) {
  const int error = SendFrame(dealer_, header, body);
  if (error != 0) return SendResult::kFull;
  moved_ += body.size();
  return SendResult::kSent;
}

void Dialler::Close(Time now) {
  link_ = {};
  state_ = State::kClosing;
  due_ = now;  // not here: the sink may have been called from this very socket's Read
}

void Dialler::End(Sink& sink, Time now) {
  if (up()) Down(sink, now, "hung up");
  Stop(core_.settings.linger);
}

void Dialler::Down(Sink& sink, Time now, const std::string& reason) {
  const LinkId link = link_;
  link_ = {};
  Lost(now, reason, Duration::zero());
  core_.Down(sink, link, reason);
}

void Dialler::Lost(Time now, const std::string& problem, Duration linger) {
  const bool was_up = state_ == State::kUp || state_ == State::kClosing;
  if (!was_up) ++core_.counters.dial_failures;
  Stop(linger);
  if (was_up) last_up_ = now;
  const bool useful = was_up && (now - up_since_ >= kLasting || moved_ >= kUseful);
  attempts_ = useful ? 1 : attempts_ + 1;
  const bool known = last_up_ != kNever && now - last_up_ < kKnown;
  const Duration cap = known ? core_.settings.redial_known : core_.settings.redial_unknown;
  const double growth = std::ldexp(1.0, static_cast<int>(std::min(attempts_, 30u)));
  const double most = std::min(Seconds(cap), Seconds(core_.settings.redial_base) * growth);
  const Duration pause = std::max(kMinPause, FromSeconds(core_.random.Uniform() * most));
  problem_ = problem;
  state_ = State::kWaiting;
  due_ = now + pause;
  core_.Notice("peer " + peer_.key.Short() + " at " + peer_.address + ": " + problem +
               "; next attempt in " +
               FormatDuration(std::chrono::floor<std::chrono::milliseconds>(pause)));
}

void Dialler::Stop(Duration linger) {
  core_.watch.Remove(connection_);
  connection_ = 0;
  ended_ = false;
  if (!dealer_) return;
  monitor_.Stop(dealer_);
  dealer_.SetLinger(linger);
  dealer_.Close();
}

}  // namespace covey::transport_zmq
