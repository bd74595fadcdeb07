#include "covey/command_line/parse.h"

#include <cstdio>

#include "covey/base/result.h"
#include "covey/config/suggest.h"

namespace covey::command_line {
namespace {

// The deepest subcommand that was recognised.
const CLI::App& Active(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : Active(*chosen.back());
}

std::vector<std::string> CommandsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> FlagsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string Suggestion(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string nearest = config::Nearest(word, candidates);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

std::string PathOf(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return (parent == nullptr ? "" : PathOf(*parent) + ' ') + app.get_name();
}

}  // namespace

std::string Explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& active = Active(app);
  const std::vector<std::string> commands = CommandsOf(active);
  for (const std::string& word : app.remaining(true)) {
    if (word.size() > 1 && word[0] == '-') {
      const std::string flag = word.substr(0, word.find('='));
      return "unknown option '" + flag + '\'' + Suggestion(flag, FlagsOf(active));
    }
    if (commands.empty()) return "unexpected argument '" + word + '\'';
    const std::string nearest = Suggestion(word, commands);
    return "unknown command '" + word + '\'' +
           (nearest.empty() ? "; there are " + config::Joined(commands) : nearest);
  }
  if (!commands.empty() && error.get_name() == "RequiredError") {
    return "a command is missing; there are " + config::Joined(commands);
  }
  return error.what();
}

std::optional<int> Parse(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::Success& done) {  // --help, --version
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "%s: %s\nTry: %s --help\n", app.get_name().c_str(),
                 Explain(app, error).c_str(), PathOf(Active(app)).c_str());
    return static_cast<int>(ErrorCode::kUsage);
  }
}

}  // namespace covey::command_line
