#include "covey/api/server.h"

#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <mutex>
#include <set>
#include <utility>
#include <vector>
#include <zmq.hpp>

#include "api/local_socket.h"
#include "api/messages.h"
#include "covey/base/check.h"

namespace covey::api {
namespace {

constexpr std::size_t kMaxWaitingEvents = 1024;
constexpr int kRequestsInATurn = 64;
constexpr int kLingerMs = 200;
constexpr auto kLongestPoll = std::chrono::hours(1);

}  // namespace

struct Server::State {
  State(PathClaim path_claim, std::string address)
      : claim(std::move(path_claim)),
        endpoint(std::move(address)),
        router(context, zmq::socket_type::router),
        wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    COVEY_CHECK(wake >= 0, errno);
    ::zmq_ctx_set(context.handle(), ZMQ_BLOCKY, 0);
    router.set(zmq::sockopt::router_mandatory, true);
    router.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(kMaxRequest));
    router.set(zmq::sockopt::rcvhwm, kMaxWaitingRequests);
    router.set(zmq::sockopt::linger, kLingerMs);
  }
  ~State() {
    router.close();
    ::close(wake);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // One message of one client. Returns: whether there was one.
  bool ServeOne(Handler& handler);
  Result<NodeStatus> Answer(Handler& handler, const std::string& client, const Request& request);
  // Returns: 0, EAGAIN (its queue is full), EHOSTUNREACH (gone).
  int Send(const std::string& client, const std::string& bytes);
  void SendEvents();

  PathClaim claim;
  std::string endpoint;
  zmq::context_t context{1};
  zmq::socket_t router;
  int wake;
  std::set<std::string> subscribers;  // routing ids that libzmq made
  Counters counters;

  std::mutex mutex;
  std::deque<Event> waiting;
  std::uint64_t next_sequence = 1;
};

Result<Server> Server::Open(const std::string& path) {
  const auto checked = SocketPath(path);
  if (!checked) return tl::unexpected(checked.error());
  auto claim = PathClaim::Take(*checked);
  if (!claim) return tl::unexpected(claim.error());
  try {
    auto state = std::make_unique<State>(std::move(*claim), "ipc://" + *checked);
    state->router.bind(state->endpoint);
    if (::chmod(checked->c_str(), 0600) != 0) {
      return Fail(ErrorCode::kCantCreate, *checked, "can't restrict the API socket to its owner");
    }
    return Server(std::move(state));
  } catch (const zmq::error_t& error) {
    return Fail(ErrorCode::kCantCreate, *checked,
                std::string("can't bind the API socket: ") + error.what());
  }
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&&) noexcept = default;
Server::~Server() = default;

const std::string& Server::endpoint() const { return state_->endpoint; }
const Server::Counters& Server::counters() const { return state_->counters; }

int Server::State::Send(const std::string& client, const std::string& bytes) {
  if (bytes.size() > kMaxAnswer) return EMSGSIZE;
  // libzmq reports an unreachable client on the first part; the second never blocks after that.
  if (::zmq_send(router.handle(), client.data(), client.size(), ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0) {
    return ::zmq_errno();
  }
  if (::zmq_send(router.handle(), bytes.data(), bytes.size(), ZMQ_DONTWAIT) < 0) {
    return ::zmq_errno();
  }
  return 0;
}

Result<NodeStatus> Server::State::Answer(Handler& handler, const std::string& client,
                                         const Request& request) {
  Result<void> done;
  switch (request.kind) {
    case RequestKind::kUnknown:
      return Fail(ErrorCode::kProtocol, "coveyd", "does not know this request",
                  "it is older than this program");
    case RequestKind::kStatus:
      break;
    case RequestKind::kSubscribe:
      if (subscribers.size() >= kMaxSubscribers && subscribers.count(client) == 0) {
        return Fail(ErrorCode::kTemporary, "coveyd",
                    "has " + std::to_string(kMaxSubscribers) + " subscribers already");
      }
      subscribers.insert(client);
      break;
    case RequestKind::kPause:
      done = handler.Do(Command::kPause);
      break;
    case RequestKind::kResume:
      done = handler.Do(Command::kResume);
      break;
    case RequestKind::kSettle:
      done = handler.Do(Command::kSettle);
      break;
    case RequestKind::kPing:
      done = handler.Ping(request.peer);
      break;
    case RequestKind::kRecord:
      done = handler.TakeRecord(request.record);
      break;
    case RequestKind::kPredict:  // ServeOne
    case RequestKind::kPush:
    case RequestKind::kInput:
      break;
    case RequestKind::kLeave:
      done = handler.Do(Command::kLeave);
      break;
  }
  if (!done) return tl::unexpected(done.error());
  return handler.GetStatus();
}

bool Server::State::ServeOne(Handler& handler) {
  std::vector<zmq::message_t> parts;
  do {
    zmq::message_t part;
    if (!router.recv(part, zmq::recv_flags::dontwait)) return false;
    if (parts.size() < 3) parts.push_back(std::move(part));
  } while (router.get(zmq::sockopt::rcvmore) != 0);
  if (parts.size() != 2) {
    ++counters.malformed;
    return true;
  }
  const std::string client = parts[0].to_string();
  const auto request = DecodeRequest(parts[1].to_string_view());
  if (!request) {
    ++counters.malformed;
    return true;
  }
  ++counters.requests;
  Reply reply;
  reply.id = request->id;
  if (request->kind == RequestKind::kPredict) {
    auto predictions = handler.Predict(request->question);
    if (predictions) {
      reply.predictions = std::move(*predictions);
    } else {
      reply.result = tl::unexpected(std::move(predictions.error()));
    }
  } else if (request->kind == RequestKind::kPush) {
    auto pushed = handler.Push(request->samples);
    if (pushed) {
      reply.pushed = std::move(*pushed);
    } else {
      reply.result = tl::unexpected(std::move(pushed.error()));
    }
  } else if (request->kind == RequestKind::kInput) {
    reply.input = handler.GetInputForm();
  } else {
    reply.result = Answer(handler, client, *request);
  }
  if (Send(client, EncodeReply(reply)) == EMSGSIZE) {
    const bool asked_too_much = reply.predictions.has_value();
    reply.predictions.reset();
    reply.result =
        asked_too_much
            ? Fail(ErrorCode::kUsage, "coveyd", "the answer does not fit into a message",
                   "ask for fewer samples or classes at once")
            : Fail(ErrorCode::kSoftware, "coveyd", "the answer does not fit into a message");
    reply.input.reset();
    Send(client, EncodeReply(reply));
  }
  return true;
}

void Server::State::SendEvents() {
  std::deque<Event> events;
  {
    const std::lock_guard lock(mutex);
    events.swap(waiting);
  }
  for (const Event& event : events) {
    const std::string bytes = EncodeEvent(event);
    for (auto client = subscribers.begin(); client != subscribers.end();) {
      const int error = Send(*client, bytes);
      if (error == EHOSTUNREACH) {
        client = subscribers.erase(client);
        continue;
      }
      if (error != 0) ++counters.events_dropped;
      ++client;
    }
  }
}

void Server::Poll(Handler& handler, Duration at_most) {
  State& state = *state_;
  zmq::pollitem_t items[] = {{state.router.handle(), 0, ZMQ_POLLIN, 0},
                             {nullptr, state.wake, ZMQ_POLLIN, 0}};
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(
      std::clamp<Duration>(at_most, Duration::zero(), kLongestPoll));
  // Interrupted by a signal: the caller looks whether it should stop, and calls again.
  if (::zmq_poll(items, 2, static_cast<long>(wait.count())) < 0) return;
  if ((items[1].revents & ZMQ_POLLIN) != 0) {
    std::uint64_t count = 0;
    while (::read(state.wake, &count, sizeof count) > 0) {
    }
  }
  for (int i = 0; i < kRequestsInATurn && state.ServeOne(handler); ++i) {
  }
  state.SendEvents();
}

void Server::Publish(const Event& event) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->waiting.size() >= kMaxWaitingEvents) state_->waiting.pop_front();
    state_->waiting.push_back(event);
    state_->waiting.back().sequence = state_->next_sequence++;
  }
  Wake();
}

void Server::Wake() {
  const std::uint64_t one = 1;
  // Fails only when the counter is full, and then a wake-up is waiting already.
  [[maybe_unused]] const auto written = ::write(state_->wake, &one, sizeof one);
}

}  // namespace covey::api
