// covey: for the person at the robot.
//
// stdout: data only; stderr: everything else. Exit codes: docs/exit-codes.md.
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "covey/api/client.h"
#include "covey/api/version.h"
#include "covey/base/result.h"
#include "covey/base/time.h"
#include "covey/command_line/command.h"
#include "covey/config/load.h"
#include "covey/config/paths.h"
#include "check.h"
#include "data_command.h"
#include "fleet_commands.h"
#include "init_command.h"
#include "key_command.h"
#include "model_files.h"
#include "model_text.h"
#include "peer_commands.h"
#include "predict.h"
#include "push.h"
#include "status_text.h"

namespace covey {
namespace {

struct Options {
  std::string socket;
  std::string config;
  std::string timeout = "5s";
  std::string wait = "0s";  // predict
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

// The configuration of the node that is meant, paths filled.
Result<config::NodeConfig> ConfigOf(const Options& options) {
  config::NodeConfig config;
  if (!options.config.empty()) {
    auto loaded = config::LoadNode(options.config);
    if (!loaded) return tl::unexpected(loaded.error());
    config = std::move(loaded->value);
  }
  config::FillPaths(config, config::Environment::OfProcess());
  return config;
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
  const auto config = ConfigOf(options);
  if (!config) return tl::unexpected(config.error());
  return Place{Absolute(config->api.listen), *timeout};
}

Result<api::Client> Connect(const Place& place) {
  return api::Client::Connect(place.socket, place.timeout);
}

Result<api::Client> ConnectTo(const Options& options) {
  const auto place = Find(options);
  if (!place) return tl::unexpected(place.error());
  return Connect(*place);
}

void Print(const Options& options, const api::NodeStatus& status) {
  const std::string text = options.json ? StatusJson(status) : StatusText(status);
  std::fputs(text.c_str(), stdout);
}

Status ShowStatus(const Options& options) {
  auto client = ConnectTo(options);
  if (!client) return tl::unexpected(client.error());
  const auto status = client->GetStatus();
  if (!status) return tl::unexpected(status.error());
  Print(options, *status);
  return {};
}

Status Steer(const Options& options, api::Command command) {
  auto client = ConnectTo(options);
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
  auto client = ConnectTo(options);
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

Status AskForPredictions(const Options& options, PredictOptions predict) {
  const auto wait = ParseDuration(options.wait);
  if (!wait) {
    return Fail(ErrorCode::kUsage, "--wait", wait.error().what, wait.error().hint);
  }
  predict.wait = *wait;
  predict.json = options.json;
  return Predict(predict, [&options] { return ConnectTo(options); });
}

// Commands on model files: what each is called with, and what does it.
class ModelCommands {
 public:
  ModelCommands(command_line::Command& model, Options& options)
      : options_(options),
        info_(model.Sub("info", "Show what a model file holds, and how good it is")),
        export_(model.Sub("export", "Write a model as ONNX or safetensors")),
        import_(model.Sub("import", "Let a node start from a model file")),
        diff_(model.Sub("diff", "Compare the parameters of two models")),
        rollback_(model.Sub("rollback", "Publish the model before the published one again")) {
    constexpr const char* kFrom = "Model file, or a node's state folder: its published model";
    info_.Add("FILE", files_.first, kFrom).Required();
    export_.Add("FROM", files_.first, kFrom).Required();
    export_.Add("TO", files_.second, "File that ends in .onnx or .safetensors").Required();
    import_.Add("FILE", files_.first, kFrom).Required();
    import_.Add("--config", options.config, "The node's configuration file").Required();
    import_.Flag("--replace", files_.replace, "Move the node's checkpoints aside");
    diff_.Add("FILE", files_.first, kFrom).Required();
    diff_.Add("OTHER", files_.second, kFrom).Required();
    rollback_.Add("FOLDER", files_.first, "Folder with model.onnx; else that of the node");
    rollback_.Add("--config", options.config, "The node's configuration file, to find it");
    for (command_line::Command* one : {&info_, &diff_, &rollback_}) {
      one->Flag("--json", files_.json, "Print JSON");
    }
  }

  // Returns: what the command that was given came to; nothing when none of these was.
  std::optional<Status> Run() const {
    if (info_.given()) return ModelInfo(files_);
    if (export_.given()) return ModelExport(files_);
    if (diff_.given()) return ModelDiff(files_);
    if (!import_.given() && !rollback_.given()) return std::nullopt;
    const auto config = ConfigOf(options_);
    if (!config) return Status(tl::unexpected(config.error()));
    return import_.given() ? ModelImport(files_, *config) : ModelRollback(files_, *config);
  }

 private:
  Options& options_;
  ModelFileOptions files_;
  command_line::Command& info_;
  command_line::Command& export_;
  command_line::Command& import_;
  command_line::Command& diff_;
  command_line::Command& rollback_;
};

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

// Commands that give samples to a node: to answer, or to learn from.
class SampleCommands {
 public:
  SampleCommands(command_line::Command& program, Options& options)
      : options_(options),
        predict_(Add(program, "predict", "Ask the model of the daemon, or of a file", options)),
        push_(Add(program, "push", "Give samples to a node that takes live data", options)) {
    constexpr const char* kValues = "Numbers of one sample; behind -- when the first is negative";
    predict_.Add("VALUES", question_.values, kValues);
    predict_.Add("--row", question_.row,
                 "The same in one word, --row=5.1,3.5, or by column: --row 'a=5.1,b=red', or JSON");
    predict_.Add("--csv", question_.csv,
                 "Samples as rows; a header's names find the columns, in any order; -: stdin");
    predict_.Add("--image", question_.images, "PNG, JPEG or PGM files, each a sample");
    predict_.Add("--model", question_.model, "Ask this model file, not the daemon");
    predict_.Add("--top", question_.top, "Classes of each answer; 0: all").ShowDefault();
    predict_.Add("--wait", options.wait,
                 "How long to wait for a daemon that starts, and its first model");
    push_.Add("VALUES", samples_.values, kValues);
    push_.Add("--class", samples_.label, "Its class, by name or number");
    push_.Add("--csv", samples_.csv,
              "Table with the columns that the node learns from; -: stdin, sent as it comes");
  }

  // Returns: what the command that was given came to; nothing when none of these was.
  std::optional<Status> Run() {
    if (predict_.given()) return AskForPredictions(options_, question_);
    if (!push_.given()) return std::nullopt;
    samples_.json = options_.json;
    return Push(samples_, [this] { return ConnectTo(options_); });
  }

 private:
  Options& options_;
  PredictOptions question_;
  PushOptions samples_;
  command_line::Command& predict_;
  command_line::Command& push_;
};

// What a shell runs while a line is typed: covey __complete WORD..., the last one begun.
constexpr const char* kComplete = "__complete";

constexpr const char* kBashCompletion =
    R"(# bash completion for covey: source <(covey completion bash)
_covey() {
  local IFS=$'\n'
  COMPREPLY=($(covey __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _covey covey
)";

int Check(const Options& options) {
  const std::vector<Finding> findings = CheckNode(options.file);
  const std::string text =
      options.json ? FindingsJson(findings, "covey.check/1") : FindingsText(findings);
  std::fputs(text.c_str(), stdout);
  return ExitCodeOf(findings);
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

PeerCommands::Host HostOf(command_line::Command& program, Options& options) {
  return {[&](const char* name, const char* help) -> command_line::Command& {
            return Add(program, name, help, options);
          },
          [&options] { return ConnectTo(options); }, [&options] { return ConfigOf(options); },
          options.json};
}

FleetCommands::Host FleetHostOf(command_line::Command& program, Options& options) {
  const PeerCommands::Host host = HostOf(program, options);
  return {host.add, host.connect, host.config, options.config, options.json};
}

bool HasCompleted(const command_line::Command& program, int argc, char** argv) {
  if (argc < 2 || std::string_view(argv[1]) != kComplete) return false;
  for (const std::string& word : program.Complete({argv + 2, argv + argc})) {
    std::printf("%s\n", word.c_str());
  }
  return true;
}

int Main(int argc, char** argv) {
  using command_line::Command;
  Command program("covey", "Shows and steers the Covey daemon of this machine; describes models.");
  program.Version([] { return api::VersionLine("covey"); });
  Options options;
  const Command& status = Add(program, "status", "Show what the daemon is doing", options);
  PeerCommands of_peers(HostOf(program, options));
  FleetCommands of_fleet(program, FleetHostOf(program, options));
  const KeyCommand key(program, options.config, [&options] { return ConfigOf(options); });
  const Command& pause = Add(program, "pause", "Stop training; go on answering peers", options);
  const Command& resume = Add(program, "resume", "Go on training", options);
  const Command& settle =
      Add(program, "settle", "End training now; average with the peers, then be done", options);
  Command& leave =
      Add(program, "leave", "Say goodbye, measure the model, write a checkpoint, end", options);
  leave.Flag("--no-wait", options.no_wait, "Return as soon as the daemon has agreed");
  SampleCommands samples(program, options);
  Command& model = program.Sub("model", "Look at models, move them, go back to an earlier one");
  Command& describe =
      model.Sub("describe", "Show layers, shapes, parameters, memory and multiply-adds of a model");
  describe.Add("FILE", options.file, "Node or experiment file").Required();
  describe.Flag("--json", options.json, "Print JSON");
  InitCommand init(program);
  DataCommand data(program);
  const ModelCommands models(model, options);
  Command& check = program.Sub("check", "Look for everything that would keep a node from running");
  check.Add("FILE", options.file, "The node's configuration file").Required();
  check.Flag("--json", options.json, "Print JSON");
  Command& completion = program.Sub("completion", "Print what completes commands in a shell");
  std::string shell;
  completion.Add("SHELL", shell, "bash").Required().OneOf({"bash"});
  if (HasCompleted(program, argc, argv)) return 0;
  if (const auto code = program.Parse(argc, argv)) return *code;
  if (check.given()) return Check(options);
  if (const auto ran = of_peers.Run()) return *ran ? **ran : Report(ran->error());

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
  } else if (completion.given()) {
    std::fputs(kBashCompletion, stdout);
  } else if (describe.given()) {
    done = DescribeModel(options);
  } else if (const std::optional<Status> asked = samples.Run()) {
    done = *asked;
  } else if (const std::optional<Status> ran = data.Run()) {
    done = *ran;
  } else if (const std::optional<Status> signed_it = of_fleet.Run()) {
    done = *signed_it;
  } else if (const std::optional<Status> shown = key.Run()) {
    done = *shown;
  } else if (const std::optional<Status> made = init.Run()) {
    done = *made;
  } else if (const auto of_models = models.Run()) {
    done = *of_models;
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
