#include "covey/api/server.h"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <thread>
#include <vector>
#include <zmq.hpp>

#include "api/messages.h"
#include "covey/api/client.h"
#include "covey/api/version.h"
#include "unit/api/fake_daemon.h"

namespace covey::api {
namespace {

using namespace std::chrono_literals;

using test::ApiServer;
using test::FakeDaemon;

TEST_F(ApiServer, AnswersStatusAndCommands) {
  Serve();
  Client client = Connected();
  auto status = client.GetStatus();
  ASSERT_TRUE(status.has_value()) << status.error().Format();
  EXPECT_EQ(status->name, "fake");
  EXPECT_FALSE(status->paused);
  EXPECT_TRUE(client.Do(Command::kPause)->paused);
  EXPECT_FALSE(client.Do(Command::kResume)->paused);
  const auto refused = client.Do(Command::kLeave);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kTemporary);
  EXPECT_EQ(refused.error().Format(), "fake: not now");
}

TEST_F(ApiServer, SubscribersGetEventsInOrder) {
  Serve();
  Client subscriber = Connected();
  Client other = Connected();
  ASSERT_TRUE(subscriber.Subscribe().has_value());
  ASSERT_TRUE(other.GetStatus().has_value());
  for (int i = 1; i <= 3; ++i) {
    Event event;
    event.batches = static_cast<std::uint64_t>(i);
    server_->Publish(event);
  }
  for (std::uint64_t i = 1; i <= 3; ++i) {
    const auto event = subscriber.NextEvent(20s);
    ASSERT_TRUE(event.has_value() && event->has_value());
    EXPECT_EQ((*event)->batches, i);
    EXPECT_EQ((*event)->sequence, i);
  }
  const auto none = other.NextEvent(0s);
  ASSERT_TRUE(none.has_value());
  EXPECT_FALSE(none->has_value());
}

TEST_F(ApiServer, EventsBetweenRequestAndReplyAreKept) {
  Serve();
  Client client = Connected();
  ASSERT_TRUE(client.Subscribe().has_value());
  server_->Publish({});
  ASSERT_TRUE(client.GetStatus().has_value());
  server_->Publish({});
  ASSERT_TRUE(client.GetStatus().has_value());
  EXPECT_TRUE(client.NextEvent(20s)->has_value());
  EXPECT_TRUE(client.NextEvent(20s)->has_value());
}

TEST_F(ApiServer, SubscribersAreLimited) {
  Serve();
  std::vector<Client> clients;
  for (std::size_t i = 0; i < kMaxSubscribers; ++i) {
    clients.push_back(Connected());
    ASSERT_TRUE(clients.back().Subscribe().has_value());
  }
  ASSERT_TRUE(clients[0].Subscribe().has_value());  // again: the same one
  Client one_more = Connected();
  const auto refused = one_more.Subscribe();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kTemporary);
}

TEST_F(ApiServer, SubscriberThatLeftMakesRoom) {
  Serve();
  {
    std::vector<Client> clients;
    for (std::size_t i = 0; i < kMaxSubscribers; ++i) {
      clients.push_back(Connected());
      ASSERT_TRUE(clients.back().Subscribe().has_value());
    }
  }
  // The server learns of it when it sends; libzmq reports hung up clients a moment later.
  for (int attempt = 0; attempt < 1000; ++attempt) {
    server_->Publish({});
    Client client = Connected();
    if (client.Subscribe()) return;
  }
  FAIL() << "the places of subscribers that left are never free again";
}

TEST_F(ApiServer, SocketAndDirectoryArePrivate) {
  Serve();
  EXPECT_EQ(Mode(folder_ + "/s"), 0700);
  EXPECT_EQ(Mode(path_), 0600);
  EXPECT_EQ(server_->endpoint(), "ipc://" + path_);
}

TEST_F(ApiServer, SecondServerIsRefusedAndTheFirstGoesOn) {
  Serve();
  const auto second = Server::Open(path_);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::kCantCreate);
  EXPECT_TRUE(Connected().GetStatus().has_value());
}

TEST_F(ApiServer, StaleSocketIsReplaced) {
  ::mkdir((folder_ + "/s").c_str(), 0700);
  const int stale = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path_.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(stale, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::close(stale);
  const auto refused = Client::Connect(path_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(refused.error().Format().find("nobody listens"), std::string::npos);
  Serve();
  EXPECT_TRUE(Connected().GetStatus().has_value());
}

TEST_F(ApiServer, SocketGoesWithItsServer) {
  Serve();
  Stop();
  const auto client = Client::Connect(path_);
  ASSERT_FALSE(client.has_value());
  EXPECT_EQ(client.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(client.error().Format(), "cannot reach the daemon at ipc://" + path_ +
                                         " (no such file); is it running? systemctl status covey; "
                                         "another socket: --socket or --config");
}

TEST_F(ApiServer, AFileInTheWayIsNotRemoved) {
  ::mkdir((folder_ + "/s").c_str(), 0700);
  std::ofstream(path_) << "precious";
  const auto server = Server::Open(path_);
  ASSERT_FALSE(server.has_value());
  EXPECT_EQ(server.error().code, ErrorCode::kCantCreate);
  EXPECT_EQ(Mode(path_) & 0400, 0400);
}

TEST_F(ApiServer, DirectoriesThatOthersMayWriteAreRefused) {
  ::mkdir((folder_ + "/s").c_str(), 0700);
  ::chmod((folder_ + "/s").c_str(), 0720);
  EXPECT_EQ(Server::Open(path_).error().code, ErrorCode::kCantCreate);
  ::chmod((folder_ + "/s").c_str(), 0702);
  EXPECT_EQ(Server::Open(path_).error().code, ErrorCode::kCantCreate);
  ::chmod((folder_ + "/s").c_str(), 0755);
  EXPECT_TRUE(Server::Open(path_).has_value());
}

TEST_F(ApiServer, PathsEndAtTheirLimit) {
  const auto padded = [this](std::size_t size) {
    std::string path = folder_ + "/s/";
    return path + std::string(size - path.size(), 'p');
  };
  path_ = padded(kMaxSocketPath);
  Serve();
  EXPECT_TRUE(Connected().GetStatus().has_value());
  Stop();
  ::unlink((path_ + ".lock").c_str());
  EXPECT_EQ(Server::Open(padded(kMaxSocketPath + 1)).error().code, ErrorCode::kConfig);
  EXPECT_EQ(Client::Connect(padded(kMaxSocketPath + 1)).error().code, ErrorCode::kConfig);
  EXPECT_EQ(Server::Open("relative.sock").error().code, ErrorCode::kConfig);
  EXPECT_EQ(Client::Connect("").error().code, ErrorCode::kConfig);
}

TEST_F(ApiServer, SilentDaemonIsAnErrorInTime) {
  auto server = Server::Open(path_);  // nobody polls it
  ASSERT_TRUE(server.has_value());
  auto client = Client::Connect("ipc://" + path_, 20ms);
  ASSERT_TRUE(client.has_value());
  const auto status = client->GetStatus();
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(status.error().Format().find("within 20ms"), std::string::npos);
}

TEST_F(ApiServer, DeadDaemonEndsTheWaitForEvents) {
  Serve();
  Client client = Connected();
  ASSERT_TRUE(client.Subscribe().has_value());
  Stop();
  const auto event = client.NextEvent(10ms);
  ASSERT_FALSE(event.has_value());
  EXPECT_EQ(event.error().code, ErrorCode::kUnavailable);
}

TEST_F(ApiServer, LastWordsOfADaemonAreHeard) {
  for (int i = 0; i < 20; ++i) {
    Serve();
    Client client = Connected();
    ASSERT_TRUE(client.Subscribe().has_value());
    server_->Publish({});
    Stop();
    const auto event = client.NextEvent(1ns);
    ASSERT_TRUE(event.has_value()) << event.error().Format();
    EXPECT_TRUE(event->has_value());
  }
}

TEST_F(ApiServer, TooLargeStatusIsAnErrorAndNotSilence) {
  Serve();
  daemon_.endpoints = 8000;  // 1.6 MB
  const auto status = Connected().GetStatus();
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kSoftware);
}

// Raw clients: what the library never sends.
TEST_F(ApiServer, MalformedRequestsAreCountedAndChangeNothing) {
  Serve();
  zmq::context_t context(1);
  zmq::socket_t raw(context, zmq::socket_type::dealer);
  raw.set(zmq::sockopt::linger, 0);
  raw.connect("ipc://" + path_);
  raw.send(zmq::str_buffer("\xff\xff\xff"), zmq::send_flags::none);
  raw.send(zmq::str_buffer("two"), zmq::send_flags::sndmore);
  raw.send(zmq::str_buffer("parts"), zmq::send_flags::none);
  const std::string good = EncodeRequest({5, RequestKind::kStatus});
  raw.send(zmq::buffer(good), zmq::send_flags::none);
  zmq::message_t answer;
  raw.set(zmq::sockopt::rcvtimeo, 20000);
  ASSERT_TRUE(raw.recv(answer).has_value());
  EXPECT_EQ(std::get<Reply>(*DecodeAnswer(answer.to_string_view())).id, 5u);
  EndThread();
  EXPECT_EQ(server_->counters().malformed, 2u);
  EXPECT_EQ(server_->counters().requests, 1u);
}

TEST_F(ApiServer, OversizedRequestsAreCutBeforeTheyAreStored) {
  Serve();
  zmq::context_t context(1);
  zmq::socket_t raw(context, zmq::socket_type::dealer);
  raw.set(zmq::sockopt::linger, 0);
  raw.set(zmq::sockopt::rcvtimeo, 200);
  raw.connect("ipc://" + path_);
  // A valid request with padding that a parser would pass over; libzmq hangs up instead.
  std::string big = EncodeRequest({6, RequestKind::kStatus});
  const std::size_t length = kMaxRequest;
  big += '\x7a';
  big += static_cast<char>((length & 0x7f) | 0x80);
  big += static_cast<char>(length >> 7);
  big.append(length, 'x');
  raw.send(zmq::buffer(big), zmq::send_flags::none);
  zmq::message_t answer;
  EXPECT_FALSE(raw.recv(answer).has_value());
  EXPECT_TRUE(Connected().GetStatus().has_value());
  EndThread();
  EXPECT_EQ(server_->counters().malformed, 0u);  // it never came as far as the parser
}

TEST_F(ApiServer, NewerRequestsAreAnsweredWithAnError) {
  Serve();
  zmq::context_t context(1);
  zmq::socket_t raw(context, zmq::socket_type::dealer);
  raw.set(zmq::sockopt::linger, 0);
  raw.set(zmq::sockopt::rcvtimeo, 20000);
  raw.connect("ipc://" + path_);
  const std::string request = EncodeRequest({8, RequestKind::kUnknown});
  raw.send(zmq::buffer(request), zmq::send_flags::none);
  zmq::message_t answer;
  ASSERT_TRUE(raw.recv(answer).has_value());
  const auto reply = std::get<Reply>(*DecodeAnswer(answer.to_string_view()));
  ASSERT_FALSE(reply.result.has_value());
  EXPECT_EQ(reply.result.error().code, ErrorCode::kProtocol);
}

TEST(ApiVersion, NamesEverythingThatMatters) {
  const std::string line = VersionLine("coveyd");
  EXPECT_EQ(line.rfind("coveyd 0.", 0), 0u) << line;
  for (const char* part : {"(git ", "protocol ", "linux/", "kernels ", "zmq 4.3.", "protobuf 3."}) {
    EXPECT_NE(line.find(part), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace covey::api
