#include "covey/node/process.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace covey::node {
namespace {

constexpr int kNice = 5;

}  // namespace

void TuneAllocator() {
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest that glibc takes
  ::mallopt(M_TRIM_THRESHOLD, 2 << 20);
  ::mallopt(M_ARENA_MAX, 1);
}

void ReturnFreedMemory() { ::malloc_trim(0); }

void RaiseFileLimit(std::uint64_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::uint64_t PssBytes() {
  const int file = ::open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[2048];
  const auto size = ::read(file, text, sizeof text - 1);
  ::close(file);
  if (size <= 0) return 0;
  text[size] = '\0';
  const char* line = std::strstr(text, "\nPss:");
  if (line == nullptr) return 0;
  return std::strtoull(line + 5, nullptr, 10) * 1024;
}

void LowerPriority() {
  // On Linux the "process" of setpriority is one thread.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kNice);
}

void NameThread(const char* name) { ::pthread_setname_np(::pthread_self(), name); }

}  // namespace covey::node
