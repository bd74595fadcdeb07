// The command `covey-sim sweep`: one experiment with many settings and seeds, as a table.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "covey/config/experiment.h"
#include "covey/harness/expect.h"
#include "covey/harness/fleet_job.h"
#include "covey/harness/outcome.h"

namespace covey::harness {

struct SweepCommand {
  std::string file;
  std::size_t jobs = 0;  // fleets at a time; 0: as many as processors
  std::string out;       // empty: runs/sweep-<name>, with mpi runs/sweep-<name>-mpi
  bool quiet = false;
  bool json = false;
  std::string launcher = "virtual";  // or "mpi": real daemons, one experiment after another
  std::string hostfile;              // of mpi; empty: this machine
};

// One point of a sweep, over the seeds that are done.
struct SweepRow {
  std::vector<std::pair<std::string, std::string>> values;  // key and text
  MeanOf accuracy;      // at the best epoch, mean over the nodes; count 0 where the loss has none
  MeanOf validation;    // of the same models on the validation set: what settings are chosen by
  MeanOf accuracy_min;  // worst node
  MeanOf loss;          // of the same models
  MeanOf best_epoch;
  MeanOf last_accuracy;
  MeanOf spread;
  double bytes_a_node = 0;  // sent, mean over the seeds
  std::vector<CurvePoint> curve;
  std::vector<Verdict> verdicts = {};  // of what the sweep expects of this point
};

struct SweepRun {
  std::string name;
  std::vector<std::string> keys;
  std::size_t seeds = 1;
  std::size_t wanted = 0;  // points
  bool interrupted = false;
  std::vector<SweepRow> rows;  // those with a result, in the order of the file
  std::vector<Setting> settings;
  std::string launcher = "virtual";  // as SweepCommand::launcher
  std::string build;
  std::string command;
};

SweepRow CombinePoint(std::vector<std::pair<std::string, std::string>> values,
                      const std::vector<FleetFigures>& runs);

// For a terminal, for programs, and as a page: a plot over the first key that has numbers, one of
// accuracy against bytes, the table, settings, command. "schema": "covey.sweep/1".
// Thread: pure functions.
std::string SweepTable(const SweepRun& run);
std::string SweepCsv(const SweepRun& run);
std::string SweepJson(const SweepRun& run);
std::string SweepHtml(const SweepRun& run);

// Judges what the sweep expects of a point, its means over the seeds.
std::vector<Verdict> Judge(const config::Expect& expect, const SweepRow& row);

// Runs the sweep, the runs without a result in the folder, and writes results.jsonl (run by run),
// table.csv, summary.json and report.html there. The same command goes on where an interrupted one
// was. Controls and `expect:` of the experiment are left out, `expect.*` of the sweep is judged.
// A folder holds the runs of one launcher; another is refused.
// Returns: the exit code: 0 all runs are done and all that is expected holds; 1 it doesn't; 130
// interrupted; else that of the first error.
// Thread: the main one (children die with it).
int RunSweep(const SweepCommand& command, const std::atomic<bool>& stop);

std::string RepeatCommand(const SweepCommand& command);

// Returns: the number that the text of a key begins with: 0.1 for "10%", 5 for "epochs 5"; nothing
// when it has none, or several keys.
std::optional<double> NumberIn(const std::string& text);

}  // namespace covey::harness
