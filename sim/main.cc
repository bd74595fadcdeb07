// covey-sim: runs experiments with local daemons or on a virtual clock.
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "covey/api/version.h"
#include "covey/command_line/parse.h"
#include "covey/harness/command.h"

namespace {

std::atomic<bool> g_stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch nothing else");

// The first signal asks for an orderly end; the second ends at once, and the children die with this
// process.
extern "C" void OnSignal(int signal) {
  if (g_stop.exchange(true)) _exit(128 + signal);
}

void CatchSignals() {
  struct sigaction action {};
  action.sa_handler = OnSignal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

void AddRun(CLI::App& app, covey::harness::Command& command) {
  CLI::App& run = *app.add_subcommand(
      "run", "Run an experiment file. Exit code: 0 when its expect: section holds, 1 when not");
  covey::harness::Options& options = command.options;
  run.add_option("file", command.file, "Experiment file (YAML)")->required();
  run.add_option("--nodes", options.nodes, "Number of nodes, 1 to 1024");
  run.add_option("--epochs", options.epochs, "Passes of each node over its own data");
  run.add_option("--weights-drop", options.weights_drop, "Fraction of WEIGHTS to lose, 0 to 1");
  run.add_option("--deltas-drop", options.deltas_drop, "Fraction of DELTAS to lose, 0 to 1");
  run.add_option("--gamma", options.gamma, "Step of an exchange, above 0, at most 1");
  run.add_option("--batches", options.batches, "N: batches trained in a round");
  run.add_option("--sends", options.sends, "M: WEIGHTS sent in a round");
  run.add_option("--mix-rate", options.mix_rate,
                 "Partition by label; fraction of its own part that a node gives away, 0 to 1");
  run.add_option("--seed", options.seed, "Seed of all random streams");
  run.add_option("--mode", options.mode,
                 "process: real daemons; virtual: one process, virtual clock");
  run.add_option("--controls", options.controls, "none, monolithic, isolated or all");
  run.add_option("--out", command.out, "Folder of the results (default: runs/<time>-<name>)");
  run.add_flag("--quiet", command.quiet, "No progress");
  run.add_flag("--json", command.json, "Print summary.json instead of the table");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs experiments of nodes that learn together.", "covey-sim");
  app.set_version_flag("--version", [] { return covey::api::VersionLine("covey-sim"); });
  app.require_subcommand(1);
  covey::harness::Command command;
  AddRun(app, command);
  if (const auto code = covey::command_line::Parse(app, argc, argv)) return *code;
  CatchSignals();
  return covey::harness::Run(command, g_stop);
}
