// The only source file that sees Boost.Beast.
#include "covey/control/http_server.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <functional>
#include <optional>
#include <utility>

#include "covey/api/server.h"
#include "covey/node/process.h"

namespace covey::control {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using ErrorOf = boost::system::error_code;

constexpr std::uint32_t kMaxHeader = 8 * 1024;

std::string TextOf(beast::string_view text) { return std::string(text.data(), text.size()); }

// What all connections share.
struct Common {
  HttpHandler* handler = nullptr;
  std::size_t connections = 0;
  std::function<void()> ended;  // a connection: another may be accepted
};

// One connection, alive as long as something of it is pending.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Common& common) : stream_(std::move(socket)), common_(common) {
    ++common_.connections;
  }
  ~Connection() {
    --common_.connections;
    common_.ended();
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void Read() {
    parser_.emplace();
    parser_->body_limit(api::kMaxRequest);
    parser_->header_limit(kMaxHeader);
    stream_.expires_after(HttpServer::kIdle);
    http::async_read(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](ErrorOf error, std::size_t) { self->OnRead(error); });
  }

 private:
  void OnRead(ErrorOf error) {
    if (error == http::error::body_limit || error == http::error::header_limit) {
      const std::string most = std::to_string(api::kMaxRequest);
      return Write(HttpError(413, {ErrorCode::kUsage, "request",
                                   "is larger than " + most + " bytes", "ask for fewer samples"}),
                   false);
    }
    // Gone, or silent for too long.
    const bool of_http =
        error.category() == http::make_error_code(http::error::bad_method).category();
    if (error && !of_http) return;
    if (error == http::error::end_of_stream || error == http::error::partial_message) return;
    if (error) {  // not HTTP
      return Write(HttpError(400, {ErrorCode::kUsage, "request", error.message(), {}}), false);
    }
    const http::request<http::string_body>& got = parser_->get();
    HttpRequest request;
    request.method = TextOf(got.method_string());
    request.target = TextOf(got.target());
    request.host = TextOf(got[http::field::host]);
    request.content_type = TextOf(got[http::field::content_type]);
    request.body = got.body();
    Write(Route(request, *common_.handler), got.keep_alive());
  }

  void Write(HttpResponse answer, bool keep_alive) {
    response_ = {};
    response_.version(11);
    response_.result(static_cast<unsigned>(answer.status));
    response_.set(http::field::content_type, "application/json");
    response_.set(http::field::cache_control, "no-store");
    if (!answer.allow.empty()) response_.set(http::field::allow, answer.allow);
    response_.keep_alive(keep_alive);
    response_.body() = std::move(answer.body);
    response_.prepare_payload();
    stream_.expires_after(HttpServer::kIdle);
    http::async_write(stream_, response_,
                      [self = shared_from_this(), keep_alive](ErrorOf error, std::size_t) {
                        if (!error && keep_alive) return self->Read();
                        ErrorOf ignored;
                        self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
                      });
  }

  beast::tcp_stream stream_;
  Common& common_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
};

}  // namespace

struct HttpServer::State {
  ~State() {
    if (thread.joinable()) {
      context.stop();
      thread.join();
    }
  }

  // Accepts one after the other as long as there is room; the end of a connection makes room.
  void Accept() {
    if (accepting || common.connections >= kMaxConnections) return;
    accepting = true;
    acceptor.async_accept([this](ErrorOf error, tcp::socket socket) {
      accepting = false;
      if (error == asio::error::operation_aborted) return;
      if (!error) std::make_shared<Connection>(std::move(socket), common)->Read();
      Accept();
    });
  }

  Common common;  // outlives the connections that the context holds
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  bool accepting = false;
  std::string endpoint;
  std::thread thread;
};

Result<std::unique_ptr<HttpServer>> HttpServer::Open(const config::HostPort& listen) {
  if (!config::IsLoopback(listen.host)) {
    return Fail(ErrorCode::kConfig, "http.listen", "'" + listen.host + "' is not loopback");
  }
  auto state = std::make_unique<State>();
  ErrorOf error;
  const std::string host = listen.host == "localhost" ? "127.0.0.1" : listen.host;
  const auto address = asio::ip::make_address(host, error);
  const tcp::endpoint place(address, listen.port);
  if (!error) state->acceptor.open(place.protocol(), error);
  if (!error) state->acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) state->acceptor.bind(place, error);
  if (!error) state->acceptor.listen(asio::socket_base::max_listen_connections, error);
  const tcp::endpoint bound = error ? place : state->acceptor.local_endpoint(error);
  if (error) {
    return Fail(ErrorCode::kCantCreate, "http.listen", listen.Text() + ": " + error.message(),
                "another port, or 0 for any");
  }
  state->endpoint = "http://" + config::HostPort{listen.host, bound.port()}.Text();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpServer::~HttpServer() { Stop(); }

const std::string& HttpServer::endpoint() const { return state_->endpoint; }

void HttpServer::Serve(HttpHandler& handler) {
  State& state = *state_;
  state.common.handler = &handler;
  state.common.ended = [&state] { state.Accept(); };
  state.Accept();
  state.thread = std::thread([&state] {
    node::NameThread("http");
    state.context.run();
  });
}

void HttpServer::Stop() {
  State& state = *state_;
  if (!state.thread.joinable()) return;
  state.context.stop();
  state.thread.join();
  // Connections that are still pending end with the context; nothing is accepted for them.
  state.common.ended = [] {};
}

}  // namespace covey::control
