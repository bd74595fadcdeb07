#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "covey/data/dataset.h"
#include "support/idx_files.h"

namespace covey::data::open_records_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class OpenRecordsTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& bytes) {
    std::filesystem::create_directories(std::filesystem::path(folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  // An image whose planes are red, green and blue.
  static std::string Record(const std::string& labels, char red, char green, char blue) {
    return labels + std::string(1024, red) + std::string(1024, green) + std::string(1024, blue);
  }
  Dataset Good() {
    const Result<Dataset> set = Open(source_, folder_ / "cache");
    EXPECT_TRUE(set.has_value()) << set.error().Format();
    return set.value_or(Dataset());
  }
  std::string Bad(ErrorCode code = ErrorCode::kData) {
    const Result<Dataset> set = Open(source_, folder_ / "cache");
    EXPECT_FALSE(set.has_value());
    if (set) return "";
    EXPECT_EQ(set.error().code, code) << set.error().Format();
    return set.error().Format();
  }

  test::TemporaryFolder folder_;
  Source source_;
};

TEST_F(OpenRecordsTest, CifarIsReadWithChannelsLast) {
  Write("c/data_batch_2.bin", Record("\x09", 1, 2, 3));
  Write("c/data_batch_1.bin", Record(std::string(1, '\0'), 4, 5, 6) + Record("\x01", 7, 8, 9));
  Write("c/test_batch.bin", Record("\x02", 0, 0, 0));
  source_.cifar = folder_ / "c";
  const Dataset set = Good();
  ASSERT_EQ(set.size(), 3u);
  EXPECT_THAT(set.shape(), ElementsAre(32, 32, 3));
  EXPECT_EQ(set.classes(), 10u);
  EXPECT_EQ(set.label(0), 0u);
  EXPECT_EQ(set.label(2), 9u);
  EXPECT_EQ(set.row(1)[0], 7);
  EXPECT_EQ(set.row(1)[1], 8);
  EXPECT_EQ(set.row(1)[3071], 9);
  EXPECT_FLOAT_EQ(set.scale(), 1.0f / 255);
  source_.cifar = folder_ / "c/test_batch.bin";
  EXPECT_EQ(Good().label(0), 2u);
}

TEST_F(OpenRecordsTest, Cifar100HasItsFineLabels) {
  Write("c/train.bin", Record("\x13\x63", 1, 2, 3));
  source_.cifar = folder_ / "c";
  const Dataset set = Good();
  EXPECT_EQ(set.classes(), 100u);
  EXPECT_EQ(set.label(0), 99u);
  source_.classes = 99;
  EXPECT_THAT(Bad(), HasSubstr("100 classes, wanted at most 99"));
}

TEST_F(OpenRecordsTest, WrongCifarFilesAreNamed) {
  source_.cifar = folder_ / "none";
  Bad(ErrorCode::kNoInput);
  Write("c/readme.html", "x");
  source_.cifar = folder_ / "c";
  EXPECT_THAT(Bad(ErrorCode::kNoInput), HasSubstr("data_batch_*.bin"));
  source_.cifar = folder_ / "c/readme.html";
  EXPECT_THAT(Bad(), HasSubstr("has 1 bytes, wanted a multiple of 3073"));
  Write("b.bin", Record("\x01", 1, 2, 3).substr(1));
  source_.cifar = folder_ / "b.bin";
  Bad();
  Write("b.bin", Record("\x01", 1, 2, 3) + Record("\x0a", 1, 2, 3));
  EXPECT_THAT(Bad(), HasSubstr("b.bin:byte 3073: label 10, wanted one below 10"));
  Write("b.bin", "");
  Bad();
  std::filesystem::remove(folder_ / "b.bin");
  ASSERT_EQ(::mkfifo((folder_ / "b.bin").c_str(), 0600), 0);
  EXPECT_THAT(Bad(), HasSubstr("b.bin"));
}

TEST_F(OpenRecordsTest, ATextIsWindowsAndWhatFollows) {
  Write("t", "abcab\xC3\xA9");
  source_.text = folder_ / "t";
  source_.shape = {3};
  source_.text_step = 1;
  const Dataset set = Good();
  ASSERT_EQ(set.size(), 3u);
  EXPECT_EQ(set.label_names(), (LabelNames{"a", "b", "c", "\xC3\xA9"}));
  EXPECT_THAT(std::vector<int>(set.row(1), set.row(1) + 3), ElementsAre(1, 2, 0));
  EXPECT_EQ(set.label(1), 1u);
  EXPECT_EQ(set.label(2), 3u);
  EXPECT_EQ(set.normalize(), Normalize::kNone);
  source_.text_step = 2;
  EXPECT_EQ(Good().size(), 2u);
}

TEST_F(OpenRecordsTest, AFleetsAlphabetIsKept) {
  Write("t", "bab");
  source_.text = folder_ / "t";
  source_.shape = {2};
  source_.label_names = {"a", "b", "z"};
  const Dataset set = Good();
  EXPECT_EQ(set.classes(), 3u);
  EXPECT_EQ(set.row(0)[0], 1);
  source_.label_names = {"a", "z"};
  EXPECT_THAT(Bad(), HasSubstr("t:byte 0: 'b' is not in the alphabet"));
  source_.label_names = {"a", "bc"};
  EXPECT_THAT(Bad(), HasSubstr("is not one character"));
}

TEST_F(OpenRecordsTest, WrongTextsAreNamed) {
  source_.text = folder_ / "t";
  source_.shape = {3};
  Bad(ErrorCode::kNoInput);
  Write("t", "abc");
  EXPECT_THAT(Bad(), HasSubstr("got 3 characters; wanted more than the window's 3"));
  Write("t", "abc\xFF");
  EXPECT_THAT(Bad(), HasSubstr("t:byte 3: not UTF-8"));
  source_.shape = {3, 1};
  EXPECT_THAT(Bad(ErrorCode::kConfig), HasSubstr("length of a window"));
}

}  // namespace
}  // namespace covey::data::open_records_test
