// What a run of the paper's rows leaves behind: a table for people, files for programs, a page.
//
// Thread: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "covey/harness/outcome.h"
#include "covey/harness/paper.h"

namespace covey::harness {

struct PaperRun {
  PaperDataset dataset;
  std::size_t wanted = 0;  // rows that were asked for, and that the folder has besides
  std::uint64_t seeds = 1;
  double epochs = 0;
  bool interrupted = false;
  std::vector<PaperResult> rows;  // those with a result, in the order of the table
  std::vector<Setting> settings;
  std::string model;    // "mlp 784-72-10"
  std::string build;    // version and kernel level
  std::string command;  // repeats the run
};

// How many cells of a run stand how against the paper's.
struct Tally {
  std::size_t better = 0;
  std::size_t equal = 0;
  std::size_t worse = 0;
};
Tally Count(const PaperRun& run);

// Returns: "2 rows have fewer than 3 seeds ..."; empty: all have as many as were asked for.
std::string FewerSeeds(const PaperRun& run);

// Returns: the table for a terminal, at most 100 columns, and the tally in words.
std::string PaperTable(const PaperRun& run);

// Returns: a header and one line a row: figures, deviation over seeds, the paper's, distance,
// standing. Absent figures are empty fields.
std::string PaperCsv(const PaperRun& run);
// Returns: a header and one line for each point of each row's validation curve.
std::string PaperCurvesCsv(const PaperRun& run);
// Returns: the same as one JSON object, indented. "schema": "covey.paper/1".
std::string PaperJson(const PaperRun& run);

// Returns: a self-contained page: our table beside the paper's, Figures 1 to 3 redrawn, settings,
// command.
std::string PaperHtml(const PaperRun& run);

}  // namespace covey::harness
