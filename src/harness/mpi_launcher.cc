#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "covey/config/load.h"
#include "covey/harness/child.h"
#include "covey/harness/mpi.h"
#include "covey/store/file_system.h"
#include "harness/console.h"
#include "harness/models.h"
#include "harness/mpi_folder.h"
#include "harness/node_text.h"

namespace covey::harness {
namespace {

namespace fs = std::filesystem;

constexpr Duration kMpiTick = std::chrono::milliseconds(100);
constexpr Duration kMpiEndPatience = std::chrono::seconds(30);

Result<std::string> FindMpirun() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string program = (folder.empty() ? "." : folder) + "/mpirun";
    if (access(program.c_str(), X_OK) == 0) return program;
  }
  return Fail(ErrorCode::kUnavailable, "mpirun", "is in no folder of PATH",
              "install openmpi-bin, here and on every machine of the host file");
}

std::string Tail(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  std::string all = text.str();
  constexpr std::size_t kMost = 1500;
  if (all.size() > kMost) all.erase(0, all.find('\n', all.size() - kMost) + 1);
  while (all.ends_with('\n')) all.pop_back();
  return all;
}

Result<Child::Command> CommandFor(const config::Experiment& experiment, const MpiOptions& options,
                                  const std::string& folder) {
  const Result<std::string> mpirun = FindMpirun();
  if (!mpirun) return tl::unexpected(mpirun.error());
  const Result<std::string> self = ProgramBeside("covey-sim");
  if (!self) return tl::unexpected(self.error());
  Child::Command command{.arguments = {*mpirun, "--bind-to", "none"},
                         .log = folder + "/mpirun.log"};
  std::vector<std::string>& words = command.arguments;
  // mpirun refuses root unless told; whoever runs this as root has decided already.
  if (geteuid() == 0) words.emplace_back("--allow-run-as-root");
  if (options.hostfile.empty()) {
    words.emplace_back("--oversubscribe");
  } else {
    words.insert(words.end(), {"--hostfile", options.hostfile});
  }
  words.insert(words.end(), {"-n", std::to_string(experiment.nodes), *self, "mpi-node", folder});
  return command;
}

Result<std::string> MakeMeeting(const config::Experiment& experiment, const std::string& folder) {
  std::error_code error;
  const std::string absolute = fs::absolute(folder, error).string();
  if (error) return Fail(ErrorCode::kCantCreate, folder, error.message());
  fs::remove_all(absolute, error);  // a daemon would go on from an earlier run's checkpoint
  if (error) return Fail(ErrorCode::kCantCreate, absolute, error.message());
  if (Status made = store::MakeFolder(absolute + "/nodes"); !made) {
    return tl::unexpected(made.error());
  }
  Status written = WriteShared(absolute + "/experiment.yaml", config::WriteYaml(experiment));
  if (!written) return tl::unexpected(written.error());
  return absolute;
}

// Follows mpirun to its end. Returns: how it ended, and whether it was told to.
struct MpirunEnd {
  ExitStatus status;
  bool stopped = false;
};

MpirunEnd Await(Child& child, const JobContext& context) {
  MpirunEnd end;
  for (;;) {
    if (const auto status = child.Wait(kMpiTick)) {
      end.status = *status;
      return end;
    }
    if (!context.stopped || !context.stopped()) continue;
    end.stopped = true;
    child.Signal(SIGTERM);  // it passes it on
    const auto status = child.Wait(kMpiEndPatience);
    end.status = status.value_or(ExitStatus{.signaled = true, .number = SIGKILL});
    return end;
  }
}

Result<FleetOutcome> CollectMpi(const config::Experiment& experiment, const std::string& folder) {
  FleetOutcome outcome;
  Result<std::vector<config::NodeConfig>> configs = config::Expand(experiment);
  if (!configs) return tl::unexpected(configs.error());
  std::vector<NodeModel> models;
  for (std::uint32_t i = 0; i < configs->size(); ++i) {
    const MpiFolder place(folder, i);
    const std::optional<std::string> text = place.Read(MpiFolder::kOutcome);
    if (!text) {
      return Fail(ErrorCode::kData, place.node(), "has no outcome",
                  "is the folder shared by all machines?");
    }
    Result<NodeOutcome> node = NodeFromJson(*text);
    if (!node) return tl::unexpected(node.error());
    if (node->end != End::kDied) models.push_back({(*configs)[i].model, place.node(), i});
    outcome.interrupted = outcome.interrupted || node->end == End::kInterrupted;
    outcome.nodes.push_back(std::move(*node));
  }
  LoadModels(models, outcome);
  return outcome;
}

}  // namespace

Result<FleetOutcome> RunMpi(const config::Experiment& experiment, const MpiOptions& options,
                            const JobContext& context) {
  const Result<std::string> folder = MakeMeeting(experiment, options.folder);
  if (!folder) return tl::unexpected(folder.error());
  const Result<Child::Command> command = CommandFor(experiment, options, *folder);
  if (!command) return tl::unexpected(command.error());
  Result<Child> child = Child::Start(*command);
  if (!child) return tl::unexpected(child.error());
  const MpirunEnd end = Await(*child, context);
  if (end.stopped) {
    FleetOutcome outcome;
    outcome.interrupted = true;
    return outcome;
  }
  if (!end.status.ok()) {
    return Fail(ErrorCode::kUnavailable, "mpirun",
                "ended with " + end.status.Text() + ":\n" + Tail(command->log),
                "its log is " + command->log);
  }
  return CollectMpi(experiment, *folder);
}

}  // namespace covey::harness
