// What HTTP requests ask and how they are answered, without a socket.
#pragma once

#include <string>

#include "covey/api/types.h"
#include "covey/base/result.h"
#include "covey/data/samples.h"

namespace covey::control {

// What the routes ask the node. Called on the server's thread.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  virtual Result<api::Predictions> Predict(const api::Question& question) = 0;
  virtual const data::InputForm& GetInputForm() = 0;
  virtual Result<api::Pushed> Push(const api::Samples& samples) = 0;
  virtual api::State GetState() = 0;
};

struct HttpRequest {
  std::string method;  // "GET"
  std::string target;  // "/v1/predict"; a query is ignored
  std::string host;    // the field Host
  std::string content_type;
  std::string body;
};

struct HttpResponse {
  int status = 200;
  std::string body;        // JSON and a newline
  std::string allow = {};  // with 405: the method that is
};

// Errors, as {"error": "...", "code": sysexits}: 400 for a body that is not the JSON that is
// wanted, 403 for a foreign Host, 404, 405, 415 when the body is not application/json, 422 for
// samples that the model can't read, 503 before there is a model.
HttpResponse Route(const HttpRequest& request, HttpHandler& handler);

HttpResponse HttpError(int status, const Error& error);

}  // namespace covey::control
