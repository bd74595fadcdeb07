// One child process of the harness, which never outlives it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "covey/base/result.h"
#include "covey/base/time.h"

namespace covey::harness {

struct ExitStatus {
  bool signaled = false;
  int number = 0;  // exit code, or the signal that ended it

  bool ok() const { return !signaled && number == 0; }
  std::string Text() const;  // "exit code 78", "signal 9 (Killed)"
};

// A running or ended child. Its standard output is read here; standard error goes to a file;
// standard input is empty. It leads a process group of its own, so that Ctrl-C reaches only the
// harness, which then ends it in order.
//
// Lifetime: the child gets SIGKILL when the *thread* that started it ends (prctl PR_SET_PDEATHSIG),
// whatever ended that thread; so start children on a thread that lives as long as they shall. The
// destructor kills and reaps. Signals go only to a pid that was not reaped yet, so never to a
// stranger that got the number later.
// Thread: one.
class Child {
 public:
  struct Command {
    std::vector<std::string> arguments;  // the first is the path of the program
    std::string log;                     // standard error is appended to this file
  };

  // Errors: kCantCreate when the log or the process can't be made; kUnavailable when the program
  // can't be executed.
  static Result<Child> Start(const Command& command);

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  pid_t pid() const { return pid_; }

  // Returns: the next whole line of its output, without its newline, waiting at most `at_most`;
  // nothing when none came or the output has ended. Lines longer than 4096 bytes are cut.
  std::optional<std::string> ReadLine(Duration at_most);

  // Returns: how it ended, or nothing while it runs. Reaps.
  std::optional<ExitStatus> Poll();
  // The same, waiting at most `at_most`.
  std::optional<ExitStatus> Wait(Duration at_most);

  // Does nothing once it was reaped.
  void Signal(int signal);

  // Returns: proportional set size in bytes (smaps_rollup), 0 when it can't be read.
  std::uint64_t PssBytes() const;

 private:
  Child(pid_t pid, int output) : pid_(pid), output_(output) {}

  pid_t pid_ = -1;
  int output_ = -1;
  std::string buffer_;
  std::optional<ExitStatus> ended_;
};

// Returns: the path of `name` beside this process' own executable. Errors: kUnavailable when it is
// not there.
Result<std::string> ProgramBeside(const std::string& name);

}  // namespace covey::harness
