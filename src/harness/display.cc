#include "covey/harness/display.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

namespace covey::harness {

DisplayOptions DetectDisplay(int fd) {
  DisplayOptions options;
  const char* term = std::getenv("TERM");
  const char* no_color = std::getenv("NO_COLOR");
  const bool movable = term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
  if (isatty(fd) == 1 && movable) {
    options.kind = DisplayOptions::Kind::kTerminal;
    options.color = no_color == nullptr || *no_color == '\0';
  }
  return options;
}

Display::Display(Board board, DisplayOptions options, int fd)
    : options_(options),
      fd_(fd),
      start_(std::chrono::steady_clock::now()),
      board_(std::move(board)) {
  if (options_.kind == DisplayOptions::Kind::kNone) return;
  {
    const std::lock_guard lock(mutex_);
    Draw();
  }
  thread_ = std::thread([this] { Run(); });
}

Display::~Display() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    if (options_.kind == DisplayOptions::Kind::kTerminal) Draw();
  }
  changed_.notify_all();
  thread_.join();
}

void Display::Begin(Group group, std::uint32_t nodes) {
  const std::lock_guard lock(mutex_);
  board_.Begin(group, nodes, Elapsed());
  if (options_.kind == DisplayOptions::Kind::kLines) Draw();
}

void Display::Update(const NodeProgress& progress) {
  const std::lock_guard lock(mutex_);
  board_.Update(progress, Elapsed());
}

void Display::Update(Group group, std::uint32_t index, const Score& validation) {
  const std::lock_guard lock(mutex_);
  board_.Update(group, index, validation);
}

void Display::Finish(Group group) {
  const std::lock_guard lock(mutex_);
  if (options_.kind == DisplayOptions::Kind::kLines) Draw();
  board_.Finish(group, Elapsed());
}

void Display::Say(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (drawn_ > 0) WriteText(fd_, "\x1b[" + std::to_string(drawn_) + "A\r\x1b[J");
  drawn_ = 0;
  WriteText(fd_, text + '\n');
}

double Display::Elapsed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Display::Run() {
  const Duration every = options_.kind == DisplayOptions::Kind::kTerminal
                             ? Duration(std::chrono::milliseconds(100))
                             : options_.line_every;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, every, [this] { return stop_; })) Draw();
}

void Display::Draw() {
  if (options_.kind == DisplayOptions::Kind::kLines) {
    WriteText(fd_, board_.Line(Elapsed()) + '\n');
    return;
  }
  winsize size{};
  const bool known = ioctl(fd_, TIOCGWINSZ, &size) == 0 && size.ws_col > 20;
  const std::vector<std::string> lines =
      board_.Screen(Elapsed(), {.width = known ? size.ws_col - 1U : 79U, .color = options_.color});
  std::string text;
  if (drawn_ > 0) text += "\x1b[" + std::to_string(drawn_) + "A\r";
  for (const std::string& line : lines) text += line + "\x1b[K\n";
  text += "\x1b[J";
  drawn_ = lines.size();
  WriteText(fd_, text);
}

void WriteText(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace covey::harness
