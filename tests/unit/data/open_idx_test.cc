// OpenIdx on plain files: what is read, and every way in which a file can be wrong.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <functional>
#include <string>
#include <vector>

#include "covey/data/dataset.h"
#include "support/idx_files.h"
#include "unit/data/bytes.h"

namespace covey::data {
namespace {

using test::Bytes;
using test::IdxBytes;

class OpenIdxTest : public ::testing::Test {
 protected:
  Result<Dataset> Open(const Bytes& images, const Bytes& labels, std::uint32_t classes = 0) {
    test::WriteBytes(source_.images, images);
    test::WriteBytes(source_.labels, labels);
    source_.classes = classes;
    return OpenIdx(source_, folder_ / "cache");
  }
  // Opens what must be refused. Returns: the error.
  Error Refused(const Bytes& images, const Bytes& labels, std::uint32_t classes = 0) {
    const Result<Dataset> opened = Open(images, labels, classes);
    EXPECT_FALSE(opened.has_value());
    return opened ? Error{} : opened.error();
  }

  test::TemporaryFolder folder_;
  Source source_{folder_ / "images", folder_ / "labels", Normalize::kUnit, 0};
  const Bytes images_ = IdxBytes({3, 2, 2}, {0, 1, 2, 3, 10, 11, 12, 13, 252, 253, 254, 255});
  const Bytes labels_ = IdxBytes({3}, {2, 0, 1});
};

TEST_F(OpenIdxTest, ReadsRowsLabelsAndShape) {
  const Result<Dataset> dataset = Open(images_, labels_);
  ASSERT_TRUE(dataset) << dataset.error().Format();
  EXPECT_EQ(dataset->size(), 3u);
  EXPECT_EQ(dataset->features(), 4u);
  EXPECT_EQ(dataset->shape(), (std::vector<std::size_t>{2, 2}));
  EXPECT_EQ(dataset->classes(), 3u);
  EXPECT_EQ(dataset->row(0)[0], 0);
  EXPECT_EQ(dataset->row(1)[2], 12);
  EXPECT_EQ(dataset->row(2)[3], 255);
  EXPECT_EQ(dataset->label(0), 2u);
  EXPECT_EQ(dataset->label(2), 1u);
  EXPECT_EQ(dataset->labels().size(), 3u);
}

TEST_F(OpenIdxTest, PlainFilesNeedNoCacheFolder) {
  ASSERT_TRUE(Open(images_, labels_));
  struct stat status {};
  EXPECT_NE(::stat((folder_ / "cache").c_str(), &status), 0);
}

TEST_F(OpenIdxTest, NormalisesToUnitOrNotAtAll) {
  const Result<Dataset> unit = Open(images_, labels_);
  ASSERT_TRUE(unit);
  EXPECT_FLOAT_EQ(255 * unit->scale() + unit->offset(), 1.0f);
  EXPECT_FLOAT_EQ(0 * unit->scale() + unit->offset(), 0.0f);
  source_.normalize = Normalize::kNone;
  const Result<Dataset> none = Open(images_, labels_);
  ASSERT_TRUE(none);
  EXPECT_FLOAT_EQ(255 * none->scale() + none->offset(), 255.0f);
}

TEST_F(OpenIdxTest, RowsOutliveTheFileAndTheFirstCopy) {
  Dataset copy;
  {
    Result<Dataset> dataset = Open(images_, labels_);
    ASSERT_TRUE(dataset);
    copy = *dataset;
  }
  ::unlink(source_.images.c_str());
  EXPECT_EQ(copy.row(2)[3], 255);
}

TEST_F(OpenIdxTest, TakesStatedClassesEvenIfTheLastIsAbsent) {
  const Result<Dataset> dataset = Open(images_, labels_, 10);
  ASSERT_TRUE(dataset);
  EXPECT_EQ(dataset->classes(), 10u);
}

TEST_F(OpenIdxTest, RefusesALabelOutOfRangeAndNamesItsPlace) {
  EXPECT_TRUE(Open(images_, labels_, 3));
  const Error error = Refused(images_, labels_, 2);
  EXPECT_EQ(error.code, ErrorCode::kData);
  EXPECT_EQ(error.where, source_.labels + ", byte 8");
  EXPECT_EQ(error.what, "label 2 of sample 0, wanted 0 to 1");
}

TEST_F(OpenIdxTest, MissingFilesAreNoInput) {
  EXPECT_EQ(OpenIdx(source_, folder_ / "cache").error().code, ErrorCode::kNoInput);
  test::WriteBytes(source_.images, images_);
  const Result<Dataset> no_labels = OpenIdx(source_, folder_ / "cache");
  ASSERT_FALSE(no_labels);
  EXPECT_EQ(no_labels.error().code, ErrorCode::kNoInput);
  EXPECT_EQ(no_labels.error().where, source_.labels);
}

TEST_F(OpenIdxTest, RefusesWhatIsNotARegularFile) {
  test::WriteBytes(source_.labels, labels_);
  source_.images = folder_.path().string();
  EXPECT_EQ(OpenIdx(source_, folder_ / "cache").error().what, "is a folder, wanted a regular file");
  source_.images = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(source_.images.c_str(), 0600), 0);
  const Result<Dataset> fifo =
      OpenIdx(source_, folder_ / "cache");  // and does not wait for a writer
  ASSERT_FALSE(fifo);
  EXPECT_EQ(fifo.error().code, ErrorCode::kData);
  source_.images = "/dev/zero";
  EXPECT_EQ(OpenIdx(source_, folder_ / "cache").error().code, ErrorCode::kData);
}

TEST_F(OpenIdxTest, RefusesAnEmptyFile) {
  EXPECT_EQ(Refused({}, labels_).code, ErrorCode::kData);
  EXPECT_EQ(Refused(images_, {}).code, ErrorCode::kData);
}

TEST_F(OpenIdxTest, RefusesEveryTruncation) {
  for (std::size_t size = 1; size < images_.size(); ++size) {
    const Bytes cut(images_.begin(), images_.begin() + static_cast<std::ptrdiff_t>(size));
    const Error error = Refused(cut, labels_);
    EXPECT_EQ(error.code, ErrorCode::kData) << size;
    EXPECT_NE(error.where.find(", byte " + std::to_string(size)), std::string::npos)
        << error.Format();
  }
}

TEST_F(OpenIdxTest, RefusesBytesBehindTheEnd) {
  Bytes longer = images_;
  longer.push_back(0);
  EXPECT_EQ(Refused(longer, labels_).what,
            "more bytes than its header says: got 29, wanted 28 for 3 x 2 x 2");
  Bytes more_labels = labels_;
  more_labels.push_back(0);
  EXPECT_EQ(Refused(images_, more_labels).code, ErrorCode::kData);
}

TEST_F(OpenIdxTest, RefusesUnknownTypes) {
  for (const std::uint8_t type : test::Bytes{0x00, 0x07, 0x0A, 0x0F}) {
    EXPECT_EQ(Refused(IdxBytes({3, 4}, Bytes(12), type), labels_).where,
              source_.images + ", byte 2");
  }
  EXPECT_EQ(Refused(IdxBytes({3, 4}, Bytes(12), 0x0A), labels_).what,
            "values of unknown type 0x0a, wanted 0x08 or 0x09 (bytes), 0x0b (16-bit integers), "
            "0x0c (32-bit integers), 0x0d (floats) or 0x0e (doubles)");
}

TEST_F(OpenIdxTest, RefusesWhatIsNotIdx) {
  const std::string csv = "label,pixel\n1,2\n";
  const Error error = Refused(Bytes(csv.begin(), csv.end()), labels_);
  EXPECT_EQ(error.where, source_.images + ", byte 0");
  EXPECT_NE(error.what.find("not an IDX file"), std::string::npos);
}

TEST_F(OpenIdxTest, LimitsTheNumberOfDimensions) {
  EXPECT_TRUE(Open(IdxBytes({3, 1, 1, 1, 1, 1, 1, 2}, Bytes(6)), labels_));
  EXPECT_EQ(Refused(IdxBytes({3, 1, 1, 1, 1, 1, 1, 1, 2}, Bytes(6)), labels_).what,
            "9 dimensions, wanted 1 to 8");
  EXPECT_EQ(Refused(IdxBytes({}, Bytes(6)), labels_).what, "0 dimensions, wanted 1 to 8");
}

TEST_F(OpenIdxTest, RefusesDimensionsOfZeroAndOverflow) {
  EXPECT_EQ(Refused(IdxBytes({3, 0}, {}), labels_).what,
            "dimension 1 is 0: the file holds no values");
  EXPECT_EQ(Refused(IdxBytes({0, 4}, {}), IdxBytes({0}, {})).code, ErrorCode::kData);
  const std::uint32_t huge = std::uint32_t{1} << 31;
  // 2^31 alone is merely truncated; 2^62 too; 2^93 does not fit.
  EXPECT_NE(Refused(IdxBytes({huge}, {}), labels_).what.find("truncated"), std::string::npos);
  EXPECT_NE(Refused(IdxBytes({huge, huge}, {}), labels_).what.find("truncated"), std::string::npos);
  EXPECT_NE(Refused(IdxBytes({huge, huge, huge}, {}), labels_).what.find("more than 2^63"),
            std::string::npos);
  // Products that wrap to something small must not pass: 2^32 * 2^32 = 0 modulo 2^64.
  EXPECT_EQ(Refused(IdxBytes({65536, 65536, 65536, 65536}, {}), labels_).code, ErrorCode::kData);
}

TEST_F(OpenIdxTest, RefusesAMismatchOfImagesAndLabels) {
  const Error error = Refused(images_, IdxBytes({2}, {0, 1}));
  EXPECT_EQ(error.code, ErrorCode::kData);
  EXPECT_NE(error.what.find("2 labels, wanted 3"), std::string::npos) << error.what;
}

TEST_F(OpenIdxTest, HintsAtExchangedPaths) {
  EXPECT_NE(Refused(labels_, images_).hint.find("exchanged"), std::string::npos);
  EXPECT_NE(Refused(images_, images_).hint.find("exchanged"), std::string::npos);
}

TEST_F(OpenIdxTest, ReadsAKeyColumn) {
  test::WriteBytes(folder_ / "keys", IdxBytes({4}, {45, 0, 1, 45}));
  const auto keys = OpenIdxColumn(folder_ / "keys", folder_ / "cache");
  ASSERT_TRUE(keys) << keys.error().Format();
  EXPECT_EQ(*keys, (std::vector<std::uint32_t>{45, 0, 1, 45}));
  test::WriteBytes(folder_ / "keys", images_);
  EXPECT_FALSE(OpenIdxColumn(folder_ / "keys", folder_ / "cache"));
}

TEST(FromMemory, HoldsItsOwnCopy) {
  Dataset::Memory memory;
  memory.shape = {2};
  memory.rows = {1, 2, 3, 4};
  memory.labels = {0, 4};
  const Dataset dataset = Dataset::FromMemory(memory);
  memory.rows.assign(4, 0);
  EXPECT_EQ(dataset.size(), 2u);
  EXPECT_EQ(dataset.row(1)[0], 3);
  EXPECT_EQ(dataset.classes(), 5u);
}

}  // namespace
}  // namespace covey::data
