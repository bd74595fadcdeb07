#include "covey/store/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/idx_files.h"

namespace covey::store::journal_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Fails the n-th call from now on, once.
class FailingFiles final : public FileSystem {
 public:
  std::ptrdiff_t Write(int file, const std::byte* bytes, std::size_t size) override {
    if (write_fails > 0 && --write_fails == 0) {
      // Half of it arrives.
      FileSystem::Write(file, bytes, size / 2);
      errno = ENOSPC;
      return -1;
    }
    return FileSystem::Write(file, bytes, size);
  }
  int Sync(int file) override {
    if (sync_fails > 0 && --sync_fails == 0) {
      errno = EIO;
      return -1;
    }
    return FileSystem::Sync(file);
  }
  int Rename(const char* from, const char* to) override {
    if (rename_fails) {
      errno = EIO;
      return -1;
    }
    return FileSystem::Rename(from, to);
  }
  int write_fails = 0;
  int sync_fails = 0;
  bool rename_fails = false;
};

class JournalTest : public ::testing::Test {
 protected:
  Result<Journal> Open(std::uint64_t form = 7) {
    read_.clear();
    return Journal::Open(
        path_, form,
        [this](ByteView record) {
          read_.emplace_back(reinterpret_cast<const char*>(record.data()), record.size());
          return Status();
        },
        files_);
  }
  static ByteView Bytes(const std::string& text) {
    return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
  }
  void Fill() {
    auto journal = Open();
    ASSERT_TRUE(journal.has_value()) << journal.error().Format();
    ASSERT_TRUE(journal->Append(Bytes("one")).has_value());
    ASSERT_TRUE(journal->Append(Bytes("")).has_value());
    ASSERT_TRUE(journal->Append(Bytes("three")).has_value());
  }
  std::uint64_t Size() { return std::filesystem::file_size(path_); }

  test::TemporaryFolder folder_;
  const std::string path_ = folder_ / "journal";
  std::vector<std::string> read_;
  FailingFiles files_;
};

TEST_F(JournalTest, GivesBackWhatWasAppended) {
  Fill();
  auto journal = Open();
  ASSERT_TRUE(journal.has_value());
  EXPECT_THAT(read_, ElementsAre("one", "", "three"));
  EXPECT_EQ(journal->bytes(), Size());
  EXPECT_EQ(journal->lost(), 0u);
}

TEST_F(JournalTest, EveryCutLeavesWholeRecords) {
  Fill();
  const std::uint64_t whole = Size();
  for (std::uint64_t size = whole - 1; size >= 16; --size) {
    std::filesystem::resize_file(path_, size);
    auto journal = Open();
    ASSERT_TRUE(journal.has_value()) << size << journal.error().Format();
    EXPECT_LE(read_.size(), 2u);
    EXPECT_EQ(journal->bytes(), Size()) << "what was torn is cut off";
    ASSERT_TRUE(journal->Append(Bytes("more")).has_value());
    ASSERT_TRUE(Open().has_value());
    EXPECT_EQ(read_.back(), "more");
    std::filesystem::remove(path_);
    Fill();
  }
}

TEST_F(JournalTest, EveryFlippedBitIsNoticed) {
  Fill();
  std::ifstream in(path_, std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(in)), {});
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    std::ofstream(path_, std::ios::binary) << bad;
    const auto journal = Open();
    EXPECT_TRUE(!journal || read_.size() < 3) << "byte " << i;
    for (const std::string& record : read_) {
      EXPECT_TRUE(record == "one" || record.empty() || record == "three") << record;
    }
  }
}

TEST_F(JournalTest, AnotherFormIsRefused) {
  Fill();
  const auto journal = Open(8);
  ASSERT_FALSE(journal.has_value());
  EXPECT_EQ(journal.error().code, ErrorCode::kProtocol);
  EXPECT_THAT(journal.error().Format(), HasSubstr("move it aside"));
  std::ofstream(path_) << "hello, this is a text";
  EXPECT_EQ(Open().error().code, ErrorCode::kData);
}

TEST_F(JournalTest, AFullDiskLeavesItAsItWas) {
  Fill();
  auto journal = Open();
  ASSERT_TRUE(journal.has_value());
  const std::uint64_t size = Size();
  files_.write_fails = 1;
  EXPECT_EQ(journal->Append(Bytes("lost")).error().code, ErrorCode::kIo);
  EXPECT_EQ(Size(), size);
  ASSERT_TRUE(journal->Append(Bytes("four")).has_value()) << "there is space again";
  ASSERT_TRUE(Open().has_value());
  EXPECT_THAT(read_, ElementsAre("one", "", "three", "four"));
}

TEST_F(JournalTest, ADiskThatDoesNotConfirmIsNeverTrustedAgain) {
  auto journal = Open();
  ASSERT_TRUE(journal.has_value());
  files_.sync_fails = 1;
  EXPECT_FALSE(journal->Append(Bytes("one")).has_value());
  const Status later = journal->Append(Bytes("two"));
  ASSERT_FALSE(later.has_value());
  EXPECT_THAT(later.error().Format(), HasSubstr("restart the node"));
}

TEST_F(JournalTest, RewritingReplacesAllOrNothing) {
  Fill();
  auto journal = Open();
  ASSERT_TRUE(journal.has_value());
  const auto write = [](const Journal::Put& put) { return put(Bytes("kept")); };
  for (const int failure : {0, 1, 2}) {
    files_.write_fails = failure == 0 ? 2 : 0;
    files_.sync_fails = failure == 1 ? 1 : 0;
    files_.rename_fails = failure == 2;
    EXPECT_FALSE(journal->Rewrite(write).has_value()) << failure;
    EXPECT_FALSE(std::filesystem::exists(path_ + ".new"));
  }
  files_.rename_fails = false;
  ASSERT_TRUE(journal->Append(Bytes("four")).has_value());
  ASSERT_TRUE(journal->Rewrite(write).has_value());
  EXPECT_EQ(journal->bytes(), Size());
  ASSERT_TRUE(journal->Append(Bytes("five")).has_value()) << "into the new file";
  ASSERT_TRUE(Open().has_value());
  EXPECT_THAT(read_, ElementsAre("kept", "five"));
}

TEST_F(JournalTest, WhatTheReaderRefusesIsReported) {
  Fill();
  const auto journal = Journal::Open(
      path_, 7, [](ByteView) -> Status { return Fail(ErrorCode::kData, "reader", "no"); });
  ASSERT_FALSE(journal.has_value());
  EXPECT_EQ(journal.error().what, "no");
}

}  // namespace
}  // namespace covey::store::journal_test
