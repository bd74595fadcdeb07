#include "node/intake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "node/live_files.h"
#include "node/spool.h"
#include "support/idx_files.h"

namespace covey::node {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class IntakeTest : public ::testing::Test {
 protected:
  IntakeTest() {
    config_.node.state_dir = folder_ / "state";
    config_.model.input = {2};
    config_.model.layers = {nn::Dense{.units = 3}};
    config_.data.live.emplace();
    config_.data.labels = {"a", "b", "c"};
    config_.data.train.csv_settings.label = "label";
    config_.data.train.normalize = data::Normalize::kNone;
    config_.data.batch = 2;
    config_.data.cache = folder_ / "cache";
  }
  std::unique_ptr<Intake> Open() {
    const auto assembly = setup::Assemble(config_, {});
    EXPECT_TRUE(assembly.has_value()) << assembly.error().Format();
    auto intake = Intake::Open(config_, *assembly);
    EXPECT_TRUE(intake.has_value()) << intake.error().Format();
    return intake ? std::move(*intake) : nullptr;
  }
  static Pushed Push(Intake& intake, const std::string& table) {
    const auto pushed = intake.PushTable(table);
    EXPECT_TRUE(pushed.has_value()) << pushed.error().Format();
    return pushed.value_or(Pushed());
  }
  std::uint64_t JournalBytes() { return fs::file_size(folder_ / "state/live.journal"); }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary | std::ios::app) << text;
  }
  static std::uint64_t Kept(const Intake& intake) {
    const LiveReport report = intake.report();
    return report.to_train + report.set_aside;
  }

  test::TemporaryFolder folder_;
  config::NodeConfig config_;
};

TEST_F(IntakeTest, WhatIsAcceptedIsFoundAgain) {
  {
    const auto intake = Open();
    const Pushed pushed = Push(*intake, "x,y,label\n1,2,a\n3,4,c\n5,6,d\n");
    EXPECT_EQ(pushed.accepted, 2u);
    EXPECT_EQ(pushed.rejected, 1u);
    EXPECT_THAT(pushed.reason, HasSubstr("line 4: column 'label': class 'd' is new"));
    EXPECT_THAT(pushed.reason, HasSubstr("3 names: a, b, c"));
  }
  const auto again = Open();
  const auto kept = again->TakeIfChanged();
  ASSERT_TRUE(kept.has_value());
  ASSERT_EQ(kept->shard.size(), 2u);
  EXPECT_EQ(kept->set.label(1), 2u);
  EXPECT_FALSE(again->TakeIfChanged().has_value());
  EXPECT_EQ(again->report().accepted, 0u) << "in this life";
  EXPECT_EQ(again->report().classes, (std::vector<std::uint64_t>{1, 0, 1}));
}

TEST_F(IntakeTest, ListsHaveToFitOneAnother) {
  const auto intake = Open();
  const float values[4] = {1, 2, 3, 4};
  EXPECT_EQ(intake->Push(values, {"a", "b"}, {})->accepted, 2u);
  EXPECT_EQ(intake->Push(values, {"a", "2"}, {})->accepted, 2u);
  EXPECT_EQ(intake->Push(values, {"a", "3"}, {})->rejected, 1u);
  EXPECT_EQ(intake->Push(values, {"a"}, {}).error().code, ErrorCode::kData);
  EXPECT_EQ(intake->Push(values, {"a", "b"}, std::vector<float>{1, 2}).error().code,
            ErrorCode::kData);
  EXPECT_EQ(intake->Push({}, {}, {}).error().code, ErrorCode::kData);
  EXPECT_EQ(intake->Push(std::span(values).first(3), {"a"}, {}).error().code, ErrorCode::kData);
}

TEST_F(IntakeTest, TheJournalIsBoundedAndAReservoirStaysFair) {
  config_.data.live->max_samples = 100;
  config_.data.live->start_at = 1;
  std::string table = "x,y,label\n";
  for (int i = 0; i < 3000; ++i) table += std::to_string(i) + ",0,b\n";
  {
    const auto intake = Open();
    for (int times = 0; times < 60; ++times) EXPECT_EQ(Push(*intake, table).accepted, 3000u);
    EXPECT_EQ(Kept(*intake), 100u);
    EXPECT_LT(JournalBytes(), std::uint64_t{2} << 20);
  }
  const auto again = Open();
  EXPECT_EQ(Kept(*again), 100u);
  const auto before = again->TakeIfChanged();
  Push(*again, "x,y,label\n-1,0,a\n-2,0,a\n-3,0,a\n-4,0,a\n");
  const auto after = again->TakeIfChanged();
  ASSERT_TRUE(before.has_value() && after.has_value());
  // Each of the four has one chance in 1,800 to be kept.
  EXPECT_LE(again->report().classes[0], 1u);
}

TEST_F(IntakeTest, AShortTableOfManyNamesDoesNotOverfillARecord) {
  std::string colours = "colour=0";
  for (int i = 1; i < 256; ++i) colours += '|' + std::to_string(i);
  config_.model.input = {256};
  config_.data.train.csv_settings.categories = {colours};
  std::string table = "colour,label\n";
  for (int i = 0; i < 20'000; ++i) table += std::to_string(i % 256) + ",a\n";
  {
    const auto intake = Open();
    EXPECT_EQ(Push(*intake, table).accepted, 20'000u) << "20 MB as numbers";
    EXPECT_EQ(intake->report().accepted, 20'000u);
  }
  EXPECT_EQ(Kept(*Open()), 20'000u);
}

TEST_F(IntakeTest, AnotherModelDoesNotReadTheJournal) {
  Push(*Open(), "x,y,label\n1,2,a\n");
  config_.model.input = {1};
  const auto assembly = setup::Assemble(config_, {});
  ASSERT_TRUE(assembly.has_value());
  const auto intake = Intake::Open(config_, *assembly);
  ASSERT_FALSE(intake.has_value());
  EXPECT_EQ(intake.error().code, ErrorCode::kProtocol);
}

TEST_F(IntakeTest, ATableOfTheSpoolIsTakenOnceThoughTheNodeDiesInBetween) {
  fs::create_directories(folder_ / "spool");
  Write("spool/a.csv", "x,y,label\n1,2,a\n3,4,b\n");
  {
    const auto intake = Open();
    Spool spool(*intake, folder_ / "spool", false);
    ASSERT_TRUE(spool.Prepare().has_value());
    ASSERT_TRUE(spool.Scan().has_value());
    EXPECT_EQ(Kept(*intake), 2u);
  }
  // As if it had died before it moved the file.
  fs::rename(folder_ / "spool/done/a.csv", folder_ / "spool/a.csv");
  const auto again = Open();
  Spool spool(*again, folder_ / "spool", false);
  ASSERT_TRUE(spool.Scan().has_value());
  EXPECT_EQ(Kept(*again), 2u);
  EXPECT_TRUE(fs::exists(folder_ / "spool/done/a.csv"));
}

TEST_F(IntakeTest, ImagesOfTheSpoolLieInTheFolderOfTheirClass) {
  config_.model.input = {1, 2};
  config_.data.train.image_fit = data::ImageFit::kResize;
  config_.data.live->spool = folder_ / "spool";
  for (const char* const name : {"b", "dog"})
    fs::create_directories(folder_ / (std::string("spool/") + name));
  Write("spool/b/1.pgm", "P5 2 1 255\n\x07\x09");
  Write("spool/b/2.pgm", std::string("P5 4 1 255\n\x02\x04\x06\x08"));
  Write("spool/b/3.png", "none");
  Write("spool/b/4.pgm.part", "P5 2 1 255\n\x07\x09");
  Write("spool/dog/1.pgm", "P5 2 1 255\n\x07\x09");
  Write("spool/1.pgm", "P5 2 1 255\n\x07\x09");
  for (const int life : {1, 2}) {
    const auto intake = Open();
    Spool spool(*intake, folder_ / "spool", false);
    ASSERT_TRUE(spool.Prepare().has_value());
    ASSERT_TRUE(spool.Scan().has_value());
    const auto kept = intake->TakeIfChanged();
    ASSERT_TRUE(kept.has_value());
    ASSERT_EQ(kept->set.size(), 2u) << life;
    std::vector<float> values(2);
    data::ReadRaw(kept->set, 0, values);
    EXPECT_EQ(values, (std::vector<float>{7, 9}));
    data::ReadRaw(kept->set, 1, values);
    EXPECT_EQ(values, (std::vector<float>{3, 7})) << "resized";
    EXPECT_EQ(kept->set.label(1), 1u);
    EXPECT_EQ(intake->report().quarantined, life == 1 ? 3u : 0u);
    if (life == 1) fs::rename(folder_ / "spool/done/b/2.pgm", folder_ / "spool/b/2.pgm");
  }
  EXPECT_TRUE(fs::exists(folder_ / "spool/done/b/2.pgm"));
  EXPECT_TRUE(fs::exists(folder_ / "spool/b/4.pgm.part"));
  for (const char* const name : {"b/3.png", "dog/1.pgm", "1.pgm"}) {
    EXPECT_TRUE(fs::exists(folder_ / (std::string("spool/bad/") + name + ".reason"))) << name;
  }
}

TEST_F(IntakeTest, AFifoInTheSpoolIsNoTable) {
  const auto intake = Open();
  Spool spool(*intake, folder_ / "spool", false);
  ASSERT_TRUE(spool.Prepare().has_value());
  ASSERT_EQ(::mkfifo((folder_ / "spool/pipe.csv").c_str(), 0600), 0);
  ASSERT_TRUE(spool.Scan().has_value());
  EXPECT_EQ(intake->report().quarantined, 1u);
  EXPECT_TRUE(fs::exists(folder_ / "spool/bad/pipe.csv.reason"));
}

TEST_F(IntakeTest, ATableIsFollowedThroughAllThatHappensToIt) {
  const std::string path = folder_ / "log.csv";
  const auto intake = Open();
  Tail tail(*intake, path);
  ASSERT_TRUE(tail.Poll().has_value()) << "it need not be there";
  Write("log.csv", "x,y,label\n1,2,a\n3,4");
  ASSERT_TRUE(tail.Poll().has_value());
  EXPECT_EQ(Kept(*intake), 1u);
  Write("log.csv", ",b\n\n5,6,nobody\n");
  ASSERT_TRUE(tail.Poll().has_value());
  EXPECT_EQ(Kept(*intake), 2u);
  EXPECT_EQ(intake->report().rejected, 1u);
  fs::rename(path, path + ".1");
  Write("log.csv.1", "7,8,c\n");
  Write("log.csv", "y,x,label\n1,2,a\n");
  ASSERT_TRUE(tail.Poll().has_value());
  EXPECT_EQ(Kept(*intake), 4u) << "the old one to its end, then the new one";
  std::ofstream(path, std::ios::trunc) << "x,label\n1,a\n";
  ASSERT_TRUE(tail.Poll().has_value());
  EXPECT_EQ(Kept(*intake), 4u) << "its columns are wrong";
  EXPECT_EQ(intake->report().rejected, 3u);
  std::ofstream(path, std::ios::trunc) << "1,2,a\n";
  ASSERT_TRUE(tail.Poll().has_value());
  EXPECT_THAT(intake->report().last_rejected, HasSubstr("label")) << "without a header";
  fs::remove(path);
  std::ofstream(path, std::ios::trunc) << "x,y,label\n" << std::string(600'000, '1') << "\n1,2,a\n";
  ASSERT_TRUE(tail.Poll().has_value());
  EXPECT_EQ(Kept(*intake), 5u) << "behind a line that is too long";
}

}  // namespace
}  // namespace covey::node
