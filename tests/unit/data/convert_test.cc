// Files of every type: what their values become, the copy that is made, and what is refused.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "covey/data/dataset.h"
#include "data/convert.h"
#include "support/idx_files.h"
#include "unit/data/bytes.h"

namespace covey::data {
namespace {

using tensor::Element;
using test::Bytes;
using test::IdxBytes;

template <class T>
Bytes Big(const std::vector<T>& values) {
  Bytes bytes;
  for (const T value : values) {
    std::uint8_t little[sizeof(T)];
    std::memcpy(little, &value, sizeof(T));
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bytes.push_back(little[std::endian::native == std::endian::big ? i : sizeof(T) - 1 - i]);
    }
  }
  return bytes;
}

template <class T>
std::vector<T> Row(const Dataset& dataset, std::size_t i) {
  std::vector<T> row(dataset.features());
  std::memcpy(row.data(), dataset.row(i), row.size() * sizeof(T));
  return row;
}

class ConvertTest : public ::testing::Test {
 protected:
  Result<Dataset> Open(const Bytes& images, const Bytes& answers, bool targets = false) {
    test::WriteBytes(source_.images, images);
    test::WriteBytes(folder_ / "answers", answers);
    (targets ? source_.targets : source_.labels) = folder_ / "answers";
    return OpenIdx(source_, folder_ / "cache");
  }
  std::size_t Copies() {
    std::size_t count = 0;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "cache", none)) {
      count += entry.path().extension() == ".idx" ? 1u : 0u;
    }
    return count;
  }

  test::TemporaryFolder folder_;
  Source source_{folder_ / "images", {}};
  const Bytes labels_ = IdxBytes({2}, {1, 0});
};

TEST_F(ConvertTest, SixteenBitIntegersStaySoInTheMachinesOrder) {
  const auto images = IdxBytes({2, 3}, Big<std::int16_t>({-32768, -1, 0, 1, 258, 32767}), 0x0B);
  const Result<Dataset> dataset = Open(images, labels_);
  ASSERT_TRUE(dataset) << dataset.error().Format();
  EXPECT_EQ(dataset->element(), Element::kInt16);
  EXPECT_EQ(Row<std::int16_t>(*dataset, 0), (std::vector<std::int16_t>{-32768, -1, 0}));
  EXPECT_EQ(Row<std::int16_t>(*dataset, 1), (std::vector<std::int16_t>{1, 258, 32767}));
  EXPECT_EQ(dataset->scale(), 1.0f / 32768);
  EXPECT_EQ(Copies(), 1u);  // the labels are bytes and need none
  ASSERT_TRUE(Open(images, labels_));
}

TEST_F(ConvertTest, SignedBytesBecomeSixteenBits) {
  const Result<Dataset> dataset = Open(IdxBytes({2, 2}, {0x80, 0xff, 0x00, 0x7f}, 0x09), labels_);
  ASSERT_TRUE(dataset) << dataset.error().Format();
  EXPECT_EQ(dataset->element(), Element::kInt16);
  EXPECT_EQ(Row<std::int16_t>(*dataset, 0), (std::vector<std::int16_t>{-128, -1}));
  EXPECT_EQ(Row<std::int16_t>(*dataset, 1), (std::vector<std::int16_t>{0, 127}));
}

TEST_F(ConvertTest, TheRestBecomesFloat) {
  const std::vector<Bytes> files = {
      IdxBytes({2, 2}, Big<std::int32_t>({-5, 16777217, 3, 1 << 30}), 0x0C),
      IdxBytes({2, 2}, Big<float>({-5, 16777216, 3, 1073741824}), 0x0D),
      IdxBytes({2, 2}, Big<double>({-5, 16777217, 3, 1073741824.0001}), 0x0E)};
  for (const Bytes& file : files) {
    const Result<Dataset> dataset = Open(file, labels_);
    ASSERT_TRUE(dataset) << dataset.error().Format();
    EXPECT_EQ(dataset->element(), Element::kFloat32);
    EXPECT_EQ(Row<float>(*dataset, 0), (std::vector<float>{-5, 16777216}));
    EXPECT_EQ(Row<float>(*dataset, 1), (std::vector<float>{3, 1073741824}));
    EXPECT_EQ(dataset->scale(), 1);  // unit leaves floats alone
  }
}

TEST_F(ConvertTest, GzippedFilesAreConvertedToo) {
  std::vector<float> values(50000);  // many of the reader's chunks
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 7 - 1000;
  const Bytes images = IdxBytes({2, 25000}, Big(values), 0x0D);
  const Result<Dataset> dataset = Open(test::Gzip(images), labels_);
  ASSERT_TRUE(dataset) << dataset.error().Format();
  EXPECT_EQ(Row<float>(*dataset, 1), std::vector<float>(values.begin() + 25000, values.end()));
}

TEST_F(ConvertTest, TargetsAreFloatsWhateverTheirType) {
  const Bytes images = IdxBytes({2, 1}, {1, 2});
  const Result<Dataset> bytes = Open(images, IdxBytes({2, 3}, {1, 2, 3, 4, 5, 255}), true);
  ASSERT_TRUE(bytes) << bytes.error().Format();
  EXPECT_FALSE(bytes->has_labels());
  EXPECT_EQ(bytes->outputs(), 3u);
  EXPECT_EQ(bytes->target(1)[2], 255);
  EXPECT_EQ(bytes->classes(), 0u);
  EXPECT_EQ(bytes->size(), 2u);
  const Result<Dataset> one = Open(images, IdxBytes({2}, Big<double>({0.5, -2}), 0x0E), true);
  ASSERT_TRUE(one) << one.error().Format();
  EXPECT_EQ(one->outputs(), 1u);
  EXPECT_EQ(one->target(1)[0], -2);
  EXPECT_EQ(Open(images, IdxBytes({3}, {1, 2, 3}), true).error().what,
            "3 targets, wanted 2: one for each sample of " + source_.images);
}

TEST_F(ConvertTest, LabelsOfAnyTypeAreWholeNumbersToTwoHundredFiftyFive) {
  const Bytes images = IdxBytes({2, 1}, {1, 2});
  const Result<Dataset> dataset = Open(images, IdxBytes({2}, Big<std::int32_t>({255, 0}), 0x0C));
  ASSERT_TRUE(dataset) << dataset.error().Format();
  EXPECT_EQ(dataset->label(0), 255u);
  const auto refused = [&](const Bytes& labels) {
    const Result<Dataset> opened = Open(images, labels);
    return opened ? std::string("opened") : opened.error().where + ": " + opened.error().what;
  };
  const std::string path = folder_ / "answers";
  const std::string want = ", wanted a whole number from 0 to 255";
  EXPECT_EQ(refused(IdxBytes({2}, Big<std::int32_t>({0, 256}), 0x0C)),
            path + ", byte 12: label 256 of sample 1" + want);
  EXPECT_EQ(refused(IdxBytes({2}, Big<std::int16_t>({-1, 0}), 0x0B)),
            path + ", byte 8: label -1 of sample 0" + want);
  EXPECT_EQ(refused(IdxBytes({2}, Big<float>({2, 0.5f}), 0x0D)),
            path + ", byte 12: label 0.5 of sample 1" + want);
}

TEST_F(ConvertTest, RefusesValuesThatAreNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto floats = Open(IdxBytes({2, 2}, Big<float>({1, 2, 3, nan}), 0x0D), labels_);
  ASSERT_FALSE(floats);
  EXPECT_EQ(floats.error().code, ErrorCode::kData);
  EXPECT_EQ(floats.error().where, source_.images + ", byte 24");
  EXPECT_EQ(floats.error().what, "value nan of sample 1, wanted a finite number of at most 3.4e38");
  const auto doubles = Open(IdxBytes({2, 1}, Big<double>({3.3e38, -3.5e38}), 0x0E), labels_);
  ASSERT_FALSE(doubles);
  EXPECT_EQ(doubles.error().what,
            "value -3.5e+38 of sample 1, wanted a finite number of at most 3.4e38");
  EXPECT_EQ(Copies(), 0u);  // nothing half done is left
}

TEST_F(ConvertTest, ChecksTheSizeBeforeItCopies) {
  Bytes cut = IdxBytes({2, 2}, Big<float>({1, 2, 3, 4}), 0x0D);
  cut.pop_back();
  EXPECT_EQ(Open(cut, labels_).error().what, "truncated: got 27 bytes, wanted 28 for 2 x 2");
}

TEST_F(ConvertTest, ACopyIsNoIdxFile) {
  ASSERT_TRUE(Open(IdxBytes({2, 1}, Big<float>({1, 2}), 0x0D), labels_));
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "cache")) {
    if (entry.path().extension() != ".idx") continue;
    source_.images = entry.path().string();
    EXPECT_NE(OpenIdx(source_, folder_ / "cache").error().what.find("not an IDX file"),
              std::string::npos);
  }
}

TEST_F(ConvertTest, ScalesByAGivenNumber) {
  source_.normalize = Normalize::kScale;
  source_.scale = 0.25f;
  const Result<Dataset> dataset = Open(IdxBytes({2, 1}, {1, 2}), labels_);
  ASSERT_TRUE(dataset);
  EXPECT_EQ(dataset->scale(), 0.25f);
}

// Whatever the size of the pieces in which a file comes.
TEST(Converting, JoinsValuesThatWereCut) {
  const Bytes file = IdxBytes({5}, Big<double>({1, -2, 3, 0.5, 5}), 0x0E);
  const auto* start = reinterpret_cast<const std::byte*>(file.data());
  const auto header = ParseIdxHeader(ByteView(start, file.size()), "f");
  ASSERT_TRUE(header);
  for (std::size_t piece = 1; piece < 20; ++piece) {
    std::vector<std::byte> copy;
    const TakeBytes take = Converting(
        *header, Element::kFloat32,
        [&copy](ByteView bytes) -> Status {
          copy.insert(copy.end(), bytes.begin(), bytes.end());
          return {};
        },
        "f");
    for (std::size_t at = 0; at < file.size(); at += piece) {
      ASSERT_TRUE(take(ByteView(start + at, std::min(piece, file.size() - at))));
    }
    ASSERT_EQ(copy.size(), SizeOfCopy(*header, Element::kFloat32));
    std::vector<float> values(5);
    std::memcpy(values.data(), copy.data() + header->header_bytes, 20);
    EXPECT_EQ(values, (std::vector<float>{1, -2, 3, 0.5f, 5})) << piece;
  }
}

TEST(Symbols, AreWholeNumbersBelowTheirCount) {
  Dataset::Memory memory;
  memory.shape = {3};
  memory.rows = {0, 1, 2, 3, 99, 5};
  memory.labels = {0, 0};
  const Dataset bytes = Dataset::FromMemory(memory);
  EXPECT_TRUE(CheckSymbols(bytes, 100, "f"));
  const Status status = CheckSymbols(bytes, 99, "f");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().where, "f");
  EXPECT_EQ(status.error().what,
            "element 1 of sample 1 is 99, wanted a symbol: a whole number from 0 to 98");

  const auto of_floats = [](const std::vector<float>& values) {
    Dataset::Memory floats;
    floats.shape = {values.size()};
    floats.element = Element::kFloat32;
    floats.rows.resize(values.size() * sizeof(float));
    std::memcpy(floats.rows.data(), values.data(), floats.rows.size());
    floats.labels = {0};
    const Status checked = CheckSymbols(Dataset::FromMemory(floats), 4, "f");
    return checked ? std::string("sound") : checked.error().what;
  };
  EXPECT_EQ(of_floats({0, 3}), "sound");
  EXPECT_EQ(of_floats({0, 1.5f}),
            "element 1 of sample 0 is 1.5, wanted a symbol: a whole number from 0 to 3");
  EXPECT_NE(of_floats({-1}), "sound");
  EXPECT_NE(of_floats({4}), "sound");
}

}  // namespace
}  // namespace covey::data
