#include "covey/command_line/command.h"

#include <gtest/gtest.h>

namespace covey::command_line {
namespace {

class CommandLine : public ::testing::Test {
 protected:
  CommandLine() : program_("prog", "A test.") {
    program_.Version([] { return std::string("prog 1"); });
    for (const char* name : {"status", "pause", "resume"}) {
      Command& command = program_.Sub(name, "does it");
      command.Flag("--json", json_, "print JSON");
      command.Add("--socket", socket_, "where");
      command.Add("--timeout", timeout_, "how long");
    }
  }

  std::optional<int> Run(std::initializer_list<const char*> given) {
    std::vector<const char*> arguments{"prog"};
    for (const char* argument : given) arguments.push_back(argument);
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const auto code = program_.Parse(static_cast<int>(arguments.size()), arguments.data());
    out_ = ::testing::internal::GetCapturedStdout();
    error_ = ::testing::internal::GetCapturedStderr();
    return code;
  }

  Command program_;
  bool json_ = false;
  std::string socket_;
  int timeout_ = 0;
  std::string out_;
  std::string error_;
};

TEST_F(CommandLine, GoodOneGoesOn) {
  EXPECT_EQ(Run({"status", "--json", "--socket", "/a", "--timeout=3"}), std::nullopt);
  EXPECT_TRUE(json_);
  EXPECT_EQ(socket_, "/a");
  EXPECT_EQ(timeout_, 3);
  EXPECT_EQ(out_ + error_, "");
}

TEST_F(CommandLine, WhatIsNoWholeNumberIsAMistake) {
  std::optional<std::uint64_t> seed;
  std::uint32_t nodes = 5;
  std::vector<std::size_t> rows;
  program_.Sub("run", "").Add("--seed", seed);
  Command& more = program_.Sub("more", "");
  more.Add("--nodes", nodes);
  more.Add("--rows", rows);
  EXPECT_EQ(Run({"run", "--seed", "-1"}), 64);
  EXPECT_EQ(error_,
            "prog: --seed: got '-1', want a whole number of 0 or more\nTry: prog run --help\n");
  for (const char* wrong : {"-1", "1.5", "x", "0x10", "", "+1", "4294967296"}) {
    EXPECT_EQ(Run({"more", "--nodes", wrong}), 64) << wrong;
    EXPECT_NE(error_.find(std::string("--nodes: got ")), std::string::npos) << error_;
  }
  EXPECT_EQ(Run({"more", "--rows", "1", "-2"}), 64);
  EXPECT_EQ(Run({"status", "--timeout", "-x"}), 64);
  EXPECT_EQ(Run({"status", "--timeout", "-3"}), std::nullopt);
  EXPECT_EQ(timeout_, -3);
  EXPECT_EQ(Run({"run", "--seed", "18446744073709551615"}), std::nullopt);
  EXPECT_EQ(seed, UINT64_MAX);
}

TEST_F(CommandLine, HelpAndVersionEndWithSuccessOnStdout) {
  EXPECT_EQ(Run({"--version"}), 0);
  EXPECT_EQ(out_, "prog 1\n");
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_NE(out_.find("status"), std::string::npos);
  EXPECT_EQ(Run({"status", "--help"}), 0);
  EXPECT_NE(out_.find("--socket"), std::string::npos);
  EXPECT_EQ(error_, "");
}

TEST_F(CommandLine, MistypedCommandIsNamed) {
  EXPECT_EQ(Run({"staus"}), 64);
  EXPECT_EQ(error_, "prog: unknown command 'staus'; did you mean 'status'?\nTry: prog --help\n");
}

TEST_F(CommandLine, ForeignCommandGetsTheList) {
  EXPECT_EQ(Run({"frobnicate"}), 64);
  EXPECT_EQ(error_,
            "prog: unknown command 'frobnicate'; there are status, pause, resume\n"
            "Try: prog --help\n");
}

TEST_F(CommandLine, MistypedOptionIsNamedWithItsCommand) {
  EXPECT_EQ(Run({"status", "--sokcet", "/a"}), 64);
  EXPECT_EQ(error_,
            "prog: unknown option '--sokcet'; did you mean '--socket'?\nTry: prog status --help\n");
  EXPECT_EQ(Run({"status", "--jsn=1"}), 64);
  EXPECT_EQ(error_,
            "prog: unknown option '--jsn'; did you mean '--json'?\nTry: prog status --help\n");
}

TEST_F(CommandLine, AHiddenCommandWorksAndIsNowhereMentioned) {
  const Command& inner = program_.Sub("inner", "for other programs").Hide();
  EXPECT_EQ(Run({"inner"}), std::nullopt);
  EXPECT_TRUE(inner.given());
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_EQ(out_.find("inner"), std::string::npos);
  EXPECT_EQ(Run({"innre"}), 64);
  EXPECT_EQ(error_.find("inner"), std::string::npos);
}

TEST_F(CommandLine, MissingCommandGetsTheList) {
  EXPECT_EQ(Run({}), 64);
  EXPECT_EQ(error_,
            "prog: a command is missing; there are status, pause, resume\nTry: prog --help\n");
}

TEST_F(CommandLine, ArgumentTooMany) {
  EXPECT_EQ(Run({"status", "extra"}), 64);
  EXPECT_EQ(error_, "prog: unexpected argument 'extra'\nTry: prog status --help\n");
}

TEST_F(CommandLine, WrongValuesAreUsageErrorsToo) {
  EXPECT_EQ(Run({"status", "--timeout", "soon"}), 64);
  EXPECT_NE(error_.find("soon"), std::string::npos);
  EXPECT_EQ(Run({"status", "--socket"}), 64);
  EXPECT_NE(error_.find("--socket"), std::string::npos);
}

TEST(Command, CompletesCommandsAndOptions) {
  Command program("prog", "Does things.");
  std::string text;
  Command& model = program.Sub("model", "Models");
  model.Sub("info", "Show").Add("--json", text);
  model.Sub("import", "Read");
  program.Sub("move", "Away");
  program.Sub("hidden", "Secret").Hide();
  using Words = std::vector<std::string>;
  EXPECT_EQ(program.Complete({"mo"}), (Words{"model", "move"}));
  EXPECT_EQ(program.Complete({""}), (Words{"model", "move"}));
  EXPECT_EQ(program.Complete({"model", "i"}), (Words{"info", "import"}));
  EXPECT_EQ(program.Complete({"model", "info", "--j"}), (Words{"--json"}));
  EXPECT_EQ(program.Complete({"model", "info", "x"}), Words());
  EXPECT_EQ(program.Complete({"nothing", ""}), (Words{"model", "move"}));
}

}  // namespace
}  // namespace covey::command_line
