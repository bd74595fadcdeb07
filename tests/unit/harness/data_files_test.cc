#include "covey/harness/data_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/temporary_folder.h"

namespace covey::harness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class DataFiles : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / "mnist");
    for (const char* file : {"mnist/a.gz", "mnist/b"}) std::ofstream(folder_ / file) << "x";
  }

  config::Experiment With(const std::string& images, const std::string& labels) {
    config::Experiment experiment;
    experiment.node.data.train.images = images;
    experiment.node.data.train.labels = labels;
    return experiment;
  }

  test::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(DataFiles, AreFoundPlainAndGzipped) {
  config::Experiment experiment = With("mnist/a", "mnist/b");
  ASSERT_TRUE(FindDataFiles({"/nowhere", folder_.string()}, experiment));
  EXPECT_EQ(experiment.node.data.train.images, (folder_ / "mnist/a.gz").string());
  EXPECT_EQ(experiment.node.data.train.labels, (folder_ / "mnist/b").string());
}

TEST_F(DataFiles, OthersStayAsTheyAre) {
  config::Experiment experiment = With("/mnist/a", "own/b");
  ASSERT_TRUE(FindDataFiles({folder_.string()}, experiment));
  EXPECT_EQ(experiment.node.data.train.images, "/mnist/a");
  EXPECT_EQ(experiment.node.data.train.labels, "own/b");
}

TEST_F(DataFiles, OfAKnownSetThatIsNotThereSayHowToGetThem) {
  config::Experiment experiment = With("mnist/a", "mnist/c");
  const Status found = FindDataFiles({folder_.string()}, experiment);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kNoInput);
  EXPECT_EQ(found.error().where, "mnist/c");
  EXPECT_THAT(found.error().what, HasSubstr(folder_.string()));
  EXPECT_THAT(found.error().hint, HasSubstr("fetch-data mnist"));
}

}  // namespace
}  // namespace covey::harness
