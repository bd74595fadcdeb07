#include "covey/node/signals.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>

#include "covey/base/check.h"

namespace covey::node {
namespace {

std::atomic<int> g_more{0};
std::atomic<bool> g_hurry{false};
static_assert(std::atomic<int>::is_always_lock_free);  // a signal handler may touch it

sigset_t Watched() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

void EndProcess(int signal) {
  if (g_more.fetch_sub(1) <= 0) ::_exit(128 + signal);
  g_hurry.store(true);
}

}  // namespace

Signals::Signals() {
  const sigset_t set = Watched();
  COVEY_CHECK(::pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0);
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  event_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  COVEY_CHECK(signals_ >= 0 && event_ >= 0, errno);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);
}

Signals::~Signals() {
  ::close(signals_);
  ::close(event_);
}

std::optional<int> Signals::Wait(Duration at_most) {
  pollfd files[] = {{signals_, POLLIN, 0}, {event_, POLLIN, 0}};
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(
      std::clamp<Duration>(at_most, Duration::zero(), std::chrono::hours(24)));
  if (::poll(files, 2, static_cast<int>(wait.count())) <= 0) return std::nullopt;
  signalfd_siginfo info{};
  if (::read(signals_, &info, sizeof info) == sizeof info) return static_cast<int>(info.ssi_signo);
  std::uint64_t count = 0;
  if (::read(event_, &count, sizeof count) > 0) return 0;
  return std::nullopt;
}

void Signals::Notify() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event_, &one, sizeof one);
}

void Signals::EndProcessAfter(int more) {
  g_more.store(more);
  struct sigaction end {};
  end.sa_handler = EndProcess;
  ::sigaction(SIGTERM, &end, nullptr);
  ::sigaction(SIGINT, &end, nullptr);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

bool Signals::HurryUp() { return g_hurry.load(); }

}  // namespace covey::node
