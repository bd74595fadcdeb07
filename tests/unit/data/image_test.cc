#include "data/image_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "covey/data/dataset.h"
#include "support/idx_files.h"

namespace covey::data::image_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A file of the fuzz corpus.
std::string Sample(const std::string& name) {
  const char* const root = std::getenv("COVEY_SOURCE");
  const std::string folder = root == nullptr ? "." : root;
  std::ifstream file(folder + "/tests/fuzz/data/corpus/image/" + name, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

Result<Pixels> Decode(const std::string& bytes, std::size_t channels) {
  return DecodeImage({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}, channels,
                     "f");
}

TEST(DecodeImage, PngInColourAndGrey) {
  const Result<Pixels> colour = Decode(Sample("png"), 3);
  ASSERT_TRUE(colour.has_value()) << colour.error().Format();
  EXPECT_EQ(colour->height, 2u);
  EXPECT_THAT(colour->bytes, ElementsAre(255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9));
  EXPECT_THAT(Decode(Sample("grey"), 1)->bytes, ElementsAre(0, 128, 255));
  EXPECT_THAT(Decode(Sample("grey"), 3)->bytes, ElementsAre(0, 0, 0, 128, 128, 128, 255, 255, 255));
}

TEST(DecodeImage, JpegBaselineAndProgressive) {
  for (const char* const name : {"jpeg", "progressive"}) {
    const Result<Pixels> image = Decode(Sample(name), 3);
    ASSERT_TRUE(image.has_value()) << image.error().Format();
    EXPECT_EQ(image->height, 4u);
    EXPECT_EQ(image->width, 8u);
    EXPECT_GT(image->bytes[0], 180) << "red at the left";
    EXPECT_LT(image->bytes[2], 80);
    EXPECT_GT(image->bytes[23], 180) << "blue at the right";
    EXPECT_EQ(Decode(Sample(name), 1)->bytes.size(), 32u);
  }
}

TEST(DecodeImage, PgmAndPpm) {
  EXPECT_THAT(Decode(Sample("pgm"), 1)->bytes, ElementsAre(0, 64, 128, 255));
  EXPECT_THAT(Decode("P5 1 1 15\n\x0f", 3)->bytes, ElementsAre(255, 255, 255)) << "scaled";
  EXPECT_THAT(Decode(Sample("ppm16"), 3)->bytes, ElementsAre(255, 127, 0));
  EXPECT_THAT(Decode(std::string("P6 1 1 255\n\xff\0\0", 14), 1)->bytes, ElementsAre(76));
}

TEST(DecodeImage, WhatIsWrongIsRefused) {
  for (const char* const name : {"huge", "bomb", "png_cut", "jpeg_cut", "jpeg_end", "pgm_huge",
                                 "pgm_short", "pgm_zero", "text", "p5"}) {
    const std::string bytes = Sample(name);
    ASSERT_FALSE(bytes.empty()) << name;
    const Result<Pixels> image = Decode(bytes, 1);
    EXPECT_FALSE(image.has_value()) << name;
    if (image) continue;
    EXPECT_EQ(image.error().code, ErrorCode::kData);
  }
  EXPECT_FALSE(Decode("", 1).has_value());
}

TEST(Resized, EveryPixelIsTheMeanOfItsArea) {
  const Pixels two{1, 2, 1, {0, 100}};
  EXPECT_THAT(Resized(two, 1, 1).bytes, ElementsAre(50));
  EXPECT_THAT(Resized(two, 2, 4).bytes, ElementsAre(0, 0, 100, 100, 0, 0, 100, 100));
  const Pixels three{1, 3, 1, {0, 90, 30}};
  EXPECT_THAT(Resized(three, 1, 2).bytes, ElementsAre(30, 50));
  EXPECT_THAT(Resized({1, 2, 3, {0, 10, 20, 100, 30, 40}}, 1, 1).bytes, ElementsAre(50, 20, 30));
}

class Folder : public ::testing::Test {
 protected:
  Folder() {
    source_.folder = folder_ / "photos";
    source_.shape = {2, 2};
  }
  void Put(const std::string& name, const std::string& bytes) {
    const std::filesystem::path path = folder_.path() / "photos" / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
  }
  Result<Dataset> Try() { return Open(source_, folder_ / "cache"); }
  std::string Bad() {
    const Result<Dataset> set = Try();
    EXPECT_FALSE(set.has_value());
    return set ? "" : set.error().where + ": " + set.error().what;
  }
  test::TemporaryFolder folder_;
  Source source_;
};

TEST_F(Folder, AFolderForEachClass) {
  Put("dog/b.png", Sample("png"));
  Put("dog/a.pgm", Sample("pgm"));
  Put("cat/1.pgm", "P5 2 2 255\n\1\2\3\4");
  Put("cat/.hidden", "no image");
  Put("read.me", "beside the classes");
  const Result<Dataset> set = Try();
  ASSERT_TRUE(set.has_value()) << set.error().Format();
  EXPECT_EQ(set->size(), 3u);
  EXPECT_THAT(set->label_names(), ElementsAre("cat", "dog"));
  EXPECT_EQ(set->label(0), 0u);
  EXPECT_EQ(set->row(0)[3], 4);
  EXPECT_EQ(set->row(1)[1], 64) << "a.pgm before b.png";
  EXPECT_FLOAT_EQ(set->scale(), 1.0f / 255);
  source_.shape = {2, 2, 3};
  EXPECT_EQ(Try()->row(2)[0], 255);
  source_.label_names = {"dog", "horse", "cat"};
  EXPECT_EQ(Try()->classes(), 3u);
  source_.label_names = {"dog"};
  EXPECT_THAT(Bad(), HasSubstr("class 'cat' is new"));
}

TEST_F(Folder, AnotherSizeIsRefusedOrResized) {
  Put("a/1.png", Sample("grey"));
  EXPECT_THAT(Bad(), HasSubstr("1.png: is 1 x 3 pixels, wanted 2 x 2"));
  source_.image_fit = ImageFit::kResize;
  EXPECT_EQ(Try()->row(0)[0], 43);
}

TEST_F(Folder, MistakesNameTheFile) {
  EXPECT_EQ(Try().error().code, ErrorCode::kNoInput);
  Put("read.me", "x");
  EXPECT_THAT(Bad(), HasSubstr("has no folder inside"));
  std::filesystem::create_directories(folder_.path() / "photos" / "a");
  EXPECT_THAT(Bad(), HasSubstr("holds no image"));
  Put("a/1.pgm", Sample("pgm"));
  Put("a/notes.txt", "some text");
  EXPECT_THAT(Bad(), HasSubstr("notes.txt: is no image that is known"));
  source_.shape = {4};
  EXPECT_THAT(Bad(), HasSubstr("model.input"));
}

}  // namespace
}  // namespace covey::data::image_test
