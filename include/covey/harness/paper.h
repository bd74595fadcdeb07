// The rows of the paper's Table 1, what the paper reports for them, and how ours compare.
//
// Source: Crandall & Webb 2020, "Consensus Driven Learning", arXiv 2005.10300, Table 1 and Figures
// 1 to 3. Where we differ: a further row, mix_rate_percent=0, for which the paper says that
// learning fails; docs/experiments.md has what the paper leaves open.
// Thread: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/result.h"
#include "covey/config/experiment.h"
#include "covey/harness/fleet_job.h"
#include "covey/harness/outcome.h"

namespace covey::harness {

struct PaperRow {
  enum class Kind : std::uint8_t { kMonolithic, kUpdateRate, kMixRate, kReplyDrop };
  Kind kind = Kind::kMonolithic;
  std::uint32_t value = 0;  // M, percent, percent; 0 for the monolithic one

  bool operator==(const PaperRow&) const = default;
  // Returns: "mix_rate_percent=10", "monolithic": what --row takes.
  std::string Name() const;
  // Returns: "mix rate 10 %", for people.
  std::string Label() const;
  // Figure of the paper that shows it, 1 to 3. The monolithic model is in Figure 1.
  int figure() const;
};

// All rows in the order of the table; mix_rate_percent=0 stands before 10.
std::vector<PaperRow> PaperRows();

// The rows that the command line asks for, in the order of the table; neither: all.
// Errors: kUsage for a name that is no row (says which are), and for a figure not in 1 to 3.
Result<std::vector<PaperRow>> SelectRows(const std::optional<int>& figure,
                                         const std::vector<std::string>& names);

// A data set of the paper and where its files usually are.
struct PaperDataset {
  std::string name;    // "fashion-mnist"
  std::string title;   // "Fashion-MNIST"
  std::string column;  // of the table: "fashion"
  std::string config;  // text of configs/paper/<name>.yaml, as built in
};

// Errors: kUsage naming the data sets that there are.
Result<PaperDataset> FindDataset(const std::string& name);

// Makes the paths of the experiment's data files whole: each is looked for by its name, plain or
// with ".gz", in `folder`, or when that is empty in $COVEY_DATA (else covey/data in the user's
// cache) below the data set's name, and in /usr/share/datasets. A path with a folder stays.
// Errors: kNoInput naming the file, the folders, and how to get it.
Status FindData(const PaperDataset& dataset, const std::string& folder,
                config::Experiment& experiment);

// The experiment of one row: `base` and what the row is about. Evaluations are spread so that a
// curve has at most kCurvePoints points.
config::Experiment ExperimentOf(const PaperRow& row, const config::Experiment& base);
Group GroupOf(const PaperRow& row);
inline constexpr std::size_t kCurvePoints = 20;

// What the paper reports: nothing for mix_rate_percent=0.
std::optional<LossAccuracy> PaperFigures(const PaperDataset& dataset, const PaperRow& row);

enum class Standing : std::uint8_t { kBetter, kEqual, kWorse };
std::string_view Name(Standing standing);  // "better", "equal", "worse"

// One cell of the table: a figure of ours against the paper's.
struct Cell {
  Standing standing = Standing::kEqual;
  double distance = 0;  // ours - paper's, both rounded to the four digits that the paper prints
};
Cell CompareLoss(double ours, double paper);  // lower is better; a loss that is no number: worse
Cell CompareAccuracy(double ours, double paper);

// One row as it came out, over the seeds that are done. The table's columns are `loss`, at each
// node's lowest validation loss, and `accuracy`, at its highest validation accuracy: the paper
// doesn't say which measure chose its best epoch, and no single epoch is the best of both.
struct PaperResult {
  PaperRow row;
  MeanOf loss;
  MeanOf loss_epoch;
  MeanOf accuracy;
  MeanOf accuracy_epoch;
  MeanOf loss_at_accuracy;  // loss of the models that `accuracy` is of
  MeanOf last_loss;
  MeanOf last_accuracy;
  MeanOf spread;            // count 0: not measured
  double bytes_a_node = 0;  // sent, mean over seeds
  double seconds = 0;       // processor time, all seeds together
  std::vector<CurvePoint> curve;
  std::optional<LossAccuracy> paper;

  std::optional<Cell> loss_cell() const;
  std::optional<Cell> accuracy_cell() const;
};

// Requires: at least one run.
PaperResult Combine(const PaperDataset& dataset, const PaperRow& row,
                    const std::vector<FleetFigures>& runs);

}  // namespace covey::harness
