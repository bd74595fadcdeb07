// Command lines of the three programs: CLI11, with messages that say what was meant, and sysexits.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace covey::command_line {

// Parses into what `app` is bound to. --help and --version print to stdout; a mistake prints two
// lines to stderr:
//   covey: unknown command 'staus'; did you mean 'status'?
//   Try: covey --help
// Returns: the exit code when the program should end now (0 or 64), else nothing.
std::optional<int> Parse(CLI::App& app, int argc, const char* const* argv);

// The first line without the program's name. For Parse and its tests.
std::string Explain(const CLI::App& app, const CLI::ParseError& error);

}  // namespace covey::command_line
