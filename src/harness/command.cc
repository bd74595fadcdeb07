#include "covey/harness/command.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "covey/config/load.h"
#include "covey/harness/child.h"
#include "covey/harness/data_files.h"
#include "covey/harness/display.h"
#include "covey/harness/expect.h"
#include "covey/harness/final_table.h"
#include "covey/harness/records.h"
#include "covey/harness/run_folder.h"
#include "covey/harness/runner.h"
#include "harness/console.h"
#include "harness/fleet_memory.h"
#include "harness/models.h"
#include "harness/text.h"

namespace covey::harness {
namespace {

// Passes what runners tell to the display and to metrics.jsonl.
class Recorder final : public Observer {
 public:
  Recorder(Display& display, std::ofstream metrics, const std::atomic<bool>& stop)
      : display_(display), metrics_(std::move(metrics)), stop_(stop) {}

  void Begin(Group group, std::uint32_t nodes) override { display_.Begin(group, nodes); }
  void Progress(const NodeProgress& progress) override { display_.Update(progress); }
  void Evaluated(Group group, std::uint32_t index, const Point& point) override {
    display_.Update(group, index, point.validation);
    const std::lock_guard lock(mutex_);
    metrics_ << MetricsLine(group, index, point);
  }
  void Finish(Group group) override { display_.Finish(group); }
  void Note(const std::string& text) override {
    display_.Say("note: " + text);
    const std::lock_guard lock(mutex_);
    notes_.push_back(text);
  }
  bool Interrupted() const override { return stop_.load(std::memory_order_relaxed); }

  // After the run.
  const std::vector<std::string>& notes() const { return notes_; }
  bool Flush() {
    metrics_.flush();
    return metrics_.good();
  }

 private:
  Display& display_;
  std::mutex mutex_;
  std::ofstream metrics_;
  std::vector<std::string> notes_;
  const std::atomic<bool>& stop_;
};

Result<config::Loaded<config::Experiment>> Prepare(const Command& command) {
  std::vector<std::string> dropped;
  Result<config::Loaded<config::Experiment>> loaded =
      config::LoadExperiment(command.file, [&](config::Experiment& experiment) -> Status {
        Result<std::vector<std::string>> applied = Apply(command.options, experiment);
        if (!applied) return tl::unexpected(applied.error());
        dropped = std::move(*applied);
        return {};
      });
  if (!loaded) return loaded;
  for (const std::string& warning : loaded->warnings) Print(stderr, warning + '\n');
  if (Status found = FindDataFiles(DataFolders(), loaded->value); !found) {
    return tl::unexpected(found.error());
  }
  for (const std::string& name : dropped) {
    if (command.quiet) break;
    Print(stderr, "note: expect." + name + " is not judged: its control does not run\n");
  }
  return loaded;
}

// Nodes name keys of their own files; which part of the data is a node's, the experiment says.
Error InFile(const config::Places& places, Error error) {
  const std::string_view part = "data.partition";
  if (error.where.starts_with(part)) {
    error.where = "experiment.partition" + error.where.substr(part.size());
  }
  return places.Locate(std::move(error));
}

DisplayOptions HowToDisplay(const Command& command) {
  DisplayOptions options = DetectDisplay(STDERR_FILENO);
  if (command.quiet) options.kind = DisplayOptions::Kind::kNone;
  return options;
}

double TotalEpochs(const config::Experiment& experiment) {
  const config::Until& until = experiment.node.train.until;
  return until.kind == config::Until::Kind::kEpochs ? until.epochs : 0;
}

// What the runners can't know.
void Complete(const Command& command, const config::Experiment& experiment,
              const Recorder& recorder, Outcome& outcome) {
  outcome.notes = recorder.notes();
  outcome.command = RepeatCommand(command.file, command.options, experiment.seed);
  outcome.settings = Describe(experiment);
  if (outcome.build.empty()) outcome.build = BuildLine();
}

Status Store(const RunFolder& folder, const config::Experiment& experiment, const Outcome& outcome,
             const std::optional<Model>& best, const std::vector<Verdict>& verdicts) {
  if (Status written = folder.WriteResults(outcome, verdicts); !written) return written;
  if (!best) return {};
  const auto model = Usable(*best, experiment);
  return model ? folder.WriteModel(*model) : tl::unexpected(model.error());
}

Result<ProcessOptions> Processes(const config::Experiment& experiment, const RunFolder& folder) {
  ProcessOptions options{.program = {}, .folder = folder.path};
  if (experiment.mode == config::Experiment::Mode::kVirtual) return options;
  Result<std::string> program = ProgramBeside("coveyd");
  if (!program) return tl::unexpected(program.error());
  options.program = std::move(*program);
  return options;
}

// Errors: kUnavailable. What a large fleet needs is a note of its results instead.
Status TellMemory(const Command& command, const config::Experiment& experiment) {
  if (experiment.mode != config::Experiment::Mode::kVirtual) return {};
  const std::uint64_t needed = MemoryAtOnce(experiment);
  const bool controls = experiment.controls != config::Experiment::Controls::kNone;
  const std::string who = std::to_string(experiment.nodes) + " nodes of this model" +
                          (controls ? " and their controls" : "");
  if (Status fits = FitsMachine(who, needed, MachineMemory()); !fits) return fits;
  const bool small = experiment.nodes <= kLargeFleet;
  if (small && !command.quiet) Print(stderr, "memory: about " + Bytes(needed) + '\n');
  return {};
}

}  // namespace

int Run(const Command& command, const std::atomic<bool>& stop) {
  const Result<config::Loaded<config::Experiment>> loaded = Prepare(command);
  if (!loaded) return Complain(loaded.error());
  const config::Experiment* experiment = &loaded->value;
  if (Status fits = TellMemory(command, *experiment); !fits) return Complain(fits.error());
  const Result<RunFolder> folder = RunFolder::Make(command.out, experiment->name);
  if (!folder) return Complain(folder.error());
  const Result<ProcessOptions> processes = Processes(*experiment, *folder);
  if (!processes) return Complain(processes.error());
  if (Status written = folder->WriteConfig(*experiment); !written) {
    return Complain(written.error());
  }
  std::ofstream metrics(folder->Metrics(), std::ios::binary);
  if (!metrics) {
    return Complain({ErrorCode::kCantCreate, folder->Metrics(), "can't be written", {}});
  }

  std::optional<Outcome> outcome;
  std::optional<Model> best;
  {
    const bool simulated = experiment->mode == config::Experiment::Mode::kVirtual;
    Display display(Board(experiment->name + ", " + std::to_string(experiment->nodes) +
                              (simulated ? " virtual" : "") + " nodes, seed " +
                              std::to_string(experiment->seed),
                          TotalEpochs(*experiment)),
                    HowToDisplay(command), STDERR_FILENO);
    Recorder recorder(display, std::move(metrics), stop);
    Result<Outcome> result = RunExperiment(*experiment, *processes, recorder, best);
    if (!result) {
      display.Say("");
      return Complain(InFile(loaded->places, result.error()));
    }
    if (!recorder.Flush()) recorder.Note(folder->Metrics() + " is incomplete: the disk is full?");
    outcome.emplace(std::move(*result));
    Complete(command, *experiment, recorder, *outcome);
  }

  const std::vector<Verdict> verdicts = Judge(experiment->expect, *outcome);
  if (Status stored = Store(*folder, *experiment, *outcome, best, verdicts); !stored) {
    return Complain(stored.error());
  }
  if (command.json) {
    Print(stdout, SummaryJson(*outcome, verdicts));
  } else {
    Print(stdout,
          '\n' + FinalTable(*outcome, verdicts) + "  report        " + folder->Report() + '\n');
  }
  if (outcome->interrupted) return kInterruptedCode;
  return AllHold(verdicts) ? 0 : kExpectationFails;
}

}  // namespace covey::harness
