#include "api/messages.h"

#include <covey/v1/api.pb.h>
#include <gtest/gtest.h>

#include "covey/api/server.h"

namespace covey::api {
namespace {

// Every field has a value of its own, so that a swapped or forgotten one shows.
NodeStatus FullStatus() {
  NodeStatus s;
  s.name = "r1";
  s.key = "aa";
  s.fleet = "f";
  s.pid = 7;
  s.version = "0.1.0";
  s.build = "abc";
  s.kernel_level = "v3";
  s.protocol = 3;
  s.model = "mlp 784-72-10";
  s.parameters = 57250;
  s.state = State::kSettling;
  s.paused = true;
  s.uptime_seconds = 1.5;
  s.epochs = 2.5;
  s.batches = 11;
  s.until_batches = 12;
  s.rounds = 13;
  s.samples = 14;
  s.samples_per_second = 15.5;
  s.first_batch_ns = 16;
  s.last_batch_ns = 17;
  s.train_loss = 0.75;
  s.last_evaluation = Evaluation{1.5, 18, 0.5, 0.8, 19};
  s.best_evaluation = Evaluation{1.25, 20, 0.4, 0.9, 21};
  s.evaluations_skipped = 22;
  s.final_results = FinalResults{{1.0, 0.1, 0.2, 0.3, 0.4}, {2.0, 0.5, 0.6, std::nullopt, 0.8}};
  s.traffic = {23, 24, 25, 26, 27, 28, 29, 30, 33, 31.5, 32};
  s.rejects = {{"size", 31}, {"fleet", 32}};
  s.fifo_size = 33;
  s.fifo_bytes = 34;
  s.fifo_evicted = 35;
  s.peers = {{"bb", "tcp://h:1", "up", 36.5, 0.25}, {"cc", "", "down", 37.5, std::nullopt}};
  s.endpoints = {"tcp://127.0.0.1:1", "tcp://127.0.0.1:2"};
  s.api_socket = "/run/a.sock";
  s.pss_bytes = 38;
  s.peak_pss_bytes = 39;
  s.checkpoint = {"/c", 40, 41.5, 42, 43};
  Member& member = s.members.emplace_back();
  member.key = "dd";
  member.state = "dead";
  member.reason = "left";
  member.since_seconds = 44.5;
  member.rtt_seconds = 45.5;
  member.pings = 46;
  member.pongs = 47;
  s.admissions = Admissions{48, 49, 50};
  return s;
}

std::string Text(const NodeStatus& status) { return EncodeReply(Reply{1, status}); }

TEST(ApiMessages, StatusSurvivesTheWayThere) {
  const NodeStatus sent = FullStatus();
  auto answer = DecodeAnswer(EncodeReply(Reply{9, sent}));
  ASSERT_TRUE(answer.has_value());
  const auto& reply = std::get<Reply>(*answer);
  EXPECT_EQ(reply.id, 9u);
  ASSERT_TRUE(reply.result.has_value());
  const NodeStatus& got = *reply.result;
  EXPECT_EQ(Text(got), Text(sent));  // nothing lost or swapped on the way back
  EXPECT_EQ(got.name, "r1");
  EXPECT_EQ(got.state, State::kSettling);
  EXPECT_EQ(got.final_results->last.test_loss, std::nullopt);
  EXPECT_EQ(got.final_results->last.test_accuracy, 0.8);
  EXPECT_EQ(got.traffic.bytes_received, 30u);
  EXPECT_EQ(got.peers[1].rtt_seconds, std::nullopt);
  EXPECT_EQ(got.checkpoint.failures, 43u);
  ASSERT_EQ(got.members.size(), 1u);
  EXPECT_EQ(got.members[0].pongs, 47u);
  ASSERT_TRUE(got.admissions.has_value());
  EXPECT_EQ(got.admissions->let_in, 50u);
}

TEST(ApiMessages, AbsentPartsStayAbsent) {
  auto answer = DecodeAnswer(EncodeReply(Reply{1, NodeStatus{}}));
  ASSERT_TRUE(answer.has_value());
  const NodeStatus& got = *std::get<Reply>(*answer).result;
  EXPECT_FALSE(got.last_evaluation || got.best_evaluation || got.final_results || got.admissions);
}

TEST(ApiMessages, ErrorsKeepTheirCode) {
  auto answer =
      DecodeAnswer(EncodeReply(Reply{2, Fail(ErrorCode::kTemporary, "coveyd", "not now")}));
  ASSERT_TRUE(answer.has_value());
  const auto& reply = std::get<Reply>(*answer);
  ASSERT_FALSE(reply.result.has_value());
  EXPECT_EQ(reply.result.error().code, ErrorCode::kTemporary);
  EXPECT_EQ(reply.result.error().Format(), "coveyd: not now");
}

TEST(ApiMessages, AnErrorNeverBecomesSuccess) {
  v1::ServerMessage message;
  message.mutable_reply()->set_error("odd");
  message.mutable_reply()->set_exit_code(0);
  auto answer = DecodeAnswer(message.SerializeAsString());
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(ExitCode(std::get<Reply>(*answer).result.error()), 70);
}

TEST(ApiMessages, EventsSurvive) {
  Event event;
  event.kind = Event::Kind::kFinished;
  event.sequence = 5;
  event.state = State::kLeaving;
  event.epochs = 1.5;
  event.batches = 6;
  event.final_results.best.test_accuracy = 0.875;
  auto answer = DecodeAnswer(EncodeEvent(event));
  ASSERT_TRUE(answer.has_value());
  const auto& got = std::get<Event>(*answer);
  EXPECT_EQ(got.kind, Event::Kind::kFinished);
  EXPECT_EQ(got.sequence, 5u);
  EXPECT_EQ(got.state, State::kLeaving);
  EXPECT_EQ(got.batches, 6u);
  EXPECT_EQ(got.final_results.best.test_accuracy, 0.875);

  event.kind = Event::Kind::kEvaluated;
  event.evaluation = {1, 2, 3, 0.5, 4};
  answer = DecodeAnswer(EncodeEvent(event));
  EXPECT_EQ(std::get<Event>(*answer).evaluation.accuracy, 0.5);
}

TEST(ApiMessages, EveryRequestSurvives) {
  for (const RequestKind kind : {RequestKind::kStatus, RequestKind::kSubscribe, RequestKind::kPause,
                                 RequestKind::kResume, RequestKind::kSettle, RequestKind::kLeave}) {
    const auto got = DecodeRequest(EncodeRequest({77, kind}));
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(got->id, 77u);
    EXPECT_EQ(got->kind, kind);
  }
}

TEST(ApiMessages, RequestsOfNewerClientsAreUnknownNotMalformed) {
  v1::ClientMessage message;
  message.mutable_request()->set_id(3);
  message.mutable_request()->set_command(static_cast<v1::ApiCommand>(99));
  const auto got = DecodeRequest(message.SerializeAsString());
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->kind, RequestKind::kUnknown);
}

TEST(ApiMessages, MalformedOnesAreErrors) {
  EXPECT_FALSE(DecodeRequest("").has_value());
  EXPECT_FALSE(DecodeRequest("\xff\xff\xff").has_value());
  EXPECT_FALSE(DecodeAnswer("").has_value());
  EXPECT_FALSE(DecodeAnswer("\xff\xff\xff").has_value());
  v1::ServerMessage message;
  message.mutable_event()->set_kind(static_cast<v1::ApiEventKind>(99));
  EXPECT_FALSE(DecodeAnswer(message.SerializeAsString()).has_value());
  message.mutable_event()->set_kind(v1::API_EVENT_KIND_NONE);
  EXPECT_FALSE(DecodeAnswer(message.SerializeAsString()).has_value());
  message.mutable_reply()->set_ok(true);
  message.mutable_reply()->mutable_status()->set_state(static_cast<v1::ApiState>(99));
  EXPECT_FALSE(DecodeAnswer(message.SerializeAsString()).has_value());
}

// A message of exactly the limit is read, one byte more is not, whatever it holds.
TEST(ApiMessages, SizesEndAtTheirLimits) {
  std::string request = EncodeRequest({1, RequestKind::kStatus});
  // Field 15, length-delimited, unknown to this version: parsers pass over it.
  const auto pad = [](std::string bytes, std::size_t size) {
    const std::size_t length = size - bytes.size() - 4;
    bytes += '\x7a';
    bytes += static_cast<char>((length & 0x7f) | 0x80);
    bytes += static_cast<char>(((length >> 7) & 0x7f) | 0x80);
    bytes += static_cast<char>(length >> 14);
    return bytes + std::string(length, 'x');
  };
  EXPECT_TRUE(DecodeRequest(pad(request, kMaxRequest)).has_value());
  EXPECT_FALSE(DecodeRequest(pad(request, kMaxRequest + 1)).has_value());
  const std::string answer = EncodeEvent({});
  EXPECT_TRUE(DecodeAnswer(pad(answer, kMaxAnswer)).has_value());
  EXPECT_FALSE(DecodeAnswer(pad(answer, kMaxAnswer + 1)).has_value());
}

TEST(ApiMessages, ListsOfAStatusAreBounded) {
  NodeStatus status;
  status.endpoints.resize(8192);
  EXPECT_TRUE(DecodeAnswer(EncodeReply({1, status})).has_value());
  status.endpoints.resize(8193);
  EXPECT_FALSE(DecodeAnswer(EncodeReply({1, status})).has_value());
}

}  // namespace
}  // namespace covey::api
