#include "covey/control/http_routes.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace covey::control {
namespace {

using HttpJson = nlohmann::ordered_json;

std::string Text(const HttpJson& json) {
  return json.dump(-1, ' ', false, HttpJson::error_handler_t::replace) + '\n';
}

// A page on another site can make a browser ask here, under that site's name.
bool IsThisMachine(std::string host) {
  if (const std::size_t port = host.rfind(':');
      port != std::string::npos && host.find(']', port) == std::string::npos) {
    host.resize(port);
  }
  return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

Result<std::vector<float>> ReadNumbers(const HttpJson& json, const std::string& where) {
  if (!json.is_array()) return Fail(ErrorCode::kUsage, where, "is not a list of numbers");
  std::vector<float> values;
  for (const HttpJson& number : json) {
    const float value = number.is_number() ? number.get<float>() : NAN;
    if (!std::isfinite(value)) {
      return Fail(ErrorCode::kUsage, where, "has something that is no finite number");
    }
    values.push_back(value);
  }
  return values;
}

// {"height": 1.5, "colour": "red"}
Result<std::vector<float>> ReadNamed(const HttpJson& json, const data::InputForm& form,
                                     const std::string& where) {
  std::vector<data::NamedCell> cells;
  for (const auto& item : json.items()) {
    const HttpJson& value = item.value();
    if (!value.is_string() && !value.is_number()) {
      return Fail(ErrorCode::kUsage, where, "'" + item.key() + "' is neither a number nor a text");
    }
    cells.emplace_back(item.key(), value.is_string() ? value.get<std::string>() : value.dump());
  }
  return data::SampleOf(form, cells, where);
}

Result<std::vector<float>> ReadSample(const HttpJson& json, const data::InputForm& form,
                                      const std::string& where) {
  return json.is_object() ? ReadNamed(json, form, where) : ReadNumbers(json, where);
}

// Appends the rows of a list, all of one length. Requires: json is an array.
template <class ReadRow>
Status ReadRows(const HttpJson& json, const std::string& name, const ReadRow& read,
                std::vector<float>& to) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string where = name + '[' + std::to_string(i) + ']';
    const Result<std::vector<float>> values = read(json[i], where);
    if (!values) return tl::unexpected(values.error());
    if (i == 0) width = values->size();
    if (values->size() != width) {
      return Fail(ErrorCode::kUsage, where, "is not as long as the first one");
    }
    to.insert(to.end(), values->begin(), values->end());
  }
  return {};
}

Status ReadSamples(const HttpJson& json, const data::InputForm& form, std::vector<float>& to) {
  const auto read = [&form](const HttpJson& one, const std::string& where) {
    return ReadSample(one, form, where);
  };
  return ReadRows(json, "samples", read, to);
}

Result<api::Question> ReadQuestion(const std::string& body, const data::InputForm& form) {
  constexpr const char* kHint =
      "wanted {\"samples\": [[1, 2, 3], ...], \"top\": 3}, or samples by name: {\"a\": 1, ...}";
  const HttpJson json = HttpJson::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Fail(ErrorCode::kUsage, "body", "is not a JSON object", kHint);
  api::Question question;
  const HttpJson* samples = nullptr;
  for (const auto& item : json.items()) {
    if (item.key() == "samples") {
      samples = &item.value();
    } else if (item.key() == "top" && item.value().is_number_unsigned() &&
               item.value().get<std::uint64_t>() <= UINT32_MAX) {
      question.top = item.value().get<std::uint32_t>();
    } else {
      return Fail(ErrorCode::kUsage, "body", "'" + item.key() + "' is unknown or no whole number",
                  kHint);
    }
  }
  if (samples == nullptr || !samples->is_array() || samples->empty()) {
    return Fail(ErrorCode::kUsage, "body", "has no list of samples", kHint);
  }
  if (Status read = ReadSamples(*samples, form, question.values); !read) {
    return tl::unexpected(read.error());
  }
  return question;
}

HttpResponse AnswerOf(const api::Predictions& predictions) {
  HttpJson json;
  json["schema"] = "covey.predict/1";
  json["version"] = predictions.version;
  json["batches"] = predictions.batches;
  json["answers"] = HttpJson::array();
  for (const api::Answer& answer : predictions.answers) {
    HttpJson one = HttpJson::object();
    for (const api::RankedClass& ranked : answer.classes) {
      one["classes"].push_back(
          {{"index", ranked.index}, {"label", ranked.label}, {"probability", ranked.probability}});
    }
    if (answer.classes.empty()) one["values"] = answer.values;
    json["answers"].push_back(std::move(one));
  }
  return {200, Text(json)};
}

// 422 also for a node that takes no live data.
HttpResponse Refused(const Error& error) {
  return HttpError(error.code == ErrorCode::kData || error.code == ErrorCode::kUsage ? 422
                   : error.code == ErrorCode::kTemporary                             ? 503
                                                                                     : 500,
                   error);
}

Status CheckType(const HttpRequest& request) {
  if (request.content_type.starts_with("application/json")) return {};
  return Fail(ErrorCode::kUsage, "Content-Type",
              "is '" + request.content_type + "', wanted application/json",
              "curl -H 'Content-Type: application/json' ...");
}

HttpResponse PredictRoute(const HttpRequest& request, HttpHandler& handler) {
  if (const Status json = CheckType(request); !json) return HttpError(415, json.error());
  const auto question = ReadQuestion(request.body, handler.GetInputForm());
  if (!question && question.error().code == ErrorCode::kData) return Refused(question.error());
  if (!question) return HttpError(400, question.error());
  const auto predictions = handler.Predict(*question);
  return predictions ? AnswerOf(*predictions) : Refused(predictions.error());
}

Result<api::Samples> ReadPushed(const std::string& body, const data::InputForm& form) {
  constexpr const char* kHint =
      "wanted {\"samples\": [[1, 2, 3], ...], \"classes\": [\"a\", ...]}, or \"targets\": [[1], "
      "...]; samples may be objects: {\"a\": 1, ...}";
  const HttpJson json = HttpJson::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Fail(ErrorCode::kUsage, "body", "is not a JSON object", kHint);
  api::Samples samples;
  for (const auto& [key, list] : json.items()) {
    Status read;
    if (!list.is_array()) {
      read = Fail(ErrorCode::kUsage, "body", "'" + key + "' is no list", kHint);
    } else if (key == "samples") {
      read = ReadSamples(list, form, samples.values);
    } else if (key == "targets") {
      read = ReadRows(list, key, ReadNumbers, samples.targets);
    } else if (key == "classes") {
      for (const HttpJson& one : list) {
        if (!one.is_string() && !one.is_number_unsigned()) {
          read = Fail(ErrorCode::kUsage, "body", "'classes' has something that is no class", kHint);
        }
        samples.classes.push_back(one.is_string() ? one.get<std::string>() : one.dump());
      }
    } else {
      read = Fail(ErrorCode::kUsage, "body", "'" + key + "' is unknown", kHint);
    }
    if (!read) return tl::unexpected(read.error());
  }
  if (samples.values.empty()) return Fail(ErrorCode::kUsage, "body", "has no samples", kHint);
  return samples;
}

HttpResponse PushRoute(const HttpRequest& request, HttpHandler& handler) {
  if (const Status json = CheckType(request); !json) return HttpError(415, json.error());
  const auto samples = ReadPushed(request.body, handler.GetInputForm());
  if (!samples && samples.error().code == ErrorCode::kData) return Refused(samples.error());
  if (!samples) return HttpError(400, samples.error());
  const auto pushed = handler.Push(*samples);
  if (!pushed) return Refused(pushed.error());
  HttpJson json;
  json["schema"] = "covey.push/1";
  json["accepted"] = pushed->accepted;
  json["rejected"] = pushed->rejected;
  json["reason"] = pushed->reason;
  return {200, Text(json)};
}

HttpResponse HealthRoute(HttpHandler& handler) {
  const api::State state = handler.GetState();
  const bool well = state != api::State::kLeaving;
  HttpJson json;
  json["status"] = well ? "ok" : "leaving";
  json["state"] = std::string(Name(state));
  return {well ? 200 : 503, Text(json)};
}

}  // namespace

HttpResponse HttpError(int status, const Error& error) {
  HttpJson json;
  json["error"] = error.Format();
  json["code"] = static_cast<int>(error.code);
  return {status, Text(json)};
}

HttpResponse Route(const HttpRequest& request, HttpHandler& handler) {
  if (!IsThisMachine(request.host)) {
    return HttpError(403, {ErrorCode::kNoPermission, "Host",
                           "'" + request.host + "' is not this machine", "use 127.0.0.1"});
  }
  const std::string path = request.target.substr(0, request.target.find('?'));
  const bool predict = path == "/v1/predict";
  const bool push = path == "/v1/push";
  if (!predict && !push && path != "/healthz") {
    return HttpError(404, {ErrorCode::kUsage, "path", "'" + path + "' is none of this server",
                           "POST /v1/predict, POST /v1/push, GET /healthz"});
  }
  const char* method = predict || push ? "POST" : "GET";
  if (request.method != method) {
    HttpResponse wrong = HttpError(405, {ErrorCode::kUsage, path, "does not take " + request.method,
                                         std::string("use ") + method});
    wrong.allow = method;
    return wrong;
  }
  return predict ? PredictRoute(request, handler)
         : push  ? PushRoute(request, handler)
                 : HealthRoute(handler);
}

}  // namespace covey::control
