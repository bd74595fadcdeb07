#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "covey/api/client.h"
#include "covey/api/server.h"
#include "unit/api/fake_daemon.h"

namespace covey::api {
namespace {

using test::ApiServer;

TEST_F(ApiServer, AnswersQuestionsToTheModel) {
  Serve();
  auto client = Client::Connect(path_);
  ASSERT_TRUE(client.has_value());
  Question question{{1, 2.5f}, 2};
  const auto predictions = client->Predict(question);
  ASSERT_TRUE(predictions.has_value()) << predictions.error().Format();
  EXPECT_EQ(predictions->version, 7u);
  ASSERT_EQ(predictions->answers.size(), 2u);
  EXPECT_EQ(predictions->answers[0].classes,
            (std::vector<RankedClass>(2, RankedClass{1, "label", 3.5f})));
  EXPECT_EQ(client->Predict({}).error().code, ErrorCode::kData);
  const auto form = client->GetInputForm();
  ASSERT_TRUE(form.has_value()) << form.error().Format();
  EXPECT_EQ(*form, (InputForm{{3, 2}, {"a", "b"}, true}));
  // The connection is good for more.
  EXPECT_TRUE(client->GetStatus().has_value());
}

TEST_F(ApiServer, TakesSamples) {
  Serve();
  auto client = Client::Connect(path_);
  ASSERT_TRUE(client.has_value());
  const auto pushed = client->Push({{1, 2}, {"a", "b"}, {3}, "x,y"});
  ASSERT_TRUE(pushed.has_value()) << pushed.error().Format();
  EXPECT_EQ(pushed->accepted, 2u);
  EXPECT_EQ(pushed->rejected, 1u);
  EXPECT_EQ(pushed->reason, "x,y");
  EXPECT_EQ(client->Push({{}, {}, {}, "wrong"}).error().code, ErrorCode::kData);
  const auto large = client->Push({{}, {}, {}, std::string(kMaxRequest, 'x')});
  EXPECT_EQ(large.error().code, ErrorCode::kUsage);
  EXPECT_TRUE(client->GetStatus().has_value());
}

TEST_F(ApiServer, TakesRecordsOfTheOperator) {
  Serve();
  auto client = Client::Connect(path_);
  ASSERT_TRUE(client.has_value());
  EXPECT_TRUE(client->TakeRecord(std::string("\0signed", 7)).has_value());
  EXPECT_EQ(client->TakeRecord("signed").error().code, ErrorCode::kData);
}

TEST_F(ApiServer, QuestionsAndAnswersThatAreTooLargeAreRefusedByName) {
  Serve();
  auto client = Client::Connect(path_);
  Question question{std::vector<float>((kMaxRequest - 64) / sizeof(float)), 0};
  EXPECT_TRUE(client->Predict(question).has_value());
  question.values.push_back(0);
  EXPECT_EQ(client->Predict(question).error().code, ErrorCode::kUsage);
  question = {std::vector<float>(40'000), 3};
  const auto large = client->Predict(question);
  ASSERT_FALSE(large.has_value());
  EXPECT_NE(large.error().what.find("does not fit"), std::string::npos);
}

}  // namespace
}  // namespace covey::api
