#include "covey/store/published.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "covey/base/sha256.h"
#include "support/idx_files.h"
#include "support/model_zoo.h"
#include "unit/store/faulty_files.h"

namespace covey::store {
namespace {

Model Trained(float first, double accuracy) {
  Model model = test::DrawZooModel({{3}, {nn::Dense{2}}}, 4, test::Numbers::kOne);
  model.x[0] = first;
  model.facts.accuracy = accuracy;
  return model;
}

class PublishedTest : public testing::Test {
 protected:
  std::string Path(const char* name) const { return folder() + "/" + name; }
  std::string folder() const { return folder_.path().string() + "/model"; }
  std::string ShaOf(const char* name) const {
    return Sha256::Of(ReadFile(Path(name), kMaxModelFile)->view()).Hex();
  }
  float First(const char* name) const { return ReadModel(Path(name))->x[0]; }

  test::TemporaryFolder folder_;
};

TEST_F(PublishedTest, TheManifestDescribesTheFilesBesideIt) {
  ASSERT_FALSE(*ReadManifest(folder()));
  const auto written = Publish(folder(), Trained(1, 0.5));
  ASSERT_TRUE(written) << written.error().Format();
  EXPECT_EQ(written->facts.version, 1u);
  EXPECT_EQ(written->onnx_sha256, ShaOf("model.onnx"));
  EXPECT_EQ(written->safetensors_sha256, ShaOf("model.safetensors"));
  const auto read = ReadManifest(folder());
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->facts, written->facts);
  EXPECT_EQ((*read)->onnx_sha256, written->onnx_sha256);
  EXPECT_EQ((*read)->fingerprint, nn::FingerprintOf(Trained(1, 0).spec).Hex());
  EXPECT_FALSE(std::filesystem::exists(Path("previous.onnx")));
  const auto bytes = ReadFile(Path("latest.json"), kMaxManifest);
  const auto json =
      nlohmann::json::parse(reinterpret_cast<const char*>(bytes->data()),
                            reinterpret_cast<const char*>(bytes->data() + bytes->size()));
  EXPECT_EQ(json["input"]["shape"], (std::vector<int>{3}));
  EXPECT_EQ(json["labels"].size(), 2u);
  EXPECT_EQ(json["accuracy"], 0.5);
}

TEST_F(PublishedTest, KeepsTheModelBeforeAndGoesBackToIt) {
  ASSERT_TRUE(Publish(folder(), Trained(1, 0.5)));
  EXPECT_EQ(Rollback(folder()).error().code, ErrorCode::kNoInput);
  ASSERT_TRUE(Publish(folder(), Trained(2, 0.6)));
  const auto third = Publish(folder(), Trained(3, 0.7));
  ASSERT_TRUE(third);
  EXPECT_EQ(third->facts.version, 3u);
  EXPECT_EQ(First("model.onnx"), 3);
  EXPECT_EQ(First("previous.safetensors"), 2);
  const auto back = Rollback(folder());
  ASSERT_TRUE(back) << back.error().Format();
  EXPECT_EQ(back->facts.version, 2u);
  EXPECT_EQ(First("model.onnx"), 2);
  EXPECT_EQ(First("previous.onnx"), 3);
  EXPECT_EQ((*ReadManifest(folder()))->onnx_sha256, ShaOf("model.onnx"));
  ASSERT_TRUE(Rollback(folder()));
  EXPECT_EQ(First("model.safetensors"), 3);
}

TEST_F(PublishedTest, AVersionIsNeverGivenTwice) {
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(Publish(folder(), Trained(static_cast<float>(i), 0.5)));
  }
  ASSERT_EQ(Rollback(folder())->facts.version, 2u);
  EXPECT_EQ(Publish(folder(), Trained(4, 0.5))->facts.version, 4u);
  ASSERT_EQ(Rollback(folder())->facts.version, 2u);
  ASSERT_EQ(Rollback(folder())->facts.version, 4u);
  ASSERT_EQ(Rollback(folder())->facts.version, 2u);
  EXPECT_EQ(Publish(folder(), Trained(5, 0.5))->facts.version, 5u);
}

TEST_F(PublishedTest, ADamagedPreviousModelIsNotGoneBackTo) {
  ASSERT_TRUE(Publish(folder(), Trained(1, 0.5)));
  ASSERT_TRUE(Publish(folder(), Trained(2, 0.6)));
  std::filesystem::resize_file(Path("previous.onnx"), 100);
  EXPECT_EQ(Rollback(folder()).error().code, ErrorCode::kData);
  EXPECT_EQ(First("model.onnx"), 2);
}

TEST_F(PublishedTest, AFullDiskLeavesAWholeModel) {
  ASSERT_TRUE(Publish(folder(), Trained(1, 0.5)));
  for (const std::size_t room : {std::size_t{10}, std::size_t{1200}, std::size_t{2600}}) {
    test::FaultyFiles files;
    files.room = room;
    EXPECT_FALSE(Publish(folder(), Trained(2, 0.6), files));
    EXPECT_TRUE(ReadModel(Path("model.onnx")));
    EXPECT_TRUE(ReadModel(Path("model.safetensors")));
  }
  ASSERT_TRUE(Publish(folder(), Trained(3, 0.6)));
  EXPECT_EQ((*ReadManifest(folder()))->safetensors_sha256, ShaOf("model.safetensors"));
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << entry.path();
  }
}

TEST_F(PublishedTest, ADamagedManifestIsToldAndReplaced) {
  ASSERT_TRUE(Publish(folder(), Trained(1, 0.5)));
  std::filesystem::resize_file(Path("latest.json"), 20);
  EXPECT_EQ(ReadManifest(folder()).error().code, ErrorCode::kData);
  EXPECT_TRUE(Publish(folder(), Trained(2, 0.5)));
  EXPECT_TRUE(*ReadManifest(folder()));
}

TEST(Gate, ComparesAccuracyElseLoss) {
  ModelFacts published, candidate;
  EXPECT_TRUE(PassesGate(candidate, published, 0));
  published.loss = 2;
  candidate.loss = 2.2;
  EXPECT_TRUE(PassesGate(candidate, published, 0.1));
  EXPECT_FALSE(PassesGate(candidate, published, 0.09));
  published.accuracy = 0.75;
  candidate.accuracy = 0.5;
  EXPECT_TRUE(PassesGate(candidate, published, 0.25));
  EXPECT_FALSE(PassesGate(candidate, published, 0.24));
  candidate.accuracy = 0.75;
  EXPECT_TRUE(PassesGate(candidate, published, 0));
}

}  // namespace
}  // namespace covey::store
