#include "covey/api/client.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <mutex>
#include <utility>
#include <variant>
#include <zmq.hpp>

#include "api/local_socket.h"
#include "api/messages.h"
#include "covey/api/server.h"

namespace covey::api {
namespace {

constexpr std::size_t kMaxKeptEvents = 1024;
constexpr auto kLongestWait = std::chrono::hours(24);
constexpr auto kLastWords = std::chrono::seconds(2);  // of a daemon that is no longer there

using Clock = std::chrono::steady_clock;

// One context, hence one I/O thread, for all clients of the process; gone with the last of them.
std::shared_ptr<zmq::context_t> SharedContext() {
  static std::mutex* mutex = new std::mutex;
  static auto* shared = new std::weak_ptr<zmq::context_t>;
  const std::lock_guard lock(*mutex);
  auto context = shared->lock();
  if (!context) {
    context = std::make_shared<zmq::context_t>(1);
    ::zmq_ctx_set(context->handle(), ZMQ_BLOCKY, 0);
    *shared = context;
  }
  return context;
}

RequestKind ToRequest(Command command) {
  switch (command) {
    case Command::kPause:
      return RequestKind::kPause;
    case Command::kResume:
      return RequestKind::kResume;
    case Command::kSettle:
      return RequestKind::kSettle;
    case Command::kLeave:
      return RequestKind::kLeave;
  }
  return RequestKind::kUnknown;
}

}  // namespace

struct Client::State {
  State(std::string socket_path, Duration time_out)
      : path(std::move(socket_path)),
        timeout(time_out),
        context(SharedContext()),
        dealer(*context, zmq::socket_type::dealer) {
    dealer.set(zmq::sockopt::linger, 0);
    dealer.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(kMaxAnswer));
    dealer.connect("ipc://" + path);
  }

  // Returns: the next message, or nothing at the deadline.
  Result<std::optional<std::variant<Reply, Event>>> Receive(Clock::time_point deadline);
  Result<Reply> AskFor(Request request);
  Result<NodeStatus> Ask(RequestKind kind);

  std::string path;
  Duration timeout;
  std::shared_ptr<zmq::context_t> context;
  zmq::socket_t dealer;  // after the context: closed before it
  std::uint64_t last_id = 0;
  std::deque<Event> events;
};

Result<Client> Client::Connect(const std::string& socket, Duration timeout) {
  auto path = SocketPath(socket);
  if (!path) return tl::unexpected(path.error());
  if (auto probed = Probe(*path); !probed) return tl::unexpected(probed.error());
  try {
    return Client(std::make_unique<State>(std::move(*path), timeout));
  } catch (const zmq::error_t& error) {
    return Fail(ErrorCode::kUnavailable, socket, error.what());
  }
}

Client::Client(std::unique_ptr<State> state) : state_(std::move(state)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

const std::string& Client::socket() const { return state_->path; }

Result<std::optional<std::variant<Reply, Event>>> Client::State::Receive(
    Clock::time_point deadline) {
  using Received = std::optional<std::variant<Reply, Event>>;
  while (true) {
    const auto left = std::clamp<Duration>(deadline - Clock::now(), Duration::zero(), kLongestWait);
    zmq::pollitem_t item{dealer.handle(), 0, ZMQ_POLLIN, 0};
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(left);
    const int ready = ::zmq_poll(&item, 1, static_cast<long>(wait.count()));
    if (ready <= 0 && left == Duration::zero()) return Received();
    if (ready <= 0) continue;
    zmq::message_t message;
    if (!dealer.recv(message, zmq::recv_flags::dontwait)) continue;
    if (message.more()) {
      while (message.more() && dealer.recv(message, zmq::recv_flags::dontwait)) {
      }
      return Fail(ErrorCode::kProtocol, path, "the daemon sent more than one part");
    }
    auto answer = DecodeAnswer(message.to_string_view());
    if (!answer) return tl::unexpected(answer.error());
    return Result<Received>(tl::in_place, std::move(*answer));
  }
}

Result<Reply> Client::State::AskFor(Request request) {
  request.id = ++last_id;
  const std::string bytes = EncodeRequest(request);
  if (bytes.size() > kMaxRequest) {
    return Fail(ErrorCode::kUsage, "request",
                std::to_string(bytes.size()) + " bytes, at most " + std::to_string(kMaxRequest) +
                    " fit into one",
                "send less at once");
  }
  if (::zmq_send(dealer.handle(), bytes.data(), bytes.size(), ZMQ_DONTWAIT) < 0) {
    return Fail(ErrorCode::kUnavailable, path, "the daemon does not take requests");
  }
  const auto deadline = Clock::now() + std::min<Duration>(timeout, kLongestWait);
  while (true) {
    auto answer = Receive(deadline);
    if (!answer) return tl::unexpected(answer.error());
    if (!*answer) {
      if (auto probed = Probe(path); !probed) return tl::unexpected(probed.error());
      return Fail(
          ErrorCode::kUnavailable, "",
          "the daemon at ipc://" + path + " did not answer within " + FormatDuration(timeout),
          "it may be busy or hung; wait longer with --timeout");
    }
    if (auto* event = std::get_if<Event>(&**answer)) {
      if (events.size() >= kMaxKeptEvents) events.pop_front();
      events.push_back(std::move(*event));
      continue;
    }
    // The answer to an earlier request that timed out is passed over.
    auto& reply = std::get<Reply>(**answer);
    if (reply.id == request.id) return std::move(reply);
  }
}

Result<NodeStatus> Client::State::Ask(RequestKind kind) {
  Request request;
  request.kind = kind;
  auto reply = AskFor(std::move(request));
  if (!reply) return tl::unexpected(std::move(reply.error()));
  return std::move(reply->result);
}

Result<NodeStatus> Client::GetStatus() { return state_->Ask(RequestKind::kStatus); }

Result<NodeStatus> Client::Do(Command command) { return state_->Ask(ToRequest(command)); }

Result<NodeStatus> Client::Ping(const std::string& peer) {
  Request request;
  request.kind = RequestKind::kPing;
  request.peer = peer;
  auto reply = state_->AskFor(std::move(request));
  if (!reply) return tl::unexpected(std::move(reply.error()));
  return std::move(reply->result);
}

Result<NodeStatus> Client::TakeRecord(const std::string& record) {
  Request request;
  request.kind = RequestKind::kRecord;
  request.record = record;
  auto reply = state_->AskFor(std::move(request));
  if (!reply) return tl::unexpected(std::move(reply.error()));
  return std::move(reply->result);
}

Result<Predictions> Client::Predict(const Question& question) {
  // Protobuf adds a few bytes to four for each number.
  if (question.values.size() * sizeof(float) + 64 > kMaxRequest) {
    return Fail(ErrorCode::kUsage, "predict",
                std::to_string(question.values.size()) + " numbers in one question, at most " +
                    std::to_string((kMaxRequest - 64) / sizeof(float)) + " fit",
                "ask for fewer samples at once");
  }
  Request request;
  request.kind = RequestKind::kPredict;
  request.question = question;
  auto reply = state_->AskFor(std::move(request));
  if (!reply) return tl::unexpected(std::move(reply.error()));
  if (!reply->result) return tl::unexpected(std::move(reply->result.error()));
  if (!reply->predictions) {
    return Fail(ErrorCode::kProtocol, state_->path, "the daemon answered another question");
  }
  return std::move(*reply->predictions);
}

Result<InputForm> Client::GetInputForm() {
  Request request;
  request.kind = RequestKind::kInput;
  auto reply = state_->AskFor(std::move(request));
  if (!reply) return tl::unexpected(std::move(reply.error()));
  if (!reply->result) return tl::unexpected(std::move(reply->result.error()));
  if (!reply->input) {
    return Fail(ErrorCode::kProtocol, state_->path, "the daemon answered another question");
  }
  return std::move(*reply->input);
}

Result<Pushed> Client::Push(const Samples& samples) {
  Request request;
  request.kind = RequestKind::kPush;
  request.samples = samples;
  auto reply = state_->AskFor(std::move(request));
  if (!reply) return tl::unexpected(std::move(reply.error()));
  if (!reply->result) return tl::unexpected(std::move(reply->result.error()));
  if (!reply->pushed) {
    return Fail(ErrorCode::kProtocol, state_->path, "the daemon answered another question");
  }
  return std::move(*reply->pushed);
}

Result<void> Client::Subscribe() {
  const auto status = state_->Ask(RequestKind::kSubscribe);
  if (!status) return tl::unexpected(status.error());
  return {};
}

Result<std::optional<Event>> Client::NextEvent(Duration timeout) {
  State& state = *state_;
  if (!state.events.empty()) {
    Event event = std::move(state.events.front());
    state.events.pop_front();
    return std::optional<Event>(std::move(event));
  }
  const auto next = [&state](Clock::time_point deadline) -> Result<std::optional<Event>> {
    while (true) {
      auto answer = state.Receive(deadline);
      if (!answer) return tl::unexpected(answer.error());
      if (!*answer) return std::optional<Event>();
      if (auto* event = std::get_if<Event>(&**answer))
        return std::optional<Event>(std::move(*event));
    }
  };
  auto event = next(Clock::now() + std::clamp<Duration>(timeout, Duration::zero(), kLongestWait));
  if (!event || *event || timeout <= Duration::zero()) return event;
  // A daemon that was killed says nothing: look whether somebody still listens.
  const auto probed = Probe(state.path);
  if (probed) return event;
  // What it said before it ended may still be on its way through our own socket.
  event = next(Clock::now() + kLastWords);
  if (event && *event) return event;
  return tl::unexpected(probed.error());
}

}  // namespace covey::api
