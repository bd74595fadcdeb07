#include "covey/control/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "covey/api/server.h"
#include "unit/control/echo_handler.h"

namespace covey::control {
namespace {

// A connection that speaks bytes.
class Plain {
 public:
  explicit Plain(const std::string& endpoint) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port =
        htons(static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  }
  ~Plain() { ::close(socket_); }
  Plain(const Plain&) = delete;
  Plain& operator=(const Plain&) = delete;

  void Send(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t sent = ::send(socket_, text.data() + at, text.size() - at, MSG_NOSIGNAL);
      if (sent <= 0) return;
      at += static_cast<std::size_t>(sent);
    }
  }
  // Returns: what comes until `end` is in it, or until the other side closes.
  std::string ReadUntil(const std::string& end) {
    std::string text;
    char block[4096];
    while (text.find(end) == std::string::npos) {
      const ssize_t got = ::recv(socket_, block, sizeof block, 0);
      if (got <= 0) break;
      text.append(block, static_cast<std::size_t>(got));
    }
    return text;
  }

 private:
  int socket_;
};

std::string Question(const std::string& body, std::size_t length) {
  return "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
         "Content-Length: " +
         std::to_string(length) + "\r\n\r\n" + body;
}
std::string Question(const std::string& body) { return Question(body, body.size()); }

class HttpServerTest : public testing::Test {
 protected:
  HttpServerTest() {
    auto opened = HttpServer::Open({"127.0.0.1", 0});
    EXPECT_TRUE(opened.has_value());
    server_ = std::move(*opened);
    server_->Serve(handler_);
  }

  test::EchoHandler handler_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersManyQuestionsOnOneConnection) {
  Plain client(server_->endpoint());
  for (int i = 0; i < 3; ++i) {
    client.Send(Question(R"({"samples": [[1, 2]]})"));
    const std::string got = client.ReadUntil("}\n");
    EXPECT_TRUE(got.starts_with("HTTP/1.1 200 OK\r\n")) << got;
    EXPECT_NE(got.find("application/json"), std::string::npos);
  }
}

TEST_F(HttpServerTest, TooLargeABodyIsRefusedBeforeItIsRead) {
  Plain client(server_->endpoint());
  client.Send(Question("", api::kMaxRequest + 1));
  EXPECT_NE(client.ReadUntil("}\n").find("413"), std::string::npos);
}

TEST_F(HttpServerTest, WhatIsNotHttpIsRefused) {
  Plain client(server_->endpoint());
  client.Send("\x01\x02 what\r\n\r\n");
  EXPECT_NE(client.ReadUntil("}\n").find("400"), std::string::npos);
  EXPECT_EQ(handler_.asked, 0);
}

TEST_F(HttpServerTest, MoreClientsThanPlacesAreServedInTurn) {
  std::vector<std::unique_ptr<Plain>> silent;
  for (std::size_t i = 0; i < HttpServer::kMaxConnections; ++i) {
    silent.push_back(std::make_unique<Plain>(server_->endpoint()));
  }
  Plain late(server_->endpoint());
  late.Send(Question(R"({"samples": [[1, 2]]})"));
  silent.pop_back();
  silent.clear();
  EXPECT_NE(late.ReadUntil("}\n").find("200 OK"), std::string::npos);
}

TEST_F(HttpServerTest, StopsWhileClientsAreConnected) {
  Plain client(server_->endpoint());
  client.Send("POST /v1/pre");
  server_->Stop();
  server_.reset();
  EXPECT_EQ(client.ReadUntil("x"), "");
}

TEST(HttpServer, StaysOnThisMachine) {
  EXPECT_EQ(HttpServer::Open({"0.0.0.0", 0}).error().code, ErrorCode::kConfig);
  const auto first = HttpServer::Open({"127.0.0.1", 0});
  ASSERT_TRUE(first.has_value());
  const std::string& at = (*first)->endpoint();
  const auto port = static_cast<std::uint16_t>(std::stoi(at.substr(at.rfind(':') + 1)));
  EXPECT_EQ(HttpServer::Open({"127.0.0.1", port}).error().code, ErrorCode::kCantCreate);
}

}  // namespace
}  // namespace covey::control
