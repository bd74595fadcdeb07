// covey-sim: runs experiments with local daemons or on a virtual clock.
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>

#include "covey/api/version.h"
#include "covey/command_line/command.h"
#include "covey/harness/command.h"
#include "covey/harness/mpi.h"
#include "covey/harness/paper_command.h"
#include "covey/harness/swarm.h"
#include "covey/harness/sweep.h"

namespace {

using covey::command_line::Command;

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

void AddRun(Command& program, covey::harness::Command& command) {
  Command& run = program.Sub(
      "run", "Run an experiment file. Exit code: 0 when its expect: section holds, 1 when not");
  covey::harness::Options& options = command.options;
  run.Add("file", command.file, "Experiment file (YAML)").Required();
  run.Add("--nodes", options.nodes, "Number of nodes, 1 to 1024");
  run.Add("--epochs", options.epochs, "Passes of each node over its own data");
  run.Add("--weights-drop", options.weights_drop, "WEIGHTS to lose, a fraction or per cent");
  run.Add("--deltas-drop", options.deltas_drop, "DELTAS to lose, a fraction or per cent");
  run.Add("--gamma", options.gamma, "Step of an exchange, above 0, at most 1, or auto");
  run.Add("--batches", options.batches, "N: batches trained in a round");
  run.Add("--sends", options.sends, "M: WEIGHTS sent in a round");
  run.Add("--mix-rate", options.mix_rate,
          "Partition by label; fraction of its own part that a node gives away, or per cent");
  run.Add("--seed", options.seed, "Seed of all random streams");
  run.Add("--mode", options.mode, "process: real daemons; virtual: one process, virtual clock");
  run.Add("--controls", options.controls, "none, monolithic, isolated or all");
  run.Add("--out", command.out, "Folder of the results (default: runs/<time>-<name>)");
  run.Flag("--quiet", command.quiet, "No progress");
  run.Flag("--json", command.json, "Print summary.json instead of the table");
}

Command& AddPaper(Command& program, covey::harness::PaperCommand& command) {
  Command& paper = program.Sub(
      "paper",
      "Run Table 1 of arXiv 2005.10300 and compare. Go on after Ctrl-C with the same words");
  paper.Add("--dataset", command.dataset, "mnist, fashion-mnist or cifar-10").Required();
  paper.Add("--data", command.data,
            "Folder of its IDX files (default: where fetch-data or Debian put them)");
  paper.Add("--config", command.config, "Settings instead of configs/paper/<dataset>.yaml");
  paper.Add("--figure", command.figure, "Only the rows of this figure, 1 to 3");
  paper.Add("--row", command.rows, "Only this row, NAME=VALUE; may be given again");
  paper.Add("--seeds", command.seeds, "Runs of every row: seeds 1 to K");
  paper.Add("--epochs", command.epochs, "Instead of the paper's 100");
  paper.Add("--jobs", command.jobs, "Fleets at a time (default: one for each processor)");
  paper.Add("--out", command.out,
            "Folder of the results (default: runs/paper-<dataset>, and a longer name for "
            "other settings)");
  paper.Flag("--quiet", command.quiet, "No progress");
  paper.Flag("--json", command.json, "Print summary.json instead of the table");
  return paper;
}

Command& AddSweep(Command& program, covey::harness::SweepCommand& command) {
  Command& sweep = program.Sub(
      "sweep", "Run an experiment with many settings. Go on after Ctrl-C with the same words");
  sweep.Add("file", command.file, "Sweep file (YAML)").Required();
  sweep.Add("--jobs", command.jobs, "Fleets at a time (default: one for each processor)");
  sweep.Add("--out", command.out,
            "Folder of the results (default: runs/sweep-<name>, -mpi behind it with mpi)");
  sweep.Add("--launcher", command.launcher,
            "virtual: one process, virtual clock; mpi: real daemons, by Open MPI's mpirun");
  sweep.Add("--hostfile", command.hostfile, "Machines and slots, as mpirun takes them");
  sweep.Flag("--quiet", command.quiet, "No progress");
  sweep.Flag("--json", command.json, "Print summary.json instead of the table");
  return sweep;
}

Command& AddSwarm(Command& program, covey::harness::SwarmCommand& command) {
  Command& swarm = program.Sub(
      "swarm",
      "Run fleets with faults drawn from seeds; 1 when a seed fails, with how to repeat it");
  swarm.Add("--seeds", command.seeds, "A..B, both included (default: 1..200)");
  swarm.Add("--nodes", command.nodes, "2 to 64 (default: 16 to 32, drawn)");
  swarm.Add("--exchanges", command.exchanges, "Of each node, 10 to 10000 (default: 500)");
  swarm.Add("--jobs", command.jobs, "Seeds at a time (default: one for each processor)");
  swarm.Flag("--trace-hash", command.trace_hash, "Print a hash of all that happened");
  swarm.Flag("--quiet", command.quiet, "No progress");
  swarm.Flag("--json", command.json, "Print JSON instead of words");
  return swarm;
}

}  // namespace

int main(int argc, char** argv) {
  Command program("covey-sim", "Runs experiments of nodes that learn together.");
  program.Version([] { return covey::api::VersionLine("covey-sim"); });
  covey::harness::Command command;
  AddRun(program, command);
  covey::harness::PaperCommand paper_command;
  const Command& paper = AddPaper(program, paper_command);
  covey::harness::SweepCommand sweep_command;
  const Command& sweep = AddSweep(program, sweep_command);
  covey::harness::SwarmCommand swarm_command;
  const Command& swarm = AddSwarm(program, swarm_command);
  std::string mpi_folder;  // what mpirun starts in each slot; no command for people
  Command& mpi_node = program.Sub("mpi-node", "").Hide();
  mpi_node.Add("folder", mpi_folder).Required();
  if (const auto code = program.Parse(argc, argv)) return *code;
  CatchSignals();
  if (swarm.given()) return covey::harness::RunSwarms(swarm_command, g_stop);
  if (paper.given()) return covey::harness::RunPaper(paper_command, g_stop);
  if (mpi_node.given()) return covey::harness::RunMpiNode(mpi_folder, g_stop);
  if (sweep.given()) return covey::harness::RunSweep(sweep_command, g_stop);
  return covey::harness::Run(command, g_stop);
}
