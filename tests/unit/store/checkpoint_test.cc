#include "covey/store/checkpoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "support/idx_files.h"
#include "unit/store/faulty_files.h"
#include "unit/store/sample_checkpoint.h"

namespace covey::store {
namespace {

namespace fs = std::filesystem;
using test::FaultyFiles;
using test::FilesIn;
using test::SampleCheckpoint;
using test::SampleExpected;

std::vector<float> Floats(const tensor::FlatVector& values) {
  return {values.view().begin(), values.view().end()};
}

std::string Name(int batches) {
  std::string digits = std::to_string(batches);
  return "ckpt-" + std::string(20 - digits.size(), '0') + digits + ".covey";
}

void Flip(const std::string& path, std::size_t at) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(static_cast<std::streamoff>(at));
  const int byte = file.get();
  file.seekp(static_cast<std::streamoff>(at));
  file.put(static_cast<char>(byte ^ 1));
}

class CheckpointTest : public ::testing::Test {
 protected:
  std::string Save(std::uint64_t batches) {
    const Result<std::string> path = store::Save(state_, SampleCheckpoint(batches));
    EXPECT_TRUE(path) << path.error().Format();
    return path.value_or("");
  }
  // Returns: the batch count of what Load finds.
  std::uint64_t LoadedBatches() {
    const Result<Loaded> loaded = Load(state_, SampleExpected());
    EXPECT_TRUE(loaded) << loaded.error().Format();
    if (!loaded || !loaded->checkpoint) return 0;
    return loaded->checkpoint->batches;
  }

  test::TemporaryFolder folder_;
  const std::string state_ = folder_ / "state";
};

TEST_F(CheckpointTest, ComesBackWhole) {
  Save(1234);
  Result<Loaded> loaded = Load(state_, SampleExpected());
  ASSERT_TRUE(loaded) << loaded.error().Format();
  ASSERT_TRUE(loaded->checkpoint);
  const Checkpoint& got = *loaded->checkpoint;
  const Checkpoint wanted = SampleCheckpoint(1234);
  EXPECT_EQ(got.model, wanted.model);
  EXPECT_EQ(got.model_summary, wanted.model_summary);
  EXPECT_EQ(got.created_by, wanted.created_by);
  EXPECT_EQ(got.session, wanted.session);
  EXPECT_EQ(Floats(got.x), Floats(wanted.x));
  ASSERT_EQ(got.optimizer.size(), 2u);
  EXPECT_EQ(Floats(got.FindOptimizer("adam.v")->values), Floats(wanted.optimizer[1].values));
  EXPECT_EQ(got.FindOptimizer("absent"), nullptr);
  EXPECT_EQ(got.optimizer_steps, 99u);
  EXPECT_EQ(got.batches, 1234u);
  EXPECT_EQ(got.rounds, 123u);
  EXPECT_EQ(got.cursor, wanted.cursor);
  ASSERT_TRUE(got.best);
  EXPECT_EQ(got.best->loss, 0.35);
  EXPECT_EQ(got.best->accuracy, 0.875);
  EXPECT_EQ(got.best->epoch, 4.5);
  EXPECT_EQ(Floats(got.best->x), Floats(wanted.best->x));
  EXPECT_EQ(got.Counter("weights_dropped", 0), 17u);
  EXPECT_EQ(got.Counter("absent", 3), 3u);
  EXPECT_TRUE(loaded->skipped.empty());
}

TEST_F(CheckpointTest, OptionalPartsMayBeAbsent) {
  Checkpoint small = SampleCheckpoint();
  small.optimizer.clear();
  small.counters.clear();
  small.best->x = tensor::FlatVector();
  EXPECT_TRUE(store::Save(state_, small));
  EXPECT_EQ(Load(state_, SampleExpected())->checkpoint->best->x.size(), 0u);
  small.best.reset();
  EXPECT_TRUE(store::Save(state_, small));
  EXPECT_FALSE(Load(state_, SampleExpected())->checkpoint->best);
}

TEST_F(CheckpointTest, NoneIsNotAnError) {
  const Result<Loaded> no_folder = Load(state_, SampleExpected());
  ASSERT_TRUE(no_folder);
  EXPECT_FALSE(no_folder->checkpoint);
  fs::create_directory(state_);
  const Result<Loaded> empty = Load(state_, SampleExpected());
  ASSERT_TRUE(empty);
  EXPECT_FALSE(empty->checkpoint);
}

TEST_F(CheckpointTest, KeepsTheNewestThree) {
  for (const int batches : {9, 10, 100, 99, 1000}) Save(static_cast<std::uint64_t>(batches));
  EXPECT_EQ(FilesIn(state_), (std::vector<std::string>{Name(99), Name(100), Name(1000)}));
  EXPECT_EQ(LoadedBatches(), 1000u);
}

TEST_F(CheckpointTest, NeverPrunesWhatItHasJustWritten) {
  for (const int batches : {100, 200, 300}) Save(static_cast<std::uint64_t>(batches));
  Save(50);  // after falling back behind three others
  EXPECT_TRUE(fs::exists(state_ + "/" + Name(50)));
}

TEST_F(CheckpointTest, TheSameBatchCountReplaces) {
  Save(10);
  Checkpoint later = SampleCheckpoint(10);
  later.rounds = 777;
  ASSERT_TRUE(store::Save(state_, later));
  EXPECT_EQ(FilesIn(state_).size(), 1u);
  EXPECT_EQ(Load(state_, SampleExpected())->checkpoint->rounds, 777u);
}

TEST_F(CheckpointTest, FallsBackToAnOlderOneAndSaysWhy) {
  Save(10);
  const std::string newest = Save(20);
  Flip(newest, fs::file_size(newest) - 100);
  const Result<Loaded> loaded = Load(state_, SampleExpected());
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->checkpoint->batches, 10u);
  ASSERT_EQ(loaded->skipped.size(), 1u);
  EXPECT_EQ(loaded->skipped[0].path, newest);
  EXPECT_EQ(loaded->skipped[0].reason.code, ErrorCode::kData);
}

TEST_F(CheckpointTest, AllDamagedIsAnErrorUnlikeNone) {
  for (const int batches : {1, 2}) Flip(Save(static_cast<std::uint64_t>(batches)), 40);
  const Result<Loaded> loaded = Load(state_, SampleExpected());
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kData);
  EXPECT_NE(loaded.error().what.find("none of 2 checkpoints"), std::string::npos);
  EXPECT_NE(loaded.error().what.find(Name(2)), std::string::npos);
}

TEST_F(CheckpointTest, SwappedFilesAreOrderedByTheirHeaders) {
  const std::string first = Save(10);
  const std::string second = Save(20);
  fs::rename(first, folder_ / "aside");
  fs::rename(second, first);
  fs::rename(folder_ / "aside", second);
  EXPECT_EQ(LoadedBatches(), 20u);
}

TEST_F(CheckpointTest, AnotherModelIsRefusedByName) {
  Save(10);
  Expected other = SampleExpected();
  other.model.bytes[0] ^= 1;
  other.model_summary = "mlp 4-9-2";
  const Result<Loaded> loaded = Load(state_, other);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kProtocol);
  EXPECT_NE(loaded.error().what.find("got mlp 4-8-2"), std::string::npos);
  EXPECT_NE(loaded.error().what.find("wanted mlp 4-9-2"), std::string::npos);
  EXPECT_NE(loaded.error().hint.find("state_dir"), std::string::npos);
  Expected longer = SampleExpected();
  ++longer.size;
  EXPECT_EQ(Load(state_, longer).error().code, ErrorCode::kProtocol);
}

TEST_F(CheckpointTest, ANewerFormatIsRefusedByName) {
  const std::string path = Save(10);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(8);
  file.put(static_cast<char>(kCheckpointVersion + 1));
  file.close();
  const Result<Loaded> loaded = Load(state_, SampleExpected());
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kProtocol);
  EXPECT_NE(loaded.error().what.find("format 2"), std::string::npos);
  EXPECT_NE(loaded.error().hint.find("newer Covey"), std::string::npos);
}

TEST_F(CheckpointTest, EmptyFilesFoldersAndDanglingLinksAreSkipped) {
  Save(10);
  std::ofstream(state_ + "/" + Name(20)).close();
  fs::create_directory(state_ + "/" + Name(30));
  fs::create_symlink("absent", state_ + "/" + Name(40));
  const Result<Loaded> loaded = Load(state_, SampleExpected());
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->checkpoint->batches, 10u);
  EXPECT_EQ(loaded->skipped.size(), 3u);
}

TEST_F(CheckpointTest, FollowsALinkToAGoodFile) {
  const std::string path = Save(10);
  fs::rename(path, folder_ / "elsewhere");
  fs::create_symlink(folder_ / "elsewhere", path);
  EXPECT_EQ(LoadedBatches(), 10u);
}

TEST_F(CheckpointTest, OtherFilesInTheFolderDontMatter) {
  Save(10);
  for (const char* name : {"lock", "ckpt-12.covey", "ckpt-0000000000000000000x.covey", "notes"}) {
    std::ofstream(state_ + "/" + name) << "?";
  }
  const Result<Loaded> loaded = Load(state_, SampleExpected());
  ASSERT_TRUE(loaded);
  EXPECT_TRUE(loaded->skipped.empty());
  for (const int batches : {11, 12, 13}) Save(static_cast<std::uint64_t>(batches));
  EXPECT_EQ(FilesIn(state_).size(), 4u + 3u);
}

TEST_F(CheckpointTest, AFailingDiskLeavesTheOlderOnesInUse) {
  for (const int batches : {10, 20, 30}) Save(static_cast<std::uint64_t>(batches));
  const std::vector<std::string> before = FilesIn(state_);
  using At = FaultyFiles::At;
  for (const At at : {At::kCreate, At::kWrite, At::kRead, At::kSync, At::kRename}) {
    FaultyFiles files;
    files.fail_at = at;
    EXPECT_FALSE(store::Save(state_, SampleCheckpoint(40), files));
    EXPECT_EQ(FilesIn(state_), before);
    EXPECT_EQ(LoadedBatches(), 30u);
  }
  FaultyFiles full;
  full.room = 100;
  EXPECT_EQ(store::Save(state_, SampleCheckpoint(40), full).error().code, ErrorCode::kIo);
  FaultyFiles lying;
  lying.flip_when_reading = true;
  EXPECT_FALSE(store::Save(state_, SampleCheckpoint(40), lying));
  EXPECT_EQ(FilesIn(state_), before);
  EXPECT_TRUE(store::Save(state_, SampleCheckpoint(40))) << "recovers once the disk does";
  EXPECT_EQ(LoadedBatches(), 40u);
}

TEST_F(CheckpointTest, ValuesThatAreNotFiniteAreNeitherWrittenNorRead) {
  Save(10);
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    Checkpoint diverged = SampleCheckpoint(20);
    diverged.optimizer[1].values[3] = bad;
    const Result<std::string> saved = store::Save(state_, diverged);
    ASSERT_FALSE(saved);
    EXPECT_EQ(saved.error().code, ErrorCode::kSoftware);
  }
  EXPECT_EQ(LoadedBatches(), 10u);
}

TEST_F(CheckpointTest, RemovesLeftoversButNothingElse) {
  const std::string path = Save(10);
  std::ofstream(path + ".tmp.123.4") << "half";
  std::ofstream(state_ + "/notes.tmp") << "mine";
  const Result<std::size_t> removed = RemoveTemporary(state_);
  ASSERT_TRUE(removed);
  EXPECT_EQ(*removed, 1u);
  EXPECT_EQ(FilesIn(state_), (std::vector<std::string>{Name(10), "notes.tmp"}));
  EXPECT_EQ(RemoveTemporary(folder_ / "absent").value(), 0u);
}

TEST_F(CheckpointTest, LeftoversDontBlockTheNextSave) {
  const std::string path = Save(10);
  for (int number = 0; number < 50; ++number) {
    std::ofstream(path + ".tmp.1." + std::to_string(number)) << "half";
  }
  Save(10);
  EXPECT_EQ(LoadedBatches(), 10u);
}

TEST_F(CheckpointTest, AFolderThatCannotBeMadeIsNamed) {
  std::ofstream(state_) << "a file";
  const Result<std::string> saved = store::Save(state_, SampleCheckpoint());
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code, ErrorCode::kCantCreate);
  EXPECT_EQ(saved.error().where, state_);
}

TEST_F(CheckpointTest, ReadsOneFileWithoutExpectations) {
  EXPECT_EQ(ReadCheckpoint(Save(10))->model_summary, "mlp 4-8-2");
  EXPECT_EQ(ReadCheckpoint(folder_ / "absent").error().code, ErrorCode::kNoInput);
}

}  // namespace
}  // namespace covey::store
