// Command lines of the programs: options bound to variables, mistakes that are answered by what was
// meant, and exit codes of sysexits.
//
//   Command program("covey-sim", "Runs experiments of nodes that learn together.");
//   Command& run = program.Sub("run", "Run an experiment file");
//   run.Add("file", file, "Experiment file (YAML)").Required();
//   if (const auto code = program.Parse(argc, argv)) return *code;
//   if (run.given()) ...
//
// CLI11 does the work. Its headers alone take seconds to compile, so they are seen by one source
// file and not by the programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace covey::command_line {

// What more is known of an option. A value that breaks it is a mistake in the command line.
// A copy means the same option; it lives as long as the Command.
class Option {
 public:
  Option& Required();
  Option& OneOf(const std::vector<std::string>& names);
  Option& Between(std::size_t least, std::size_t most);  // both included
  Option& Positive();                                    // a number above 0
  Option& Values(std::size_t least, std::size_t most);   // of a list: how many it may have
  Option& Excludes(const Option& other);
  Option& ShowDefault();  // in the help: the value that the variable has now

  // Returns: whether the command line named it. Requires: parsed.
  bool given() const;

 private:
  friend class Command;
  explicit Option(CLI::Option* option) : option_(option) {}

  CLI::Option* option_;
};

// A program, or one of its subcommands.
class Command {
 public:
  Command(const char* name, const char* help);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  // The answer to --version.
  void Version(std::string (*line)());

  // Each call makes a command; from the first on, one of them must be given.
  // Returns: the subcommand, which lives as long as this.
  Command& Sub(const char* name, const char* help);

  // No help and no list of commands mentions it. Returns: this.
  Command& Hide();

  // "--name" is an option with a value, "name" the next word without a name. `value` keeps what it
  // has unless the option is given, and outlives Parse. A list takes one value or more. What is no
  // whole number, or negative where the type has no sign, is a mistake.
  Option Add(const char* name, std::string& value, const char* help = "");
  Option Add(const char* name, int& value, const char* help = "");
  Option Add(const char* name, std::uint32_t& value, const char* help = "");
  Option Add(const char* name, std::size_t& value, const char* help = "");
  Option Add(const char* name, float& value, const char* help = "");
  Option Add(const char* name, double& value, const char* help = "");
  Option Add(const char* name, std::optional<std::string>& value, const char* help = "");
  Option Add(const char* name, std::optional<int>& value, const char* help = "");
  Option Add(const char* name, std::optional<std::uint32_t>& value, const char* help = "");
  Option Add(const char* name, std::optional<std::uint64_t>& value, const char* help = "");
  Option Add(const char* name, std::vector<std::string>& value, const char* help = "");
  Option Add(const char* name, std::vector<std::size_t>& value, const char* help = "");

  // "--name" without a value: true when given.
  Option Flag(const char* name, bool& value, const char* help = "");

  // Of the program. Fills the variables. --help and --version print to stdout; a mistake prints two
  // lines to stderr:
  //   covey: unknown command 'staus'; did you mean 'status'?
  //   Try: covey --help
  // Returns: the exit code when the program should end now (0 or 64), else nothing.
  std::optional<int> Parse(int argc, const char* const* argv);

  // What may stand at the last of `words`, which may be begun, behind the words before it: names of
  // commands, or of options when it begins with '-'. For the completion of a shell.
  std::vector<std::string> Complete(const std::vector<std::string>& words) const;

  // Returns: whether the command line named this subcommand. Requires: parsed.
  bool given() const;

 private:
  explicit Command(CLI::App* app);

  std::unique_ptr<CLI::App> own_;  // of the program
  CLI::App* app_;
  std::vector<std::unique_ptr<Command>> commands_;
};

}  // namespace covey::command_line
