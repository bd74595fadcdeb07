// Draws the progress of a run on standard error, from a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "covey/base/time.h"
#include "covey/harness/board.h"

namespace covey::harness {

struct DisplayOptions {
  enum class Kind {
    kNone,      // --quiet
    kLines,     // a line now and then, and when a group begins and ends
    kTerminal,  // redrawn in place ten times a second
  };
  Kind kind = Kind::kLines;
  bool color = false;
  Duration line_every = std::chrono::seconds(3);
};

// Returns: kTerminal when `fd` is a terminal that can move its cursor (TERM is set and not "dumb");
// colour unless NO_COLOR is set to anything.
DisplayOptions DetectDisplay(int fd);

// Thread: any, several at once.
class Display {
 public:
  // Draws once at once. `fd` stays the caller's.
  Display(Board board, DisplayOptions options, int fd);
  // Leaves the last drawing and the cursor below it.
  ~Display();
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  void Begin(Group group, std::uint32_t nodes);
  void Update(const NodeProgress& progress);
  void Update(Group group, std::uint32_t index, const Score& validation);
  void Finish(Group group);
  // Prints a line above the drawing, also when quiet.
  void Say(const std::string& text);

  double Elapsed() const;  // seconds since construction

 private:
  void Run();
  void Draw();  // requires the lock

  const DisplayOptions options_;
  const int fd_;
  const std::chrono::steady_clock::time_point start_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Board board_;
  std::size_t drawn_ = 0;  // lines of the last drawing
  bool stop_ = false;
  std::thread thread_;
};

// Writes all of `text` to `fd`; what nobody reads is dropped: not a reason to end a run.
void WriteText(int fd, std::string_view text);

}  // namespace covey::harness
