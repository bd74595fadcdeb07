#include "api/messages.h"

#include <covey/v1/api.pb.h>

#include "api/live_messages.h"
#include "api/member_messages.h"
#include "api/prediction_messages.h"
#include "covey/api/server.h"

namespace covey::api {
namespace {

constexpr int kMaxElements = 8192;  // peers, rejects, endpoints: each

tl::unexpected<Error> Unreadable(std::string what) {
  return Fail(ErrorCode::kProtocol, "local API", std::move(what),
              "covey and coveyd may be of different versions");
}

// --- structs to protobuf ---

void Put(const Metrics& from, v1::ApiMetrics* to) {
  if (from.top5) to->set_top5(*from.top5);
  if (from.mean_squared_error) to->set_mean_squared_error(*from.mean_squared_error);
  if (from.mean_absolute_error) to->set_mean_absolute_error(*from.mean_absolute_error);
  if (from.r2) to->set_r2(*from.r2);
}

void Put(const Score& from, v1::ApiScore* to) {
  to->set_epoch(from.epoch);
  if (from.validation_loss) to->set_validation_loss(*from.validation_loss);
  if (from.validation_accuracy) to->set_validation_accuracy(*from.validation_accuracy);
  if (from.test_loss) to->set_test_loss(*from.test_loss);
  if (from.test_accuracy) to->set_test_accuracy(*from.test_accuracy);
  Put(from.validation_metrics, to->mutable_validation_metrics());
  Put(from.test_metrics, to->mutable_test_metrics());
}

void Put(const FinalResults& from, v1::ApiFinal* to) {
  Put(from.best, to->mutable_best());
  Put(from.last, to->mutable_last());
  for (const std::uint32_t count : from.confusion) to->add_confusion(count);
}

void Put(const Evaluation& from, v1::ApiEvaluation* to) {
  to->set_epoch(from.epoch);
  to->set_batches(from.batches);
  to->set_loss(from.loss);
  if (from.accuracy) to->set_accuracy(*from.accuracy);
  to->set_time_ns(from.time_ns);
  Put(from.metrics, to->mutable_metrics());
}

void Put(const Traffic& from, v1::ApiTraffic* to) {
  to->set_weights_sent(from.weights_sent);
  to->set_weights_dropped(from.weights_dropped);
  to->set_deltas_sent(from.deltas_sent);
  to->set_deltas_dropped(from.deltas_dropped);
  to->set_weights_received(from.weights_received);
  to->set_deltas_received(from.deltas_received);
  to->set_bytes_sent(from.bytes_sent);
  to->set_bytes_received(from.bytes_received);
  to->set_resumed(from.resumed);
  to->set_send_rate(from.send_rate);
  if (from.quota_left) to->set_quota_left(*from.quota_left);
}

void PutPeers(const NodeStatus& from, v1::ApiStatus* to) {
  for (const Peer& peer : from.peers) {
    v1::ApiPeer* out = to->add_peers();
    out->set_key(peer.key);
    out->set_address(peer.address);
    out->set_state(peer.state);
    out->set_since_seconds(peer.since_seconds);
    if (peer.rtt_seconds) out->set_rtt_seconds(*peer.rtt_seconds);
  }
  PutMembers(from, to);
  for (const auto& [reason, count] : from.rejects) {
    v1::ApiReject* out = to->add_rejects();
    out->set_reason(reason);
    out->set_count(count);
  }
  for (const std::string& endpoint : from.endpoints) to->add_endpoints(endpoint);
}

void PutProgress(const NodeStatus& from, v1::ApiStatus* to) {
  to->set_epochs(from.epochs);
  to->set_batches(from.batches);
  to->set_until_batches(from.until_batches);
  to->set_rounds(from.rounds);
  to->set_samples(from.samples);
  to->set_samples_per_second(from.samples_per_second);
  to->set_first_batch_ns(from.first_batch_ns);
  to->set_last_batch_ns(from.last_batch_ns);
  to->set_train_loss(from.train_loss);
  if (from.last_evaluation) Put(*from.last_evaluation, to->mutable_last_evaluation());
  if (from.best_evaluation) Put(*from.best_evaluation, to->mutable_best_evaluation());
  to->set_evaluations_skipped(from.evaluations_skipped);
  if (from.final_results) Put(*from.final_results, to->mutable_final_results());
}

void Put(const NodeStatus& from, v1::ApiStatus* to) {
  to->set_name(from.name);
  to->set_key(from.key);
  to->set_fleet(from.fleet);
  to->set_pid(from.pid);
  to->set_version(from.version);
  to->set_build(from.build);
  to->set_kernel_level(from.kernel_level);
  to->set_protocol(from.protocol);
  to->set_model(from.model);
  to->set_parameters(from.parameters);
  to->set_state(static_cast<v1::ApiState>(from.state));
  to->set_paused(from.paused);
  to->set_uptime_seconds(from.uptime_seconds);
  PutProgress(from, to);
  Put(from.traffic, to->mutable_traffic());
  PutPeers(from, to);
  to->set_fifo_size(from.fifo_size);
  to->set_fifo_bytes(from.fifo_bytes);
  to->set_fifo_evicted(from.fifo_evicted);
  to->set_api_socket(from.api_socket);
  to->set_pss_bytes(from.pss_bytes);
  to->set_peak_pss_bytes(from.peak_pss_bytes);
  v1::ApiCheckpoint* checkpoint = to->mutable_checkpoint();
  checkpoint->set_path(from.checkpoint.path);
  checkpoint->set_batches(from.checkpoint.batches);
  checkpoint->set_age_seconds(from.checkpoint.age_seconds);
  checkpoint->set_written(from.checkpoint.written);
  checkpoint->set_failures(from.checkpoint.failures);
  if (from.live) Put(*from.live, to->mutable_live());
}

// --- protobuf to structs ---

Result<State> ToState(v1::ApiState state) {
  if (!v1::ApiState_IsValid(state)) {
    return Unreadable("unknown state " + std::to_string(static_cast<int>(state)));
  }
  return static_cast<State>(state);
}

Metrics ToMetrics(const v1::ApiMetrics& from) {
  Metrics to;
  if (from.has_top5()) to.top5 = from.top5();
  if (from.has_mean_squared_error()) to.mean_squared_error = from.mean_squared_error();
  if (from.has_mean_absolute_error()) to.mean_absolute_error = from.mean_absolute_error();
  if (from.has_r2()) to.r2 = from.r2();
  return to;
}

Score ToScore(const v1::ApiScore& from) {
  Score to;
  to.epoch = from.epoch();
  if (from.has_validation_loss()) to.validation_loss = from.validation_loss();
  if (from.has_validation_accuracy()) to.validation_accuracy = from.validation_accuracy();
  if (from.has_test_loss()) to.test_loss = from.test_loss();
  if (from.has_test_accuracy()) to.test_accuracy = from.test_accuracy();
  to.validation_metrics = ToMetrics(from.validation_metrics());
  to.test_metrics = ToMetrics(from.test_metrics());
  return to;
}

FinalResults ToFinal(const v1::ApiFinal& from) {
  return {ToScore(from.best()),
          ToScore(from.last()),
          {from.confusion().begin(), from.confusion().end()}};
}

Evaluation ToEvaluation(const v1::ApiEvaluation& from) {
  Evaluation to;
  to.epoch = from.epoch();
  to.batches = from.batches();
  to.loss = from.loss();
  if (from.has_accuracy()) to.accuracy = from.accuracy();
  to.time_ns = from.time_ns();
  to.metrics = ToMetrics(from.metrics());
  return to;
}

Traffic ToTraffic(const v1::ApiTraffic& from) {
  Traffic to;
  to.weights_sent = from.weights_sent();
  to.weights_dropped = from.weights_dropped();
  to.deltas_sent = from.deltas_sent();
  to.deltas_dropped = from.deltas_dropped();
  to.weights_received = from.weights_received();
  to.deltas_received = from.deltas_received();
  to.bytes_sent = from.bytes_sent();
  to.bytes_received = from.bytes_received();
  to.resumed = from.resumed();
  to.send_rate = from.send_rate();
  if (from.has_quota_left()) to.quota_left = from.quota_left();
  return to;
}

void TakePeers(const v1::ApiStatus& from, NodeStatus& to) {
  for (const v1::ApiPeer& in : from.peers()) {
    Peer peer{in.key(), in.address(), in.state(), in.since_seconds(), std::nullopt};
    if (in.has_rtt_seconds()) peer.rtt_seconds = in.rtt_seconds();
    to.peers.push_back(std::move(peer));
  }
  TakeMembers(from, to);
  for (const v1::ApiReject& in : from.rejects()) to.rejects.emplace_back(in.reason(), in.count());
  for (const std::string& in : from.endpoints()) to.endpoints.push_back(in);
}

void TakeProgress(const v1::ApiStatus& from, NodeStatus& to) {
  to.epochs = from.epochs();
  to.batches = from.batches();
  to.until_batches = from.until_batches();
  to.rounds = from.rounds();
  to.samples = from.samples();
  to.samples_per_second = from.samples_per_second();
  to.first_batch_ns = from.first_batch_ns();
  to.last_batch_ns = from.last_batch_ns();
  to.train_loss = from.train_loss();
  if (from.has_last_evaluation()) to.last_evaluation = ToEvaluation(from.last_evaluation());
  if (from.has_best_evaluation()) to.best_evaluation = ToEvaluation(from.best_evaluation());
  to.evaluations_skipped = from.evaluations_skipped();
  if (from.has_final_results()) to.final_results = ToFinal(from.final_results());
}

Result<NodeStatus> ToStatus(const v1::ApiStatus& from) {
  if (from.peers_size() > kMaxElements || from.rejects_size() > kMaxElements ||
      from.endpoints_size() > kMaxElements || from.members_size() > kMaxElements) {
    return Unreadable("a status with more than " + std::to_string(kMaxElements) + " elements");
  }
  const auto state = ToState(from.state());
  if (!state) return tl::unexpected(state.error());
  NodeStatus to;
  to.name = from.name();
  to.key = from.key();
  to.fleet = from.fleet();
  to.pid = from.pid();
  to.version = from.version();
  to.build = from.build();
  to.kernel_level = from.kernel_level();
  to.protocol = from.protocol();
  to.model = from.model();
  to.parameters = from.parameters();
  to.state = *state;
  to.paused = from.paused();
  to.uptime_seconds = from.uptime_seconds();
  TakeProgress(from, to);
  to.traffic = ToTraffic(from.traffic());
  TakePeers(from, to);
  to.fifo_size = from.fifo_size();
  to.fifo_bytes = from.fifo_bytes();
  to.fifo_evicted = from.fifo_evicted();
  to.api_socket = from.api_socket();
  to.pss_bytes = from.pss_bytes();
  to.peak_pss_bytes = from.peak_pss_bytes();
  const v1::ApiCheckpoint& checkpoint = from.checkpoint();
  if (from.has_live()) to.live = ToLive(from.live());
  to.checkpoint = {checkpoint.path(), checkpoint.batches(), checkpoint.age_seconds(),
                   checkpoint.written(), checkpoint.failures()};
  return to;
}

Result<Event> ToEvent(const v1::ApiEvent& from) {
  if (!v1::ApiEventKind_IsValid(from.kind()) || from.kind() == v1::API_EVENT_KIND_NONE) {
    return Unreadable("unknown event " + std::to_string(static_cast<int>(from.kind())));
  }
  const auto state = ToState(from.state());
  if (!state) return tl::unexpected(state.error());
  Event to;
  to.kind = static_cast<Event::Kind>(static_cast<int>(from.kind()) - 1);
  to.sequence = from.sequence();
  to.state = *state;
  to.paused = from.paused();
  to.evaluation = ToEvaluation(from.evaluation());
  to.final_results = ToFinal(from.final_results());
  to.epochs = from.epochs();
  to.batches = from.batches();
  return to;
}

// Values outside what a program may exit with would turn a failure into a success.
ErrorCode ToErrorCode(int code) {
  constexpr ErrorCode kKnown[] = {
      ErrorCode::kUsage,    ErrorCode::kData,         ErrorCode::kNoInput, ErrorCode::kUnavailable,
      ErrorCode::kSoftware, ErrorCode::kCantCreate,   ErrorCode::kIo,      ErrorCode::kTemporary,
      ErrorCode::kProtocol, ErrorCode::kNoPermission, ErrorCode::kConfig};
  for (const ErrorCode known : kKnown) {
    if (static_cast<int>(known) == code) return known;
  }
  return ErrorCode::kSoftware;
}

template <class Message>
bool Parse(Message& message, std::string_view bytes) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace

std::string EncodeRequest(const Request& request) {
  v1::ClientMessage message;
  message.mutable_request()->set_id(request.id);
  message.mutable_request()->set_command(static_cast<v1::ApiCommand>(request.kind));
  if (request.kind == RequestKind::kPredict) {
    Put(request.question, message.mutable_request()->mutable_predict());
  }
  if (request.kind == RequestKind::kPush) {
    Put(request.samples, message.mutable_request()->mutable_push());
  }
  message.mutable_request()->set_peer(request.peer);
  message.mutable_request()->set_record(request.record);
  return message.SerializeAsString();
}

std::string EncodeReply(const Reply& reply) {
  v1::ServerMessage message;
  v1::ApiReply* out = message.mutable_reply();
  out->set_id(reply.id);
  out->set_ok(reply.result.has_value());
  if (reply.result && reply.predictions) {
    Put(*reply.predictions, out->mutable_prediction());
  } else if (reply.result && reply.pushed) {
    Put(*reply.pushed, out->mutable_pushed());
  } else if (reply.result && reply.input) {
    Put(*reply.input, out->mutable_input());
  } else if (reply.result) {
    Put(*reply.result, out->mutable_status());
  } else {
    out->set_error(reply.result.error().Format());
    out->set_exit_code(static_cast<int>(reply.result.error().code));
  }
  return message.SerializeAsString();
}

std::string EncodeEvent(const Event& event) {
  v1::ServerMessage message;
  v1::ApiEvent* out = message.mutable_event();
  out->set_kind(static_cast<v1::ApiEventKind>(static_cast<int>(event.kind) + 1));
  out->set_sequence(event.sequence);
  out->set_state(static_cast<v1::ApiState>(event.state));
  out->set_paused(event.paused);
  out->set_epochs(event.epochs);
  out->set_batches(event.batches);
  if (event.kind == Event::Kind::kEvaluated) Put(event.evaluation, out->mutable_evaluation());
  if (event.kind == Event::Kind::kFinished) Put(event.final_results, out->mutable_final_results());
  return message.SerializeAsString();
}

Result<Request> DecodeRequest(std::string_view bytes) {
  if (bytes.size() > kMaxRequest) {
    return Unreadable("a request of " + std::to_string(bytes.size()) + " bytes, at most " +
                      std::to_string(kMaxRequest) + " are allowed");
  }
  v1::ClientMessage message;
  if (!Parse(message, bytes) || !message.has_request()) {
    return Unreadable("a request that can't be parsed");
  }
  const v1::ApiRequest& request = message.request();
  const bool known = v1::ApiCommand_IsValid(request.command());
  Request to;
  to.id = request.id();
  to.kind = known ? static_cast<RequestKind>(request.command()) : RequestKind::kUnknown;
  to.question = ToQuestion(request.predict());
  if (to.kind == RequestKind::kPush) to.samples = ToSamples(request.push());
  to.peer = request.peer();
  to.record = request.record();
  return to;
}

Result<std::variant<Reply, Event>> DecodeAnswer(std::string_view bytes) {
  if (bytes.size() > kMaxAnswer) {
    return Unreadable("an answer of " + std::to_string(bytes.size()) + " bytes, at most " +
                      std::to_string(kMaxAnswer) + " are allowed");
  }
  v1::ServerMessage message;
  if (!Parse(message, bytes)) return Unreadable("an answer that can't be parsed");
  if (message.has_event()) {
    auto event = ToEvent(message.event());
    if (!event) return tl::unexpected(event.error());
    return std::variant<Reply, Event>(std::move(*event));
  }
  if (!message.has_reply()) return Unreadable("an answer of an unknown kind");
  const v1::ApiReply& reply = message.reply();
  if (!reply.ok()) {
    return std::variant<Reply, Event>(
        Reply{reply.id(), Fail(ToErrorCode(reply.exit_code()), "", reply.error())});
  }
  Reply to{reply.id(), NodeStatus{}};
  if (reply.has_prediction()) {
    to.predictions = ToPredictions(reply.prediction());
  } else if (reply.has_pushed()) {
    to.pushed = ToPushed(reply.pushed());
  } else if (reply.has_input()) {
    to.input = ToInputForm(reply.input());
  } else {
    to.result = ToStatus(reply.status());
    if (!to.result) return tl::unexpected(to.result.error());
  }
  return std::variant<Reply, Event>(std::move(to));
}

}  // namespace covey::api
