#include "covey/harness/child.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "support/temporary_folder.h"

namespace covey::harness {
namespace {

using std::chrono::seconds;

class ChildTest : public testing::Test {
 protected:
  Result<Child> Shell(const std::string& script) {
    return Child::Start({.arguments = {"/bin/sh", "-c", script}, .log = folder_ / "log"});
  }

  std::string Log() const {
    std::ostringstream text;
    text << std::ifstream(folder_ / "log").rdbuf();
    return text.str();
  }

  test::TemporaryFolder folder_;
};

bool Exists(pid_t pid) { return kill(pid, 0) == 0; }

TEST_F(ChildTest, OutputIsReadByLinesAndErrorsGoToTheLog) {
  auto child = Shell("echo one; echo two >&2; printf three; echo; exit 3");
  ASSERT_TRUE(child);
  EXPECT_EQ(child->ReadLine(seconds(20)), "one");
  EXPECT_EQ(child->ReadLine(seconds(20)), "three");
  EXPECT_EQ(child->ReadLine(seconds(20)), std::nullopt);
  const auto status = child->Wait(seconds(20));
  ASSERT_TRUE(status);
  EXPECT_EQ(status->Text(), "exit code 3");
  EXPECT_FALSE(status->ok());
  EXPECT_EQ(Log(), "two\n");
}

TEST_F(ChildTest, ALineWithoutEndIsCut) {
  auto child = Shell("head -c 10000 /dev/zero | tr '\\0' x; echo");
  ASSERT_TRUE(child);
  EXPECT_EQ(child->ReadLine(seconds(20))->size(), 4096u);
}

TEST_F(ChildTest, AProgramThatIsMissingIsAnError) {
  const auto child = Child::Start({.arguments = {"/nonexistent/coveyd"}, .log = folder_ / "log"});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code, ErrorCode::kUnavailable);
}

TEST_F(ChildTest, ALogThatCannotBeMadeIsAnError) {
  const auto child = Child::Start({.arguments = {"/bin/true"}, .log = folder_ / "no/log"});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code, ErrorCode::kCantCreate);
}

TEST_F(ChildTest, SignalsEndItAndAreReported) {
  auto child = Shell("exec sleep 1000");
  ASSERT_TRUE(child);
  EXPECT_FALSE(child->Poll());
  EXPECT_GT(child->PssBytes(), 0u);
  child->Signal(SIGKILL);
  const auto status = child->Wait(seconds(20));
  ASSERT_TRUE(status);
  EXPECT_EQ(status->Text(), "signal 9 (Killed)");
  EXPECT_EQ(child->PssBytes(), 0u);
}

TEST_F(ChildTest, TheDestructorLeavesNothingBehind) {
  pid_t pid = 0;
  {
    auto child = Shell("trap '' TERM; exec sleep 1000");
    ASSERT_TRUE(child);
    pid = child->pid();
    EXPECT_TRUE(Exists(pid));
  }
  EXPECT_FALSE(Exists(pid));
}

TEST_F(ChildTest, ItLeadsItsOwnGroupSoThatCtrlCDoesNotReachIt) {
  auto child = Shell("exec sleep 1000");
  ASSERT_TRUE(child);
  EXPECT_EQ(getpgid(child->pid()), child->pid());
}

TEST_F(ChildTest, ItDiesWithTheThreadThatStartedIt) {
  std::optional<Child> child;
  std::thread([&] {
    auto started = Shell("exec sleep 1000");
    if (started) child.emplace(std::move(*started));
  }).join();
  ASSERT_TRUE(child);
  const auto status = child->Wait(seconds(20));
  ASSERT_TRUE(status);
  EXPECT_EQ(status->number, SIGKILL);
}

TEST_F(ChildTest, ProgramBesideFindsNeighbours) { EXPECT_FALSE(ProgramBeside("no-such-program")); }

}  // namespace
}  // namespace covey::harness
