// covey-sim: runs experiments with local daemons or on a virtual clock.
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>

#include "covey/api/version.h"
#include "covey/command_line/parse.h"
#include "covey/harness/command.h"
#include "covey/harness/mpi.h"
#include "covey/harness/paper_command.h"
#include "covey/harness/swarm.h"
#include "covey/harness/sweep.h"

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

void AddPaper(CLI::App& app, covey::harness::PaperCommand& command) {
  CLI::App& paper = *app.add_subcommand(
      "paper",
      "Run Table 1 of arXiv 2005.10300 and compare. Go on after Ctrl-C with the same words");
  paper.add_option("--dataset", command.dataset, "mnist, fashion-mnist or cifar-10")->required();
  paper.add_option("--data", command.data,
                   "Folder of its IDX files (default: where fetch-data or Debian put them)");
  paper.add_option("--config", command.config, "Settings instead of configs/paper/<dataset>.yaml");
  paper.add_option("--figure", command.figure, "Only the rows of this figure, 1 to 3");
  paper.add_option("--row", command.rows, "Only this row, NAME=VALUE; may be given again");
  paper.add_option("--seeds", command.seeds, "Runs of every row: seeds 1 to K");
  paper.add_option("--epochs", command.epochs, "Instead of the paper's 100");
  paper.add_option("--jobs", command.jobs, "Fleets at a time (default: one for each processor)");
  paper.add_option("--out", command.out, "Folder of the results (default: runs/paper-<dataset>)");
  paper.add_flag("--quiet", command.quiet, "No progress");
  paper.add_flag("--json", command.json, "Print summary.json instead of the table");
}

void AddSweep(CLI::App& app, covey::harness::SweepCommand& command) {
  CLI::App& sweep = *app.add_subcommand(
      "sweep", "Run an experiment with many settings. Go on after Ctrl-C with the same words");
  sweep.add_option("file", command.file, "Sweep file (YAML)")->required();
  sweep.add_option("--jobs", command.jobs, "Fleets at a time (default: one for each processor)");
  sweep.add_option("--out", command.out, "Folder of the results (default: runs/sweep-<name>)");
  sweep.add_option("--launcher", command.launcher,
                   "virtual: one process, virtual clock; mpi: real daemons, by Open MPI's mpirun");
  sweep.add_option("--hostfile", command.hostfile, "Machines and slots, as mpirun takes them");
  sweep.add_flag("--quiet", command.quiet, "No progress");
  sweep.add_flag("--json", command.json, "Print summary.json instead of the table");
}

void AddSwarm(CLI::App& app, covey::harness::SwarmCommand& command) {
  CLI::App& swarm = *app.add_subcommand(
      "swarm",
      "Run fleets with faults drawn from seeds; 1 when a seed fails, with how to repeat it");
  swarm.add_option("--seeds", command.seeds, "A..B, both included (default: 1..200)");
  swarm.add_option("--nodes", command.nodes, "2 to 64 (default: 16 to 32, drawn)");
  swarm.add_option("--exchanges", command.exchanges, "That a node begins (default: 500)");
  swarm.add_option("--jobs", command.jobs, "Seeds at a time (default: one for each processor)");
  swarm.add_flag("--trace-hash", command.trace_hash, "Print a hash of all that happened");
  swarm.add_flag("--json", command.json, "Print JSON instead of words");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs experiments of nodes that learn together.", "covey-sim");
  app.set_version_flag("--version", [] { return covey::api::VersionLine("covey-sim"); });
  app.require_subcommand(1);
  covey::harness::Command command;
  AddRun(app, command);
  covey::harness::PaperCommand paper;
  AddPaper(app, paper);
  covey::harness::SweepCommand sweep;
  AddSweep(app, sweep);
  covey::harness::SwarmCommand swarm;
  AddSwarm(app, swarm);
  std::string mpi_folder;  // what mpirun starts in each slot; no command for people
  app.add_subcommand("mpi-node")->group("")->add_option("folder", mpi_folder)->required();
  if (const auto code = covey::command_line::Parse(app, argc, argv)) return *code;
  CatchSignals();
  if (app.got_subcommand("swarm")) return covey::harness::RunSwarms(swarm, g_stop);
  if (app.got_subcommand("paper")) return covey::harness::RunPaper(paper, g_stop);
  if (app.got_subcommand("mpi-node")) return covey::harness::RunMpiNode(mpi_folder, g_stop);
  if (app.got_subcommand("sweep")) return covey::harness::RunSweep(sweep, g_stop);
  return covey::harness::Run(command, g_stop);
}
