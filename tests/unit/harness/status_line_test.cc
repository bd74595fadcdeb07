// What a long command tells on a terminal, elsewhere, and when it is quiet.
#include "harness/status_line.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace covey::harness::status_line_test {
namespace {

// What is written by a status, a line that stays, and another status.
std::string Told(StatusLine::Kind kind) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  {
    StatusLine line(kind, ends[1]);
    line.Show("1 of 3");
    line.Say("seed 2 failed");
    line.Show("2 of 3");
  }
  close(ends[1]);
  std::string text(4096, ' ');
  text.resize(static_cast<std::size_t>(read(ends[0], text.data(), text.size())));
  close(ends[0]);
  return text;
}

TEST(StatusLine, IsWrittenOverOnATerminalAndGoneInTheEnd) {
  EXPECT_EQ(Told(StatusLine::Kind::kTerminal),
            "\r1 of 3\x1b[K\r\x1b[Kseed 2 failed\n\r2 of 3\x1b[K\r\x1b[K");
}

TEST(StatusLine, IsALineElsewhere) {
  EXPECT_EQ(Told(StatusLine::Kind::kLines), "1 of 3\nseed 2 failed\n2 of 3\n");
}

TEST(StatusLine, SaysNothingWhenQuiet) {
  EXPECT_EQ(Told(StatusLine::Kind::kNone), "");
  EXPECT_EQ(HowToShowStatus(true, STDERR_FILENO), StatusLine::Kind::kNone);
}

}  // namespace
}  // namespace covey::harness::status_line_test
