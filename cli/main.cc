// covey: for the person at the robot.
//
// stdout: data only; stderr: everything else. Exit codes: docs/exit-codes.md.
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>

#include "covey/api/client.h"
#include "covey/api/version.h"
#include "covey/base/result.h"
#include "covey/base/time.h"
#include "covey/command_line/command.h"
#include "covey/config/load.h"
#include "covey/config/paths.h"
#include "data_command.h"
#include "model_text.h"
#include "status_text.h"

namespace covey {
namespace {

struct Options {
  std::string socket;
  std::string config;
  std::string timeout = "5s";
  std::string file;
  bool json = false;
  bool no_wait = false;
};

struct Place {
  std::string socket;
  Duration timeout{};
};

std::string Absolute(const std::string& path) {
  char folder[4096];
  if (path.empty() || path[0] == '/' || ::getcwd(folder, sizeof folder) == nullptr) return path;
  return std::string(folder) + '/' + path;
}

// Which daemon is meant: --socket, else the one of the configuration file, else the one of this
// user.
Result<Place> Find(const Options& options) {
  const auto timeout = ParseDuration(options.timeout);
  if (!timeout) {
    return Fail(ErrorCode::kUsage, "--timeout", timeout.error().what, timeout.error().hint);
  }
  if (!options.socket.empty()) {
    const bool url = options.socket.rfind("ipc://", 0) == 0;
    return Place{url ? options.socket : Absolute(options.socket), *timeout};
  }
  config::NodeConfig config;
  if (!options.config.empty()) {
    auto loaded = config::LoadNode(options.config);
    if (!loaded) return tl::unexpected(loaded.error());
    config = std::move(loaded->value);
  }
  config::FillPaths(config, config::Environment::OfProcess());
  return Place{Absolute(config.api.listen), *timeout};
}

Result<api::Client> Connect(const Place& place) {
  return api::Client::Connect(place.socket, place.timeout);
}

void Print(const Options& options, const api::NodeStatus& status) {
  const std::string text = options.json ? StatusJson(status) : StatusText(status);
  std::fputs(text.c_str(), stdout);
}

Status ShowStatus(const Options& options) {
  const auto place = Find(options);
  if (!place) return tl::unexpected(place.error());
  auto client = Connect(*place);
  if (!client) return tl::unexpected(client.error());
  const auto status = client->GetStatus();
  if (!status) return tl::unexpected(status.error());
  Print(options, *status);
  return {};
}

Status Steer(const Options& options, api::Command command) {
  const auto place = Find(options);
  if (!place) return tl::unexpected(place.error());
  auto client = Connect(*place);
  if (!client) return tl::unexpected(client.error());
  const auto status = client->Do(command);
  if (!status) return tl::unexpected(status.error());
  if (options.json) {
    Print(options, *status);
  } else {
    std::printf("%s: %s%s\n", status->name.c_str(), std::string(Name(status->state)).c_str(),
                status->paused ? ", paused" : "");
  }
  return {};
}

// The daemon measures its model before it goes; that takes as long as it takes.
Status Leave(const Options& options) {
  const auto place = Find(options);
  if (!place) return tl::unexpected(place.error());
  auto client = Connect(*place);
  if (!client) return tl::unexpected(client.error());
  if (const Status subscribed = client->Subscribe(); !subscribed) return subscribed;
  const auto accepted = client->Do(api::Command::kLeave);
  if (!accepted) return tl::unexpected(accepted.error());
  if (options.no_wait) return {};
  while (true) {
    const auto event = client->NextEvent(std::chrono::seconds(1));
    if (!event) {
      return Fail(ErrorCode::kUnavailable, "", "the daemon ended without telling its final results",
                  "look into its log");
    }
    if (!*event || (*event)->kind != api::Event::Kind::kFinished) continue;
    const api::FinalResults& results = (*event)->final_results;
    std::fputs((options.json ? FinalJson(results) : FinalText(results)).c_str(), stdout);
    return {};
  }
}

Status DescribeModel(const Options& options) {
  const auto loaded = config::LoadEither(options.file);
  if (!loaded) return tl::unexpected(loaded.error());
  for (const std::string& warning : loaded->warnings) std::fprintf(stderr, "%s\n", warning.c_str());
  const std::string text = options.json ? ModelJson(loaded->value) : ModelText(loaded->value);
  std::fputs(text.c_str(), stdout);
  return {};
}

command_line::Command& Add(command_line::Command& program, const char* name, const char* help,
                           Options& options) {
  command_line::Command& command = program.Sub(name, help);
  const auto socket = command.Add("--socket", options.socket, "API socket of the daemon");
  command.Add("--config", options.config, "The daemon's configuration file, to find it")
      .Excludes(socket);
  command.Add("--timeout", options.timeout, "How long to wait for an answer").ShowDefault();
  command.Flag("--json", options.json, "Print JSON");
  return command;
}

int Report(const Error& error) {
  // A configuration's report is made to be read as it is.
  if (error.code == ErrorCode::kConfig && error.what.find('\n') != std::string::npos) {
    std::fprintf(stderr, "%s\n", error.what.c_str());
  } else {
    std::fprintf(stderr, "covey: %s\n", error.Format().c_str());
  }
  return ExitCode(error);
}

int Main(int argc, char** argv) {
  using command_line::Command;
  Command program("covey", "Shows and steers the Covey daemon of this machine; describes models.");
  program.Version([] { return api::VersionLine("covey"); });
  Options options;
  const Command& status = Add(program, "status", "Show what the daemon is doing", options);
  const Command& pause = Add(program, "pause", "Stop training; go on answering peers", options);
  const Command& resume = Add(program, "resume", "Go on training", options);
  const Command& settle =
      Add(program, "settle", "End training now; average with the peers, then be done", options);
  Command& leave =
      Add(program, "leave", "Say goodbye, measure the model, write a checkpoint, end", options);
  leave.Flag("--no-wait", options.no_wait, "Return as soon as the daemon has agreed");
  Command& model = program.Sub("model", "Look at a model");
  Command& describe =
      model.Sub("describe", "Show layers, shapes, parameters, memory and multiply-adds of a model");
  describe.Add("FILE", options.file, "Node or experiment file").Required();
  describe.Flag("--json", options.json, "Print JSON");
  DataCommand data(program);
  if (const auto code = program.Parse(argc, argv)) return *code;

  Status done;
  if (status.given()) {
    done = ShowStatus(options);
  } else if (pause.given()) {
    done = Steer(options, api::Command::kPause);
  } else if (resume.given()) {
    done = Steer(options, api::Command::kResume);
  } else if (settle.given()) {
    done = Steer(options, api::Command::kSettle);
  } else if (leave.given()) {
    done = Leave(options);
  } else if (describe.given()) {
    done = DescribeModel(options);
  } else if (const std::optional<Status> ran = data.Run()) {
    done = *ran;
  }
  if (done && std::fflush(stdout) != 0) {
    done = Fail(ErrorCode::kIo, "stdout", "can't be written");
  }
  return done ? 0 : Report(done.error());
}

}  // namespace
}  // namespace covey

int main(int argc, char** argv) {
  try {
    return covey::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "covey: unexpected: %s\n", error.what());
    return static_cast<int>(covey::ErrorCode::kSoftware);
  }
}
