#include "covey/command_line/command.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <system_error>
#include <type_traits>

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
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
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

// The first line of an answer, without the name of the program.
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

// CLI11 takes "-1" for the largest number of an unsigned type.
template <class Number>
CLI::Validator WholeNumber() {
  const auto wrong = [](const std::string& text) -> std::string {
    Number value{};
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec == std::errc::result_out_of_range) return "got " + text + ", which is too large";
    if (read.ec == std::errc() && read.ptr == end) return {};
    return "got '" + text + "', want a whole number" +
           (std::is_unsigned_v<Number> ? " of 0 or more" : "");
  };
  return CLI::Validator(wrong, "");
}

}  // namespace

Option& Option::Required() {
  option_->required();
  return *this;
}

Option& Option::OneOf(const std::vector<std::string>& names) {
  option_->check(CLI::IsMember(names));
  return *this;
}

Option& Option::Between(std::size_t least, std::size_t most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

Option& Option::Positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

Option& Option::Values(std::size_t least, std::size_t most) {
  option_->expected(static_cast<int>(least), static_cast<int>(most));
  return *this;
}

Option& Option::Excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option& Option::ShowDefault() {
  option_->capture_default_str();
  return *this;
}

bool Option::given() const { return option_->count() > 0; }

Command::Command(const char* name, const char* help)
    : own_(std::make_unique<CLI::App>(help, name)), app_(own_.get()) {}

Command::Command(CLI::App* app) : app_(app) {}

Command::~Command() = default;

void Command::Version(std::string (*line)()) { app_->set_version_flag("--version", line); }

Command& Command::Sub(const char* name, const char* help) {
  app_->require_subcommand(1);
  // Not std::make_unique: the constructor is private.
  commands_.push_back(std::unique_ptr<Command>(new Command(app_->add_subcommand(name, help))));
  return *commands_.back();
}

Command& Command::Hide() {
  app_->group("");
  return *this;
}

Option Command::Add(const char* name, std::string& value, const char* help) {
  return Option(app_->add_option(name, value, help));
}

Option Command::Add(const char* name, int& value, const char* help) {
  return Option(app_->add_option(name, value, help)->check(WholeNumber<int>()));
}

Option Command::Add(const char* name, std::uint32_t& value, const char* help) {
  return Option(app_->add_option(name, value, help)->check(WholeNumber<std::uint32_t>()));
}

Option Command::Add(const char* name, std::size_t& value, const char* help) {
  return Option(app_->add_option(name, value, help)->check(WholeNumber<std::size_t>()));
}

Option Command::Add(const char* name, float& value, const char* help) {
  return Option(app_->add_option(name, value, help));
}

Option Command::Add(const char* name, double& value, const char* help) {
  return Option(app_->add_option(name, value, help));
}

Option Command::Add(const char* name, std::optional<std::string>& value, const char* help) {
  return Option(app_->add_option(name, value, help));
}

Option Command::Add(const char* name, std::optional<int>& value, const char* help) {
  return Option(app_->add_option(name, value, help)->check(WholeNumber<int>()));
}

Option Command::Add(const char* name, std::optional<std::uint32_t>& value, const char* help) {
  return Option(app_->add_option(name, value, help)->check(WholeNumber<std::uint32_t>()));
}

Option Command::Add(const char* name, std::optional<std::uint64_t>& value, const char* help) {
  return Option(app_->add_option(name, value, help)->check(WholeNumber<std::uint64_t>()));
}

Option Command::Add(const char* name, std::vector<std::string>& value, const char* help) {
  return Option(app_->add_option(name, value, help));
}

Option Command::Add(const char* name, std::vector<std::size_t>& value, const char* help) {
  return Option(app_->add_option(name, value, help)->check(WholeNumber<std::size_t>()));
}

Option Command::Flag(const char* name, bool& value, const char* help) {
  return Option(app_->add_flag(name, value, help));
}

std::optional<int> Command::Parse(int argc, const char* const* argv) {
  try {
    app_->parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::Success& done) {  // --help, --version
    return app_->exit(done);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "%s: %s\nTry: %s --help\n", app_->get_name().c_str(),
                 Explain(*app_, error).c_str(), PathOf(Active(*app_)).c_str());
    return static_cast<int>(ErrorCode::kUsage);
  }
}

std::vector<std::string> Command::Complete(const std::vector<std::string>& words) const {
  const CLI::App* at = app_;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    for (const CLI::App* sub : at->get_subcommands({})) {
      if (sub->get_name() == words[i]) at = sub;
    }
  }
  const std::string begun = words.empty() ? "" : words.back();
  std::vector<std::string> found;
  const auto offer = [&](const std::string& word) {
    if (word.compare(0, begun.size(), begun) == 0) found.push_back(word);
  };
  if (begun.rfind('-', 0) == 0) {
    for (const CLI::Option* option : at->get_options()) {
      for (const std::string& name : option->get_lnames()) offer("--" + name);
    }
  } else {
    for (const CLI::App* sub : at->get_subcommands({})) {
      if (!sub->get_group().empty()) offer(sub->get_name());
    }
  }
  return found;
}

bool Command::given() const { return app_->parsed(); }

}  // namespace covey::command_line
