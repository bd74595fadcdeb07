// Preloaded into a daemon: while the file $SLOW_DISK is there, the disk takes what is written to it
// and does not say that it has it.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

namespace {

constexpr useconds_t kLookAgain = 10'000;  // microseconds

void WaitForDisk() {
  const char* busy = std::getenv("SLOW_DISK");
  while (busy != nullptr && ::access(busy, F_OK) == 0) ::usleep(kLookAgain);
}

}  // namespace

extern "C" int fsync(int file) {
  WaitForDisk();
  return static_cast<int>(::syscall(SYS_fsync, file));
}

extern "C" int fdatasync(int file) {
  WaitForDisk();
  return static_cast<int>(::syscall(SYS_fdatasync, file));
}
