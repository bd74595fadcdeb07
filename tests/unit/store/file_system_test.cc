#include "covey/store/file_system.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "support/idx_files.h"
#include "unit/store/faulty_files.h"

namespace covey::store {
namespace {

using test::FaultyFiles;
using test::FilesIn;
using At = FaultyFiles::At;

ByteView View(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string Content(const std::string& path) {
  const Result<AlignedBuffer> bytes = ReadFile(path, ByteCount{1 << 20});
  if (!bytes) return "error: " + bytes.error().Format();
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

class WriteAtomicallyTest : public ::testing::Test {
 protected:
  WriteAtomicallyTest() { EXPECT_TRUE(WriteAtomically(path_, View("old"))); }
  void ExpectOldAlone() {
    EXPECT_EQ(Content(path_), "old");
    EXPECT_EQ(FilesIn(folder_.path().string()), std::vector<std::string>{"file"});
  }
  Status Write(const std::string& text) {
    WriteOptions options;
    options.read_back = true;
    return WriteAtomically(path_, View(text), options, files_);
  }

  test::TemporaryFolder folder_;
  const std::string path_ = folder_ / "file";
  FaultyFiles files_;
};

TEST_F(WriteAtomicallyTest, ReplacesAndKeepsTheOrderThatMakesItSafe) {
  ASSERT_TRUE(Write("new content"));
  EXPECT_EQ(Content(path_), "new content");
  EXPECT_EQ(files_.calls,
            (std::vector<std::string>{"create", "write", "sync", "read", "rename", "sync folder"}));
  EXPECT_EQ(FilesIn(folder_.path().string()), std::vector<std::string>{"file"});
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(WriteAtomicallyTest, ShortWritesAndInterruptionsAreContinued) {
  files_.write_at_most = 3;
  files_.interrupt_once = true;
  ASSERT_TRUE(Write("new content"));
  EXPECT_EQ(Content(path_), "new content");
}

TEST_F(WriteAtomicallyTest, EveryFailureBeforeTheRenameLeavesTheOldFileAlone) {
  for (const At at : {At::kCreate, At::kWrite, At::kRead, At::kSync, At::kRename}) {
    files_.fail_at = at;
    const Status status = Write("new");
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::kIo) << status.error().Format();
    ExpectOldAlone();
  }
}

TEST_F(WriteAtomicallyTest, AFailedFolderSyncIsAnError) {
  files_.fail_at = At::kSyncFolder;
  EXPECT_FALSE(Write("new"));
}

TEST_F(WriteAtomicallyTest, AFullDiskIsNamed) {
  files_.room = 2;
  const Status status = Write("new");
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().what.find("No space left"), std::string::npos);
  EXPECT_NE(status.error().hint.find("free some space"), std::string::npos);
  ExpectOldAlone();
}

TEST_F(WriteAtomicallyTest, FreeSpaceIsCheckedFirstAtTwiceTheSize) {
  files_.free = 5;
  EXPECT_FALSE(Write("new"));
  EXPECT_TRUE(files_.calls.empty());
  ExpectOldAlone();
  files_.free = 6;
  EXPECT_TRUE(Write("new"));
}

TEST_F(WriteAtomicallyTest, SyncIsNeverTriedTwiceForOneFile) {
  files_.fail_at = At::kSync;
  EXPECT_FALSE(Write("new"));
  EXPECT_EQ(files_.calls, (std::vector<std::string>{"create", "write", "sync"}));
}

TEST_F(WriteAtomicallyTest, ADiskThatChangesABitIsFound) {
  files_.flip_when_reading = true;
  const Status status = Write("new");
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().what.find("reads back differently"), std::string::npos);
  ExpectOldAlone();
}

TEST_F(WriteAtomicallyTest, AReadOnlyFolderIsNoPermission) {
  files_.fail_at = At::kCreate;
  files_.cause = EROFS;
  EXPECT_EQ(Write("new").error().code, ErrorCode::kNoPermission);
}

TEST_F(WriteAtomicallyTest, AFolderInTheWayIsAnErrorWithoutLeftovers) {
  const Status status = WriteAtomically(folder_.path().string(), View("x"));
  EXPECT_FALSE(status);
  EXPECT_EQ(FilesIn(folder_.path().string()), std::vector<std::string>{"file"});
}

TEST(MakeFolder, MakesParentsAndAcceptsAnExistingOne) {
  const test::TemporaryFolder folder;
  ASSERT_TRUE(MakeFolder(folder / "a/b/c"));
  EXPECT_TRUE(MakeFolder(folder / "a/b/c"));
  struct stat status {};
  ASSERT_EQ(::stat((folder / "a/b/c").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST(MakeFolder, RefusesAFileInTheWay) {
  const test::TemporaryFolder folder;
  ASSERT_TRUE(WriteAtomically(folder / "file", View("x")));
  EXPECT_EQ(MakeFolder(folder / "file").error().code, ErrorCode::kCantCreate);
  EXPECT_EQ(MakeFolder(folder / "file/below").error().code, ErrorCode::kCantCreate);
}

TEST(ReadFile, HoldsItsLimitAndTakesOnlyRegularFiles) {
  const test::TemporaryFolder folder;
  ASSERT_TRUE(WriteAtomically(folder / "file", View("12345")));
  EXPECT_EQ(ReadFile(folder / "file", ByteCount{5})->size(), 5u);
  EXPECT_EQ(ReadFile(folder / "file", ByteCount{4}).error().code, ErrorCode::kData);
  EXPECT_EQ(ReadFile(folder / "absent", ByteCount{5}).error().code, ErrorCode::kNoInput);
  EXPECT_EQ(ReadFile(folder.path().string(), ByteCount{5}).error().code, ErrorCode::kData);
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(ReadFile(folder / "fifo", ByteCount{5}).error().code, ErrorCode::kData);
  ASSERT_TRUE(WriteAtomically(folder / "empty", ByteView{}));
  EXPECT_EQ(ReadFile(folder / "empty", ByteCount{0})->size(), 0u);
}

TEST(StateLock, TheSecondIsToldWhoHoldsIt) {
  const test::TemporaryFolder folder;
  std::optional<Result<StateLock>> first(StateLock::Take(folder / "state"));
  ASSERT_TRUE(*first);
  const Result<StateLock> second = StateLock::Take(folder / "state");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kTemporary);
  EXPECT_EQ(second.error().what, "is in use by process " + std::to_string(getpid()));
  first.reset();
  EXPECT_TRUE(StateLock::Take(folder / "state"));
}

TEST(StateLock, HoldsAcrossProcessesAndEndsWithThem) {
  const test::TemporaryFolder folder;
  int ready[2];
  int finish[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(finish), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const Result<StateLock> lock = StateLock::Take(folder / "state");
    char byte = lock ? 'y' : 'n';
    if (::write(ready[1], &byte, 1) != 1 || ::read(finish[0], &byte, 1) != 1) _exit(2);
    _exit(0);  // without unlocking: as a killed process would
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  EXPECT_FALSE(StateLock::Take(folder / "state"));
  ASSERT_EQ(::write(finish[1], &byte, 1), 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(StateLock::Take(folder / "state"));
  for (const int end : {ready[0], ready[1], finish[0], finish[1]}) ::close(end);
}

TEST(StateLock, MovesWithItsObject) {
  const test::TemporaryFolder folder;
  Result<StateLock> first = StateLock::Take(folder.path().string());
  ASSERT_TRUE(first);
  const StateLock moved = std::move(*first);
  EXPECT_FALSE(StateLock::Take(folder.path().string()));
}

}  // namespace
}  // namespace covey::store
