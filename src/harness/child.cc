#include "covey/harness/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "covey/base/check.h"

namespace covey::harness {
namespace {

constexpr std::size_t kMaxLine = 4096;

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

std::string SystemText() { return std::generic_category().message(errno); }

// Runs in the child between fork and exec, where only async-signal-safe calls are allowed: other
// threads of the parent may have held any lock. Reports errno through `failure` when it returns
// from exec.
[[noreturn]] void Become(char* const* arguments, int output, int log, int failure, pid_t parent) {
  // The request is lost when the parent died before it: hence the check behind it.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
  const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input >= 0 && dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
      dup2(log, STDERR_FILENO) >= 0) {
    execv(arguments[0], arguments);
  }
  const int error = errno;
  (void)!write(failure, &error, sizeof error);
  _exit(127);
}

Duration Left(std::chrono::steady_clock::time_point end) {
  return std::max(Duration::zero(),
                  std::chrono::duration_cast<Duration>(end - std::chrono::steady_clock::now()));
}

}  // namespace

std::string ExitStatus::Text() const {
  if (!signaled) return "exit code " + std::to_string(number);
  return "signal " + std::to_string(number) + " (" + strsignal(number) + ")";
}

Result<Child> Child::Start(const Command& command) {
  COVEY_CHECK(!command.arguments.empty());
  const std::string& program = command.arguments.front();
  const Descriptor log(open(command.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (log.get() < 0) return Fail(ErrorCode::kCantCreate, command.log, SystemText());
  std::array<int, 2> output{};
  std::array<int, 2> failure{};
  if (pipe2(output.data(), O_CLOEXEC) != 0) {
    return Fail(ErrorCode::kCantCreate, program, "pipe: " + SystemText());
  }
  Descriptor read_output(output[0]);
  const Descriptor write_output(output[1]);
  if (pipe2(failure.data(), O_CLOEXEC) != 0) {
    return Fail(ErrorCode::kCantCreate, program, "pipe: " + SystemText());
  }
  const Descriptor read_failure(failure[0]);
  Descriptor write_failure(failure[1]);
  std::vector<std::string> arguments = command.arguments;
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return Fail(ErrorCode::kCantCreate, program, "fork: " + SystemText());
  if (pid == 0) {
    Become(pointers.data(), write_output.get(), log.get(), write_failure.get(), parent);
  }
  close(write_failure.Release());
  Child child(pid, read_output.Release());
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(read_failure.get(), &error, sizeof error);  // ends when exec closes the pipe
  } while (got < 0 && errno == EINTR);
  if (got == sizeof error) {
    return Fail(ErrorCode::kUnavailable, program,
                "can't be executed: " + std::generic_category().message(error));
  }
  return child;
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      output_(std::exchange(other.output_, -1)),
      buffer_(std::move(other.buffer_)),
      ended_(other.ended_) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(output_, other.output_);
  std::swap(buffer_, other.buffer_);
  std::swap(ended_, other.ended_);
  return *this;
}

Child::~Child() {
  if (output_ >= 0) close(output_);
  if (pid_ <= 0 || ended_) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<std::string> Child::ReadLine(Duration at_most) {
  const auto end = std::chrono::steady_clock::now() + at_most;
  for (;;) {
    const std::size_t newline = buffer_.find('\n');
    if (newline != std::string::npos || buffer_.size() >= kMaxLine) {
      std::string line = buffer_.substr(0, std::min(newline, kMaxLine));
      buffer_.erase(0, newline == std::string::npos ? kMaxLine : newline + 1);
      return line;
    }
    if (output_ < 0) return std::nullopt;
    pollfd wanted{.fd = output_, .events = POLLIN, .revents = 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(Left(end));
    const int ready = poll(&wanted, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    std::array<char, 1024> chunk{};
    const ssize_t got = read(output_, chunk.data(), chunk.size());
    if (got > 0) {
      buffer_.append(chunk.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      close(std::exchange(output_, -1));
    }
  }
}

std::optional<ExitStatus> Child::Poll() {
  if (ended_ || pid_ <= 0) return ended_;
  int status = 0;
  pid_t got = 0;
  do {
    got = waitpid(pid_, &status, WNOHANG);
  } while (got < 0 && errno == EINTR);
  if (got == pid_) {
    ended_ = WIFSIGNALED(status) ? ExitStatus{.signaled = true, .number = WTERMSIG(status)}
                                 : ExitStatus{.signaled = false, .number = WEXITSTATUS(status)};
  }
  return ended_;
}

std::optional<ExitStatus> Child::Wait(Duration at_most) {
  const auto end = std::chrono::steady_clock::now() + at_most;
  while (!Poll()) {
    const Duration left = Left(end);
    if (left == Duration::zero()) return std::nullopt;
    // A child's end has no descriptor to wait on before pidfd became common: a short nap.
    const auto nap = std::min<Duration>(left, std::chrono::milliseconds(5));
    poll(nullptr, 0, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(nap).count()));
  }
  return ended_;
}

void Child::Signal(int signal) {
  if (pid_ > 0 && !Poll()) kill(pid_, signal);
}

std::uint64_t Child::PssBytes() const {
  if (pid_ <= 0 || ended_) return 0;
  std::ifstream file("/proc/" + std::to_string(pid_) + "/smaps_rollup");
  std::string word;
  while (file >> word) {
    std::uint64_t kilobytes = 0;
    if (word == "Pss:" && file >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

Result<std::string> ProgramBeside(const std::string& name) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return Fail(ErrorCode::kUnavailable, "/proc/self/exe", error.message());
  const std::filesystem::path program = self.parent_path() / name;
  if (access(program.c_str(), X_OK) != 0) {
    return Fail(ErrorCode::kUnavailable, program.string(), "is not there or can't be executed",
                "build or install " + name + " beside " + self.filename().string());
  }
  return program.string();
}

}  // namespace covey::harness
