#include "covey/control/http_routes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "unit/control/echo_handler.h"

namespace covey::control {
namespace {

using test::EchoHandler;

HttpRequest Post(const std::string& body) {
  return {"POST", "/v1/predict", "127.0.0.1:7421", "application/json; charset=utf-8", body};
}

TEST(HttpRoutes, PredictAnswersAsTheCommandLineDoes) {
  EchoHandler handler;
  const HttpResponse got = Route(Post(R"({"samples": [[1, 2.5], [3, 4]], "top": 1})"), handler);
  EXPECT_EQ(got.status, 200);
  const auto json = nlohmann::json::parse(got.body);
  EXPECT_EQ(json["schema"], "covey.predict/1");
  ASSERT_EQ(json["answers"].size(), 2u);
  EXPECT_EQ(json["answers"][0]["classes"][0]["label"], "2 numbers");
  EXPECT_EQ(json["answers"][0]["classes"][0]["probability"], 2.5);
  EXPECT_EQ(handler.top, 1u);
}

TEST(HttpRoutes, SamplesMayNameTheirNumbers) {
  EchoHandler handler;
  handler.form = {{3}, {"height", "colour=green", "colour=red"}};
  HttpResponse got =
      Route(Post(R"({"samples": [{"colour": "red", "height": 2.5}, [1, 0, 3]]})"), handler);
  EXPECT_EQ(got.status, 200) << got.body;
  EXPECT_EQ(handler.asked_last.values, (std::vector<float>{2.5, 0, 1, 1, 0, 3}));
  got = Route(Post(R"({"samples": [{"height": 2.5}]})"), handler);
  EXPECT_EQ(got.status, 422);
  EXPECT_NE(got.body.find("samples[0]: lacks the column colour"), std::string::npos) << got.body;
  EXPECT_EQ(Route(Post(R"({"samples": [{"height": [1]}]})"), handler).status, 400);
}

TEST(HttpRoutes, BodiesThatAreNoQuestionAreRefused) {
  EchoHandler handler;
  for (const char* body :
       {"", "[", "[]", "{}", R"({"samples": 1})", R"({"samples": []})", R"({"samples": [1]})",
        R"({"samples": [[1], [1, 2]]})", R"({"samples": [["1"]]})", R"({"samples": [[1e99]]})",
        R"({"samples": [[null]]})", R"({"samples": [[1]], "tap": 1})",
        R"({"samples": [[1]], "top": -1})", R"({"samples": [[1]], "top": 5000000000})"}) {
    const HttpResponse got = Route(Post(body), handler);
    EXPECT_EQ(got.status, 400) << body;
    EXPECT_EQ(nlohmann::json::parse(got.body)["code"], 64) << body;
  }
  EXPECT_EQ(handler.asked, 0);
}

HttpResponse PushTo(EchoHandler& handler, const std::string& body) {
  HttpRequest request = Post(body);
  request.target = "/v1/push";
  return Route(request, handler);
}

TEST(HttpRoutes, SamplesArePushed) {
  EchoHandler handler;
  HttpResponse got = PushTo(handler, R"({"samples": [[1, 2], [3, 4]], "classes": ["a", 2]})");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(nlohmann::json::parse(got.body)["accepted"], 1);
  EXPECT_EQ(handler.pushed.values, (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(handler.pushed.classes, (std::vector<std::string>{"a", "2"}));
  got = PushTo(handler, R"({"samples": [[0]], "targets": [[7]]})");
  EXPECT_EQ(nlohmann::json::parse(got.body)["reason"], "is 0");
  EXPECT_EQ(handler.pushed.targets, (std::vector<float>{7}));
  handler.fails = ErrorCode::kUsage;
  EXPECT_EQ(PushTo(handler, R"({"samples": [[1]]})").status, 422);
}

TEST(HttpRoutes, PushedSamplesMayNameTheirNumbers) {
  EchoHandler handler;
  handler.form = {{2}, {"left", "right"}};
  HttpResponse got = PushTo(handler, R"({"samples": [{"right": 2, "left": 1}], "classes": ["a"]})");
  EXPECT_EQ(got.status, 200) << got.body;
  EXPECT_EQ(handler.pushed.values, (std::vector<float>{1, 2}));
  got = PushTo(handler, R"({"samples": [{"left": 1}], "classes": ["a"]})");
  EXPECT_EQ(got.status, 422);
  EXPECT_NE(got.body.find("lacks the column right"), std::string::npos) << got.body;
}

TEST(HttpRoutes, BodiesThatAreNoSamplesAreRefused) {
  EchoHandler handler;
  for (const char* body :
       {"", "[]", "{}", R"({"samples": 1})", R"({"samples": []})", R"({"samples": [1]})",
        R"({"samples": [["1"]]})", R"({"samples": [[1]], "classes": [-1]})",
        R"({"samples": [[1]], "classes": [[1]]})", R"({"samples": [[1]], "labels": ["a"]})",
        R"({"samples": [[1, 2], [3]], "classes": ["a", "b"]})",
        R"({"samples": [[1], [2]], "targets": [[1], [1, 2]]})",
        R"({"samples": [[1]], "targets": [null]})"}) {
    EXPECT_EQ(PushTo(handler, body).status, 400) << body;
  }
  EXPECT_TRUE(handler.pushed.values.empty());
  HttpRequest request = Post(R"({"samples": [[1]]})");
  request.target = "/v1/push";
  request.content_type = "text/plain";
  EXPECT_EQ(Route(request, handler).status, 415);
  request.method = "GET";
  EXPECT_EQ(Route(request, handler).status, 405);
}

TEST(HttpRoutes, WhatTheModelCannotReadIsSaid) {
  EchoHandler handler;
  handler.fails = ErrorCode::kData;
  EXPECT_EQ(Route(Post(R"({"samples": [[1]]})"), handler).status, 422);
  handler.fails = ErrorCode::kTemporary;
  EXPECT_EQ(Route(Post(R"({"samples": [[1]]})"), handler).status, 503);
  handler.fails = ErrorCode::kSoftware;
  EXPECT_EQ(Route(Post(R"({"samples": [[1]]})"), handler).status, 500);
}

TEST(HttpRoutes, OnlyWhatIsMeantForThisServerIsTaken) {
  EchoHandler handler;
  HttpRequest request = Post(R"({"samples": [[1]]})");
  for (const char* host : {"localhost", "localhost:1", "127.0.0.1", "[::1]", "[::1]:80"}) {
    request.host = host;
    EXPECT_EQ(Route(request, handler).status, 200) << host;
  }
  for (const char* host : {"", "evil.example", "evil.example:7421", "localhost.evil"}) {
    request.host = host;
    EXPECT_EQ(Route(request, handler).status, 403) << host;
  }
  request = Post(R"({"samples": [[1]]})");
  request.content_type = "text/plain";
  EXPECT_EQ(Route(request, handler).status, 415);
  request = Post("");
  request.target = "/v1/predictions";
  EXPECT_EQ(Route(request, handler).status, 404);
  request.target = "/v1/predict?x=1";
  request.method = "GET";
  EXPECT_EQ(Route(request, handler).status, 405);
  EXPECT_EQ(Route(request, handler).allow, "POST");
}

TEST(HttpRoutes, HealthFollowsTheState) {
  EchoHandler handler;
  const HttpRequest request{"GET", "/healthz", "localhost", "", ""};
  const HttpResponse well = Route(request, handler);
  EXPECT_EQ(well.status, 200);
  EXPECT_EQ(nlohmann::json::parse(well.body)["state"], "training");
  handler.state = api::State::kLeaving;
  EXPECT_EQ(Route(request, handler).status, 503);
}

}  // namespace
}  // namespace covey::control
