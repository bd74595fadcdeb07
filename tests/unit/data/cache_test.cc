// Gzipped files: unpacked once, shared, remade when the copy is bad, bounded whatever the file
// says.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "covey/data/dataset.h"
#include "data/gunzip.h"
#include "support/idx_files.h"
#include "unit/data/bytes.h"

namespace covey::data {
namespace {

namespace fs = std::filesystem;
using test::Bytes;
using test::Gzip;
using test::IdxBytes;

Bytes Ramp(std::size_t size) {
  Bytes values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<std::uint8_t>(i * 37 % 251);
  return values;
}

class CacheTest : public ::testing::Test {
 protected:
  CacheTest() {
    test::WriteBytes(source_.images, Gzip(images_));
    test::WriteBytes(source_.labels, Gzip(labels_));
  }
  Result<Dataset> Open() { return OpenIdx(source_, folder_ / "cache"); }
  std::vector<fs::path> Copies() {
    std::vector<fs::path> copies;
    for (const auto& entry : fs::directory_iterator(folder_ / "cache")) {
      if (entry.path().extension() == ".idx") copies.push_back(entry.path());
    }
    return copies;
  }
  fs::path ImagesCopy() {
    for (const fs::path& copy : Copies()) {
      if (fs::file_size(copy) == images_.size()) return copy;
    }
    return {};
  }
  ino_t Inode(const fs::path& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_ino;
  }
  void ExpectGood(const Result<Dataset>& dataset) {
    ASSERT_TRUE(dataset) << dataset.error().Format();
    ASSERT_EQ(dataset->size(), 500u);
    EXPECT_EQ(Bytes(dataset->row(0), dataset->row(0) + values_.size()), values_);
  }
  std::string OpenError(const Bytes& packed_images) {
    test::WriteBytes(source_.images, packed_images);
    const Result<Dataset> dataset = Open();
    EXPECT_FALSE(dataset);
    if (dataset) return "";
    EXPECT_EQ(dataset.error().code, ErrorCode::kData);
    return dataset.error().what;
  }

  test::TemporaryFolder folder_;
  Source source_{folder_ / "images.gz", folder_ / "labels.gz", Normalize::kUnit, 0};
  const Bytes values_ = Ramp(500 * 28 * 28);  // several of the reader's chunks
  const Bytes images_ = IdxBytes({500, 28, 28}, values_);
  const Bytes labels_ = IdxBytes({500}, Bytes(500, 3));
};

TEST_F(CacheTest, UnpacksOnceAndMapsTheCopy) {
  ExpectGood(Open());
  ASSERT_EQ(Copies().size(), 2u);
  const fs::path copy = ImagesCopy();
  EXPECT_EQ(test::ReadBytes(copy.string()), images_);
  const ino_t first = Inode(copy);
  ExpectGood(Open());
  EXPECT_EQ(Inode(copy), first) << "the copy was made twice";
  struct stat status {};
  ASSERT_EQ(::stat((folder_ / "cache").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(CacheTest, AGoodCopyServesFromAFolderThatCannotBeWritten) {
  ExpectGood(Open());
  fs::remove(folder_ / "cache/lock");
  ExpectGood(Open());
  EXPECT_FALSE(fs::exists(folder_ / "cache/lock")) << "a good copy needs no lock";
}

TEST_F(CacheTest, RemakesATruncatedCopy) {
  ExpectGood(Open());
  fs::resize_file(ImagesCopy(), images_.size() - 1);
  ExpectGood(Open());
}

TEST_F(CacheTest, RemakesACopyThatIsTooLongOrEmpty) {
  ExpectGood(Open());
  fs::resize_file(ImagesCopy(), images_.size() + 1);
  ExpectGood(Open());
  fs::resize_file(ImagesCopy(), 0);
  ExpectGood(Open());
}

TEST_F(CacheTest, RemakesACopyWithAnotherHeader) {
  ExpectGood(Open());
  Bytes other = images_;
  std::swap(other[7], other[11]);  // 500 x 28 becomes other numbers with the same file size
  test::WriteBytes(ImagesCopy().string(), other);
  ExpectGood(Open());
}

TEST_F(CacheTest, MakesAnotherCopyWhenTheSourceChanges) {
  ExpectGood(Open());
  const Bytes other = IdxBytes({500, 28, 28}, Bytes(500 * 28 * 28, 9));
  test::WriteBytes(source_.images, Gzip(other));  // another size at least
  const Result<Dataset> dataset = Open();
  ASSERT_TRUE(dataset);
  EXPECT_EQ(dataset->row(499)[783], 9);
}

TEST_F(CacheTest, RemovesWhatAKilledProcessLeft) {
  fs::create_directory(folder_ / "cache");
  test::WriteBytes(folder_ / "cache/0123.idx.tmp.99999", Bytes(10));
  ExpectGood(Open());
  EXPECT_FALSE(fs::exists(folder_ / "cache/0123.idx.tmp.99999"));
}

TEST_F(CacheTest, ProcessesThatNeedItAtOnceAllSucceedAndShareOneCopy) {
  constexpr int kProcesses = 4;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const Result<Dataset> dataset = OpenIdx(source_, folder_ / "cache");
      const bool good = dataset && dataset->size() == 500 &&
                        Bytes(dataset->row(0), dataset->row(0) + values_.size()) == values_;
      _exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(Copies().size(), 2u);
}

TEST_F(CacheTest, TheCacheFolderMayNotBeAFile) {
  test::WriteBytes(folder_ / "cache", Bytes(1));
  const Result<Dataset> dataset = Open();
  ASSERT_FALSE(dataset);
  EXPECT_EQ(dataset.error().code, ErrorCode::kCantCreate) << dataset.error().Format();
  EXPECT_EQ(dataset.error().where, folder_ / "cache");
}

TEST_F(CacheTest, ReadsSeveralGzipMembers) {
  const Bytes front(images_.begin(), images_.begin() + 7);  // the header is cut in two
  const Bytes back(images_.begin() + 7, images_.end());
  Bytes packed = Gzip(front);
  const Bytes second = Gzip(back);
  packed.insert(packed.end(), second.begin(), second.end());
  test::WriteBytes(source_.images, packed);
  ExpectGood(Open());
}

TEST_F(CacheTest, RefusesDamagedGzipAndLeavesNothingBehind) {
  const Bytes packed = Gzip(images_);
  Bytes wrong_sum = packed;
  wrong_sum[packed.size() - 6] ^= 1;
  EXPECT_NE(OpenError(wrong_sum).find("incorrect data check"), std::string::npos);
  for (const std::size_t size : {packed.size() - 1, packed.size() / 2, std::size_t{30}}) {
    EXPECT_NE(OpenError(Bytes(packed.begin(), packed.begin() + static_cast<long>(size))), "");
  }
  Bytes garbage = packed;
  garbage.insert(garbage.end(), {1, 2, 3});
  EXPECT_NE(OpenError(garbage).find("damaged gzip"), std::string::npos);
  ASSERT_TRUE(fs::exists(folder_ / "cache"));
  for (const auto& entry : fs::directory_iterator(folder_ / "cache")) {
    EXPECT_EQ(entry.path().filename(), "lock");
  }
}

TEST_F(CacheTest, RefusesFewerAndMoreValuesThanTheHeaderSays) {
  Bytes fewer = images_;
  fewer.pop_back();
  EXPECT_NE(OpenError(Gzip(fewer)).find("truncated: got 392015 bytes, wanted 392016"),
            std::string::npos);
  Bytes more = images_;
  more.push_back(0);
  EXPECT_NE(OpenError(Gzip(more)).find("more bytes than its header says"), std::string::npos);
}

TEST_F(CacheTest, RefusesAHeaderAboveTheLimitBeforeUnpacking) {
  const std::uint32_t huge = std::uint32_t{1} << 31;
  EXPECT_NE(OpenError(Gzip(IdxBytes({huge, 28, 28}, Bytes(100)))).find("above the limit of 8GiB"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(folder_ / "cache"));
}

// In memory: exact limits, and how much a bomb is unpacked.
class GunzipTest : public ::testing::Test {
 protected:
  Result<IdxHeader> Run(const Bytes& packed, std::uint64_t limit) {
    std::size_t at = 0;
    const data::ReadBytes read = [&](MutableByteView buffer) -> Result<std::size_t> {
      const std::size_t count = std::min(buffer.size(), packed.size() - at);
      if (count > 0) std::memcpy(buffer.data(), packed.data() + at, count);
      at += count;
      return count;
    };
    const TakeBytes take = [&](ByteView bytes) -> Status {
      taken_ += bytes.size();
      return {};
    };
    return GunzipIdx(read, take, ByteCount{limit}, "test");
  }
  std::size_t taken_ = 0;
};

TEST_F(GunzipTest, TheLimitIsInclusive) {
  const Bytes packed = Gzip(IdxBytes({10, 10}, Bytes(100)));
  EXPECT_TRUE(Run(packed, 112));
  EXPECT_EQ(taken_, 112u);
  EXPECT_FALSE(Run(packed, 111));
}

TEST_F(GunzipTest, ABombIsStoppedAtTheSizeOfItsHeader) {
  const Bytes packed = Gzip(IdxBytes({10, 10}, Bytes(std::size_t{8} << 20)));
  const Result<IdxHeader> header = Run(packed, std::uint64_t{1} << 30);
  ASSERT_FALSE(header);
  EXPECT_LE(taken_, 112u);
}

TEST_F(GunzipTest, ATinyFileWithAShortHeaderIsRead) {
  EXPECT_TRUE(Run(Gzip(IdxBytes({1}, {7})), 100));  // 9 bytes: less than the longest header
  EXPECT_FALSE(Run(Gzip({0, 0, 8}), 100));
  EXPECT_FALSE(Run(Gzip({}), 100));
  EXPECT_FALSE(Run({}, 100));
}

TEST(FashionMnist, OpensAsInstalled) {
  const std::string base = "/usr/share/datasets/fashion-mnist/";
  if (!fs::exists(base + "train-images-idx3-ubyte.gz")) {
    GTEST_SKIP() << "Debian package dataset-fashion-mnist is not installed";
  }
  const test::TemporaryFolder cache;
  Source source;
  source.images = base + "train-images-idx3-ubyte.gz";
  source.labels = base + "train-labels-idx1-ubyte.gz";
  const Result<Dataset> dataset = OpenIdx(source, cache.path().string());
  ASSERT_TRUE(dataset) << dataset.error().Format();
  EXPECT_EQ(dataset->size(), 60000u);
  EXPECT_EQ(dataset->features(), 784u);
  EXPECT_EQ(dataset->classes(), 10u);
  std::vector<int> count(10);
  for (const std::uint8_t label : dataset->labels()) ++count[label];
  EXPECT_EQ(count, std::vector<int>(10, 6000));
}

}  // namespace
}  // namespace covey::data
