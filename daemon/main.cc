// coveyd: the node daemon. Foreground, one YAML file.
//
// Signals: SIGTERM and SIGINT stop it in good order within 5 s, a second one at once; SIGHUP is
// reported, SIGPIPE ignored.
// Exit codes: docs/exit-codes.md.
#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "covey/api/version.h"
#include "covey/command_line/command.h"
#include "covey/log/log.h"
#include "covey/node/process.h"
#include "covey/node/signals.h"
#include "coveyd.h"

namespace {

// A configuration's report is made to be read as it is; everything else is a log line.
int Report(const covey::Error& error) {
  if (error.code == covey::ErrorCode::kConfig && error.what.find('\n') != std::string::npos) {
    std::fprintf(stderr, "%s\n", error.what.c_str());
  } else {
    covey::log::Error(covey::log::Category::kNode, error.Format());
  }
  return covey::ExitCode(error);
}

int Run(const covey::Options& options) {
  const auto config = covey::LoadConfig(options);
  if (!config) return Report(config.error());
  const auto code = [&config](const covey::Status& status) {
    return status ? 0 : Report(config->places.Locate(status.error()));
  };
  if (options.check) return code(covey::Check(options, config->value));
  if (options.init) return code(covey::Init(config->value));
  covey::node::Signals signals;
  return code(covey::RunNode(options, config->value, signals));
}

}  // namespace

int main(int argc, char** argv) {
  covey::node::TuneAllocator();
  covey::command_line::Command program(
      "coveyd", "Trains a model on this machine's data and averages it with its peers.");
  covey::Options options;
  program.Version([] { return covey::api::VersionLine("coveyd"); });
  program.Add("--config", options.config, "Configuration file (YAML; see configs/node.yaml)")
      .Required();
  program.Flag("--check", options.check, "Check configuration and data, then exit");
  program.Flag("--init", options.init,
               "Make state directory and key if they are missing, print key=<hex>, then exit");
  program.Add("--join", options.join,
              "Invitation of the operator; kept from then on, so once is enough");
  program.Flag("--paused", options.paused, "Start paused: answer peers, train when told to resume");
  if (const auto code = program.Parse(argc, argv)) return *code;
  try {
    return Run(options);
  } catch (const std::exception& error) {
    covey::log::Error(covey::log::Category::kNode, std::string("unexpected: ") + error.what());
    return static_cast<int>(covey::ErrorCode::kSoftware);
  }
}
