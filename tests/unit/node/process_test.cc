#include "covey/node/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "covey/node/signals.h"

namespace covey::node {
namespace {

using namespace std::chrono_literals;

TEST(Process, PssGrowsWithWhatIsTouched) {
  const std::uint64_t before = PssBytes();
  ASSERT_GT(before, 100'000u);
  std::vector<char> memory(32 << 20, 1);
  // The compiler may not leave the memory out.
  EXPECT_EQ(std::memchr(memory.data(), 2, memory.size()), nullptr);
  EXPECT_GT(PssBytes(), before + (24u << 20));
}

TEST(Process, FileLimitIsRaisedNotLowered) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  RaiseFileLimit(1);
  rlimit after{};
  ::getrlimit(RLIMIT_NOFILE, &after);
  EXPECT_EQ(after.rlim_cur, before.rlim_cur);
  RaiseFileLimit(~std::uint64_t{0});
  ::getrlimit(RLIMIT_NOFILE, &after);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
}

TEST(Signals, AreReadLikeAFile) {
  Signals signals;
  EXPECT_EQ(signals.Wait(0s), std::nullopt);
  ::raise(SIGHUP);
  EXPECT_EQ(signals.Wait(10s), SIGHUP);
  ::raise(SIGTERM);
  EXPECT_EQ(signals.Wait(10s), SIGTERM);
  ::raise(SIGPIPE);  // ignored
  EXPECT_EQ(signals.Wait(0s), std::nullopt);
}

TEST(Signals, NotifyEndsAWait) {
  Signals signals;
  signals.Notify();
  signals.Notify();
  EXPECT_EQ(signals.Wait(10s), 0);
  EXPECT_EQ(signals.Wait(0s), std::nullopt);
}

TEST(SignalsDeathTest, SecondSignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        Signals signals;
        Signals::EndProcessAfter(0);
        ::raise(SIGINT);
        ::_exit(1);
      },
      ::testing::ExitedWithCode(128 + SIGINT), "");
}

TEST(SignalsDeathTest, OneMoreIsOnlyAHurry) {
  EXPECT_EXIT(
      {
        Signals signals;
        Signals::EndProcessAfter(1);
        if (Signals::HurryUp()) ::_exit(1);
        ::raise(SIGTERM);
        if (!Signals::HurryUp()) ::_exit(2);
        ::raise(SIGTERM);
        ::_exit(3);
      },
      ::testing::ExitedWithCode(128 + SIGTERM), "");
}

}  // namespace
}  // namespace covey::node
