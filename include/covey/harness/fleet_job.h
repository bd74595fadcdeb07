// One fleet on the virtual clock as a job: what it gave, in a form that is stored and averaged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/result.h"
#include "covey/config/experiment.h"
#include "covey/harness/jobs.h"
#include "covey/harness/outcome.h"
#include "covey/harness/runner.h"

namespace covey::harness {

// Loss in nats and accuracy in [0, 1]; accuracy is absent where the loss has none.
struct LossAccuracy {
  double loss = 0;
  std::optional<double> accuracy;
};

// A point of the nodes' mean validation curve, with the lowest and highest node.
struct CurvePoint {
  double epoch = 0;
  LossAccuracy mean;
  LossAccuracy low;
  LossAccuracy high;
};

// Means over the nodes of one fleet, each node at its best evaluation (docs/architecture.md, 9):
// the one with the highest validation accuracy. `lowest_loss` is of each node at its lowest
// validation loss.
struct FleetFigures {
  std::size_t nodes = 0;
  LossAccuracy best;
  std::optional<double> validation;    // accuracy of `best` on the validation set
  std::optional<double> accuracy_min;  // of a node
  std::optional<double> accuracy_max;
  double best_epoch = 0;
  LossAccuracy lowest_loss;
  double lowest_loss_epoch = 0;
  LossAccuracy last;
  std::optional<double> spread;  // of the settled models; absent for one node
  Traffic traffic;
  std::uint64_t samples = 0;  // trained by all nodes
  bool on_test_set = false;
  double seconds = 0;  // processor time of the job's thread
  std::vector<CurvePoint> curve;
};

// At most `points` points of the curve are kept. Absent when no node has figures.
std::optional<FleetFigures> SumUp(const Outcome& outcome, Group group, std::size_t points);

std::string ToJsonText(const FleetFigures& figures);  // without newlines
// Errors: kData: it is not such a text.
Result<FleetFigures> FiguresFromJson(std::string_view text);

// Runs the fleet of `experiment` (with Group::kMonolithic: its control) on the virtual clock.
// Returns: the text of its FleetFigures, or nothing when the context stopped it.
// Errors: as RunVirtual.
Result<std::optional<std::string>> RunFleetJob(const config::Experiment& experiment, Group group,
                                               std::size_t points, const JobContext& context);

// Returns: the text of the figures of a fleet that has run, or nothing when it was interrupted.
// Errors: kConfig when no node has figures; `where` is the caller's.
Result<std::optional<std::string>> FleetText(FleetOutcome fleet, Group group, std::size_t points,
                                             double seconds, const std::string& where);

// Returns: a name that two experiments share only if they give the same figures on the same build:
// the first 16 digits of a hash of all settings.
std::string SettingsHash(const config::Experiment& experiment, Group group);

// One figure over several seeds. `deviation` is that of the sample (n - 1); 0 for one value.
struct MeanOf {
  std::size_t count = 0;
  double mean = 0;
  double deviation = 0;
};
MeanOf Average(const std::vector<double>& values);

// The same points averaged over several runs: point i of the result is the mean of all points i;
// low and high are the outermost. Runs of another length than the first are left out.
std::vector<CurvePoint> AverageCurves(const std::vector<const FleetFigures*>& runs);

}  // namespace covey::harness
