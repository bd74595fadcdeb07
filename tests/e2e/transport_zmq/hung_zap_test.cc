// The thread that answers ZAP hangs: nobody new gets in, nothing else happens, and it is told.
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <filesystem>

#include "fixture.h"

namespace covey::transport_zmq {
namespace {

std::atomic<bool> g_hold{false};

void HoldHere(int) {
  while (g_hold.load()) {
    const timespec nap{.tv_sec = 0, .tv_nsec = 5'000'000};
    ::nanosleep(&nap, nullptr);
  }
}

// Holds one thread of this process in a signal handler.
class HeldThread {
 public:
  explicit HeldThread(pid_t thread) {
    struct sigaction action {};
    action.sa_handler = HoldHere;
    EXPECT_EQ(::sigaction(SIGUSR1, &action, nullptr), 0);
    g_hold = true;
    EXPECT_EQ(::syscall(SYS_tgkill, ::getpid(), thread, SIGUSR1), 0);
  }
  HeldThread(const HeldThread&) = delete;
  HeldThread& operator=(const HeldThread&) = delete;
  ~HeldThread() { Release(); }
  static void Release() { g_hold = false; }
};

pid_t ThreadNamed(const std::string& name) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream comm(task.path() / "comm");
    std::string found;
    if (comm >> found && found == name) return std::stoi(task.path().filename());
  }
  return 0;
}

TEST(HungZap, NobodyNewGetsInLinksGoOnAndItIsTold) {
  auto nodes = MakeNodes(3, true);
  Node& door = *nodes[0];
  Node& old = *nodes[1];
  Node& late = *nodes[2];
  std::vector<std::string> told;
  door.settings.zap_patience = std::chrono::milliseconds(200);
  door.settings.notice = [&told](const std::string& text) { told.push_back(text); };
  door.Open();
  const pid_t zap = ThreadNamed("zap");
  ASSERT_NE(zap, 0);
  for (Node* node : {&old, &late}) {
    node->settings.listen.clear();
    node->settings.dial = {{door.key(), door.transport->endpoint()}};
    node->settings.handshake_timeout = std::chrono::milliseconds(300);
  }
  old.Open();
  ASSERT_TRUE(Drive({&door, &old}, [&] {
    if (!old.sink.up.empty() && door.sink.frames == 0) Say(old, old.only(), 100);
    return !door.sink.up.empty();  // told with the first frame
  }));

  const HeldThread held(zap);
  ASSERT_TRUE(Drive({&door, &old}, [&] { return door.transport->counters().zap_stalls == 1; }));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("no sign of life"), std::string::npos) << told[0];
  late.Open();
  // Its first attempts have failed, and the link of the others carries frames all the while.
  const auto failed = [&] { return late.transport->counters().dial_failures >= 2; };
  ASSERT_TRUE(Drive({&door, &old, &late}, [&] {
    if (!old.sink.up.empty()) Say(old, old.only(), 100);
    return failed() && door.sink.frames >= 20;
  }));
  EXPECT_TRUE(late.sink.up.empty());
  EXPECT_TRUE(old.sink.downs.empty() && door.sink.downs.empty());

  HeldThread::Release();
  EXPECT_TRUE(
      Drive({&door, &old, &late}, [&] { return !late.sink.up.empty() && told.size() == 2; }));
  EXPECT_EQ(door.transport->counters().zap_stalls, 1u);
}

}  // namespace
}  // namespace covey::transport_zmq
