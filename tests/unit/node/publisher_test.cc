#include "node/publisher.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "covey/store/published.h"
#include "support/idx_files.h"

namespace covey::node {
namespace {

class PublisherTest : public testing::Test {
 protected:
  PublisherTest() {
    config_.node.state_dir = folder_.path().string();
    config_.publish.every = Duration::zero();
    spec_ = {{2}, {nn::Dense{2}}};
    set_ = data::Dataset::FromMemory(
               {.shape = {2}, .rows = {0, 1, 2, 3}, .labels = {0, 1}, .classes = 2})
               .Named({"stop", "go"});
  }

  // A model that answers `answer`, of that accuracy.
  static EvaluatorThread::Best Best(std::size_t answer, double accuracy, std::uint64_t batches) {
    tensor::FlatVector x(6);
    x[4 + answer] = 3;  // bias
    EvaluatorThread::Best best;
    best.score.batches = batches;
    best.score.validation = {1 - accuracy, accuracy, 10};
    best.x = std::make_shared<const tensor::FlatVector>(std::move(x));
    return best;
  }
  std::string Model() const { return folder_.path().string() + "/model"; }
  std::size_t AnswerOf(Publisher& publisher) {
    const auto prediction = publisher.Predict(std::vector<float>{7, 8});
    EXPECT_TRUE(prediction.has_value());
    return nn::Largest(prediction->outputs, 1).front();
  }

  test::TemporaryFolder folder_;
  config::NodeConfig config_;
  nn::ModelSpec spec_;
  data::Dataset set_;
  Clock clock_;
};

TEST_F(PublisherTest, AnswersWithTheBestAndLeavesItAsFiles) {
  Publisher publisher(clock_, {config_, "covey"}, spec_, set_);
  publisher.Restore();
  publisher.Start();
  EXPECT_EQ(publisher.Predict(std::vector<float>{7, 8}).error().code, ErrorCode::kTemporary);
  publisher.Offer(Best(1, 0.5, 10));
  EXPECT_EQ(AnswerOf(publisher), 1u);
  publisher.Offer(Best(0, 0.6, 20));
  EXPECT_EQ(AnswerOf(publisher), 0u);
  publisher.Join();
  const auto model = store::ReadModel(Model() + "/model.onnx");
  ASSERT_TRUE(model) << model.error().Format();
  EXPECT_EQ(model->facts.batches, 20u);
  EXPECT_EQ(model->facts.accuracy, 0.6);
  EXPECT_EQ(model->labels, (std::vector<std::string>{"stop", "go"}));
  EXPECT_EQ(model->input, set_.normalization());
  EXPECT_EQ(publisher.report().failures, 0u);
}

TEST_F(PublisherTest, TheLastOneIsWrittenHoweverSeldomItMay) {
  config_.publish.every = std::chrono::hours(5);
  Publisher publisher(clock_, {config_, "covey"}, spec_, set_);
  publisher.Start();
  for (std::uint64_t i = 1; i <= 50; ++i)
    publisher.Offer(Best(1, 0.01 * static_cast<double>(i), i));
  publisher.Join();
  EXPECT_EQ((*store::ReadManifest(Model()))->facts.batches, 50u);
  EXPECT_LE(publisher.report().written, 2u);
}

TEST_F(PublisherTest, ARestartedNodeAnswersAtOnceAndWritesNothingTwice) {
  {
    Publisher first(clock_, {config_, "covey"}, spec_, set_);
    first.Start();
    first.Offer(Best(1, 0.5, 10));
  }
  Publisher second(clock_, {config_, "covey"}, spec_, set_);
  second.Restore();
  EXPECT_EQ(AnswerOf(second), 1u);
  second.Start();
  second.Offer(Best(1, 0.5, 10));
  second.Join();
  EXPECT_EQ(second.report().written, 0u);
}

TEST_F(PublisherTest, TheGateWithholdsWhatIsWorse) {
  config_.publish.margin = 0.1;
  {
    Publisher first(clock_, {config_, "covey"}, spec_, set_);
    first.Start();
    first.Offer(Best(1, 0.9, 10));
  }
  Publisher second(clock_, {config_, "covey"}, spec_, set_);
  second.Restore();
  second.Start();
  second.Offer(Best(0, 0.7, 20));
  EXPECT_EQ(AnswerOf(second), 1u);
  EXPECT_EQ(second.report().withheld, 1u);
  second.Offer(Best(0, 0.85, 30));
  EXPECT_EQ(AnswerOf(second), 0u);
  second.Join();
  EXPECT_EQ((*store::ReadManifest(Model()))->facts.batches, 30u);
}

TEST_F(PublisherTest, NothingIsWrittenWhenThatIsOff) {
  config_.publish.models = false;
  Publisher publisher(clock_, {config_, "covey"}, spec_, set_);
  publisher.Start();
  publisher.Offer(Best(1, 0.5, 10));
  EXPECT_EQ(AnswerOf(publisher), 1u);
  publisher.Join();
  EXPECT_FALSE(std::filesystem::exists(Model()));
}

TEST_F(PublisherTest, QuestionsThatMakeNoSenseAreRefused) {
  Publisher publisher(clock_, {config_, "covey"}, spec_, set_);
  publisher.Offer(Best(1, 0.5, 10));
  EXPECT_EQ(publisher.Predict(std::vector<float>{1, 2, 3}).error().code, ErrorCode::kData);
  EXPECT_EQ(publisher.Predict({}).error().code, ErrorCode::kData);
  const auto bad = publisher.Predict(std::vector<float>{1, 2, NAN, 4});
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().where.find("sample 1, element 0"), std::string::npos);
}

TEST_F(PublisherTest, AModelOfAnotherArchitectureIsPassedOver) {
  {
    Publisher first(clock_, {config_, "covey"}, spec_, set_);
    first.Start();
    first.Offer(Best(1, 0.9, 10));
  }
  config_.publish.margin = 0;
  spec_.layers = {nn::Dense{3}, nn::Dense{2}};
  Publisher second(clock_, {config_, "covey"}, spec_, set_);
  second.Restore();
  EXPECT_FALSE(second.Predict(std::vector<float>{7, 8}));
  second.Start();
  EvaluatorThread::Best best = Best(0, 0.1, 5);
  best.x = std::make_shared<const tensor::FlatVector>(nn::LayoutOf(spec_).size());
  second.Offer(best);
  second.Join();
  EXPECT_EQ(second.report().withheld, 0u);
  EXPECT_EQ(second.report().written, 1u);
}

}  // namespace
}  // namespace covey::node
