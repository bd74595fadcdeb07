// The command `covey-sim paper`, but for parsing its words.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace covey::harness {

struct PaperCommand {
  std::string dataset;
  std::string data;    // folder of the data files; empty: the usual ones
  std::string config;  // settings to use instead of those built in
  std::optional<int> figure;
  std::vector<std::string> rows;
  std::uint64_t seeds = 1;  // runs of every row, with the seeds 1 to this
  std::optional<std::string> epochs;
  std::size_t jobs = 0;  // fleets at a time; 0: as many as processors
  std::string out;       // empty: runs/paper-<dataset>, with more words for other settings
  bool quiet = false;
  bool json = false;
};

// Runs the rows, those without a result in the folder, and writes results.jsonl (row by row),
// config.resolved.yaml, table.csv, curves.csv, summary.json and report.html there. These hold every
// row that the folder has for these settings and seeds, also those of earlier commands. The same
// command goes on where an interrupted one was; results of other settings are never mixed in.
// Returns: the exit code: 0 all rows have run; 130 interrupted; else that of the first error.
// Thread: one.
int RunPaper(const PaperCommand& command, const std::atomic<bool>& stop);

// Returns: the command line that repeats the run, or goes on with it.
std::string RepeatCommand(const PaperCommand& command);

}  // namespace covey::harness
