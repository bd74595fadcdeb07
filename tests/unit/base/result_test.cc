#include "covey/base/result.h"

#include <gtest/gtest.h>

#include "covey/base/check.h"

namespace covey {
namespace {

TEST(Error, FormatLeavesOutWhatIsEmpty) {
  EXPECT_EQ(
      (Error{ErrorCode::kConfig, "node.yaml:3:1", "unknown key", "did you mean 'batch'?"}).Format(),
      "node.yaml:3:1: unknown key; did you mean 'batch'?");
  EXPECT_EQ((Error{ErrorCode::kConfig, "", "unknown key", ""}).Format(), "unknown key");
  EXPECT_EQ((Error{ErrorCode::kConfig, "x", "unknown key", ""}).Format(), "x: unknown key");
}

// The numbers are those of sysexits.h; service managers print their names.
TEST(Error, ExitCodesAreSysexits) {
  EXPECT_EQ(ExitCode(Error{ErrorCode::kUsage, "", "", ""}), 64);
  EXPECT_EQ(ExitCode(Error{ErrorCode::kData, "", "", ""}), 65);
  EXPECT_EQ(ExitCode(Error{ErrorCode::kNoInput, "", "", ""}), 66);
  EXPECT_EQ(ExitCode(Error{ErrorCode::kUnavailable, "", "", ""}), 69);
  EXPECT_EQ(ExitCode(Error{ErrorCode::kSoftware, "", "", ""}), 70);
  EXPECT_EQ(ExitCode(Error{ErrorCode::kCantCreate, "", "", ""}), 73);
  EXPECT_EQ(ExitCode(Error{ErrorCode::kIo, "", "", ""}), 74);
  EXPECT_EQ(ExitCode(Error{ErrorCode::kTemporary, "", "", ""}), 75);
  EXPECT_EQ(ExitCode(Error{ErrorCode::kProtocol, "", "", ""}), 76);
  EXPECT_EQ(ExitCode(Error{ErrorCode::kNoPermission, "", "", ""}), 77);
  EXPECT_EQ(ExitCode(Error{ErrorCode::kConfig, "", "", ""}), 78);
}

TEST(Fail, CarriesAllFourParts) {
  const Result<int> result = Fail(ErrorCode::kData, "where", "what", "hint");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kData);
  EXPECT_EQ(result.error().Format(), "where: what; hint");
}

TEST(CheckDeathTest, PrintsConditionAndValuesInEveryBuild) {
  const int got = 3;
  const bool wanted = false;
  EXPECT_DEATH(COVEY_CHECK(got == 4, got, wanted, "text"),
               "check failed: got == 4 .*got, wanted.* = 3, false, text");
  COVEY_CHECK(got == 3, got);
}

}  // namespace
}  // namespace covey
