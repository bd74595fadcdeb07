#include "harness/socket_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "support/temporary_folder.h"

namespace covey::harness {
namespace {

namespace fs = std::filesystem;

class SocketFolderTest : public testing::Test {
 protected:
  // What a killed program leaves behind.
  std::string Leftover(const std::string& name, bool lock = true) {
    const std::string path = base_ + '/' + name;
    fs::create_directory(path);
    std::ofstream(path + "/0.lock") << "";
    if (lock) std::ofstream(path + '/' + SocketFolder::kLock) << "";
    return path;
  }

  test::TemporaryFolder folder_;
  const std::string base_ = folder_.path().string();
};

TEST_F(SocketFolderTest, IsPrivateAndGoesWithItsObject) {
  std::string path;
  {
    const auto folder = SocketFolder::Make(base_);
    ASSERT_TRUE(folder) << folder.error().Format();
    path = folder->path();
    EXPECT_EQ(fs::path(path).parent_path(), base_);
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    std::ofstream(path + "/0") << "";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(SocketFolderTest, ThoseOfDeadOwnersAreRemoved) {
  const std::string dead = Leftover("covey-abcdef");
  const auto folder = SocketFolder::Make(base_);
  ASSERT_TRUE(folder);
  EXPECT_FALSE(fs::exists(dead));
}

TEST_F(SocketFolderTest, ThoseOfLivingOwnersStay) {
  const auto alive = SocketFolder::Make(base_);
  ASSERT_TRUE(alive);
  const auto folder = SocketFolder::Make(base_);
  ASSERT_TRUE(folder);
  EXPECT_TRUE(fs::exists(alive->path()));
  EXPECT_TRUE(fs::exists(folder->path()));
}

TEST_F(SocketFolderTest, WhatMayBeSomebodyElsesStays) {
  const std::string unlocked = Leftover("covey-nolock", false);
  const std::string longer = Leftover("covey-abcdefg");
  const std::string other = Leftover("other-abcdef");
  const std::string target = Leftover("target");
  fs::create_directory_symlink(target, base_ + "/covey-symlnk");
  std::ofstream(base_ + "/covey-a-file") << "";
  const auto folder = SocketFolder::Make(base_);
  ASSERT_TRUE(folder);
  for (const std::string& path : {unlocked, longer, other, target}) {
    EXPECT_TRUE(fs::exists(path + "/0.lock")) << path;
  }
  EXPECT_TRUE(fs::exists(base_ + "/covey-symlnk"));
  EXPECT_TRUE(fs::exists(base_ + "/covey-a-file"));
}

TEST_F(SocketFolderTest, WithoutABaseThereIsNone) {
  const auto folder = SocketFolder::Make(base_ + "/none");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, ErrorCode::kCantCreate);
}

}  // namespace
}  // namespace covey::harness
