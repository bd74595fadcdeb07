#include "covey/harness/run_folder.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "covey/harness/final_table.h"
#include "covey/store/model.h"
#include "support/temporary_folder.h"
#include "unit/harness/made_up.h"

namespace covey::harness {
namespace {

namespace fs = std::filesystem;

class RunFolderTest : public testing::Test {
 protected:
  RunFolderTest() : before_(fs::current_path()) { fs::current_path(here_.path()); }
  ~RunFolderTest() override { fs::current_path(before_); }

  test::TemporaryFolder here_;
  fs::path before_;
};

TEST_F(RunFolderTest, IsNamedByTimeAndExperimentAndLatestLeadsToIt) {
  const auto first = RunFolder::Make("", "fashion 8/25");
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->path.starts_with("runs/2"));
  EXPECT_NE(first->path.find("-fashion-8-25"), std::string::npos);
  EXPECT_TRUE(fs::equivalent("runs/latest", first->path));
  const auto second = RunFolder::Make("", "fashion 8/25");
  ASSERT_TRUE(second);
  EXPECT_NE(second->path, first->path);
  EXPECT_TRUE(fs::equivalent("runs/latest", second->path));
}

TEST_F(RunFolderTest, AGivenFolderIsMadeAndUsedOnce) {
  const auto folder = RunFolder::Make("a/b", "x");
  ASSERT_TRUE(folder);
  EXPECT_EQ(folder->path, "a/b");
  EXPECT_FALSE(fs::exists("runs"));
  ASSERT_TRUE(RunFolder::Make("a/b", "x"));
  ASSERT_TRUE(folder->WriteResults(MadeUpOutcome(), {}));
  const auto again = RunFolder::Make("a/b", "x");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kCantCreate);
}

TEST_F(RunFolderTest, HoldsTheResults) {
  const auto folder = RunFolder::Make("out", "x");
  ASSERT_TRUE(folder);
  ASSERT_TRUE(folder->WriteResults(MadeUpOutcome(), {}));
  for (const char* name : {"summary.json", "results.csv", "report.html"}) {
    EXPECT_GT(fs::file_size(fs::path("out") / name), 100u) << name;
  }
}

TEST_F(RunFolderTest, AModelIsWrittenInBothFormats) {
  store::Model model;
  model.spec.input = {2};
  model.spec.layers = {nn::Dense{.units = 3}};
  model.x = tensor::FlatVector(9);
  model.x[0] = 1.5f;
  model.features = {"height", "width"};
  const auto folder = RunFolder::Make("out", "x");
  ASSERT_TRUE(folder);
  ASSERT_TRUE(folder->WriteModel(model));
  for (const char* const name : {"out/model/model.safetensors", "out/model/model.onnx"}) {
    const auto read = store::ReadModel(name);
    ASSERT_TRUE(read) << read.error().Format();
    EXPECT_EQ(read->x[0], 1.5f) << name;
    EXPECT_EQ(read->features, model.features) << name;
  }
}

TEST(FinalTable, HasAllGroupsSideBySideAndTheVerdicts) {
  config::Expect expect;
  expect.accuracy = 0.99;
  const Outcome outcome = MadeUpOutcome();
  const std::string table = FinalTable(outcome, Judge(expect, outcome));
  for (const char* text :
       {"monolithic", "consensus", "isolated", "0.8778", "0.8760", "38.0", "against isolated",
        "1,720 of 6,880 (25.0 %)", "231,457 samples/s", "FAILS", ">= 0.9900", "14.9 MB"}) {
    EXPECT_NE(table.find(text), std::string::npos) << text << "\n" << table;
  }
}

TEST(FinalTable, LinesFitATerminal) {
  const Outcome outcome = MadeUpOutcome();
  const std::string table = FinalTable(outcome, {});
  for (std::size_t begin = 0; begin < table.size();) {
    const std::size_t end = table.find('\n', begin);
    EXPECT_LE(end - begin, 100u) << table.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST(FinalTable, OfNothingSaysOnlyTheTime) {
  EXPECT_EQ(FinalTable({}, {}), "  time          0.0 s\n");
}

}  // namespace
}  // namespace covey::harness
