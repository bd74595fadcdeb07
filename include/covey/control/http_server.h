// The local API's questions over HTTP, for programs that speak nothing else: POST /v1/predict, GET
// /healthz. docs/predict.md has requests and answers.
//
// Loopback only, no authentication. What a browser could be made to send is refused: a Host that is
// not this machine, and bodies that are not declared as JSON.
// Limits: kMaxConnections at once, more wait to be accepted; a body of at most api::kMaxRequest
// bytes, a header of 8 KiB; a connection that says nothing for kIdle is closed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <thread>

#include "covey/base/result.h"
#include "covey/base/time.h"
#include "covey/config/address.h"
#include "covey/control/http_routes.h"

namespace covey::control {

// Thread: one of its own, from Serve to Stop; the handler is called on it.
class HttpServer {
 public:
  static constexpr std::size_t kMaxConnections = 32;
  static constexpr Duration kIdle = std::chrono::seconds(10);

  // Binds. Errors: kConfig when the host is not loopback; kCantCreate when the system refuses.
  static Result<std::unique_ptr<HttpServer>> Open(const config::HostPort& listen);
  ~HttpServer();

  // Requires: once; the handler outlives Stop.
  void Serve(HttpHandler& handler);
  void Stop();

  // "http://127.0.0.1:7421"
  const std::string& endpoint() const;

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace covey::control
