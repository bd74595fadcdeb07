#include "covey/harness/paper_command.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "covey/config/load.h"
#include "covey/harness/data_files.h"
#include "covey/harness/options.h"
#include "covey/harness/paper.h"
#include "covey/harness/paper_report.h"
#include "covey/nn/model.h"
#include "harness/console.h"
#include "harness/fleet_memory.h"
#include "harness/job_display.h"
#include "harness/text.h"

namespace covey::harness {
namespace {

constexpr std::uint64_t kMostSeeds = 1000;

// What is run: rows and seeds, as jobs and as experiments.
struct PaperPlan {
  PaperDataset dataset;
  config::Experiment base;
  std::vector<PaperRow> rows;  // that were asked for
  std::vector<Job> jobs;       // row by row, seed by seed; equal experiments once
  std::string folder;
};

config::Experiment OneRun(const PaperRow& row, const config::Experiment& base, std::uint64_t seed) {
  config::Experiment experiment = ExperimentOf(row, base);
  experiment.seed = seed;
  return experiment;
}

std::string JobId(const PaperRow& row, const config::Experiment& experiment) {
  return "seed=" + std::to_string(experiment.seed) + '/' + SettingsHash(experiment, GroupOf(row));
}

Result<config::Experiment> LoadBase(const PaperCommand& command, const PaperDataset& dataset) {
  const auto amend = [&command](config::Experiment& experiment) -> Status {
    Options options;
    options.epochs = command.epochs;
    options.controls = "none";
    const Result<std::vector<std::string>> applied = Apply(options, experiment);
    return applied ? Status{} : tl::unexpected(applied.error());
  };
  const std::string built_in = "configs/paper/" + dataset.name + ".yaml";
  Result<config::Loaded<config::Experiment>> loaded =
      command.config.empty() ? config::ParseExperiment(dataset.config, built_in, amend)
                             : config::LoadExperiment(command.config, amend);
  if (!loaded) return tl::unexpected(loaded.error());
  for (const std::string& warning : loaded->warnings) Print(stderr, warning + '\n');
  config::Experiment base = std::move(loaded->value);
  if (base.node.train.until.kind != config::Until::Kind::kEpochs) {
    return Fail(ErrorCode::kConfig, "train.until", "must be {epochs: ...} here",
                "curves are drawn over epochs; set it, or give --epochs");
  }
  Status found = FindData(dataset, command.data, base);
  // Names with a folder, such as mnist/train-images-idx3-ubyte, as `run` and `sweep` find them.
  if (found) found = FindDataFiles(DataFolders(), base);
  if (!found) return tl::unexpected(found.error());
  return base;
}

// Other settings than the built-in ones don't replace the report of those.
std::string DefaultFolder(const PaperCommand& command, const PaperPlan& plan) {
  const std::string folder = "runs/paper-" + plan.dataset.name;
  if (!command.config.empty()) {
    return folder + '-' + SettingsHash(plan.base, Group::kConsensus).substr(0, 8);
  }
  const auto usual = config::ParseExperiment(plan.dataset.config, plan.dataset.name);
  const double epochs = plan.base.node.train.until.epochs;
  const bool same = usual && usual->value.node.train.until.epochs == epochs;
  return same ? folder : folder + "-epochs-" + Plain(epochs);
}

void AddJobs(PaperPlan& plan, std::uint64_t seeds) {
  std::set<std::string> known;
  for (const PaperRow& row : plan.rows) {
    const std::uint64_t memory = FleetMemory(ExperimentOf(row, plan.base), GroupOf(row));
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      config::Experiment experiment = OneRun(row, plan.base, seed);
      std::string title = row.Label();
      if (seeds > 1) title += ", seed " + std::to_string(seed);
      std::string id = JobId(row, experiment);
      // M = 1 and no reply dropped are the same experiment.
      if (!known.insert(id).second) continue;
      plan.jobs.push_back(
          Job{.id = std::move(id),
              .title = std::move(title),
              .memory = memory,
              .run = [row, experiment = std::move(experiment)](const JobContext& context) {
                return RunFleetJob(experiment, GroupOf(row), kCurvePoints, context);
              }});
    }
  }
}

Result<PaperPlan> PreparePaper(const PaperCommand& command) {
  if (command.seeds == 0 || command.seeds > kMostSeeds) {
    return Fail(
        ErrorCode::kUsage, "--seeds",
        "got " + std::to_string(command.seeds) + ", want 1 to " + std::to_string(kMostSeeds));
  }
  Result<PaperDataset> dataset = FindDataset(command.dataset);
  if (!dataset) return tl::unexpected(dataset.error());
  Result<std::vector<PaperRow>> rows = SelectRows(command.figure, command.rows);
  if (!rows) return tl::unexpected(rows.error());
  Result<config::Experiment> base = LoadBase(command, *dataset);
  if (!base) return tl::unexpected(base.error());
  PaperPlan plan{.dataset = std::move(*dataset),
                 .base = std::move(*base),
                 .rows = std::move(*rows),
                 .jobs = {},
                 .folder = command.out};
  if (plan.folder.empty()) plan.folder = DefaultFolder(command, plan);
  AddJobs(plan, command.seeds);
  return plan;
}

// Every row with a result for these settings and seeds, also those kept from other commands.
Result<std::vector<PaperResult>> Collect(const PaperPlan& plan, const JobStore& store,
                                         std::uint64_t seeds) {
  std::vector<PaperResult> results;
  for (const PaperRow& row : PaperRows()) {
    std::vector<FleetFigures> runs;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const auto stored = store.results().find(JobId(row, OneRun(row, plan.base, seed)));
      if (stored == store.results().end()) continue;
      Result<FleetFigures> figures = FiguresFromJson(stored->second);
      if (!figures) return tl::unexpected(figures.error());
      runs.push_back(std::move(*figures));
    }
    if (!runs.empty()) results.push_back(Combine(plan.dataset, row, runs));
  }
  return results;
}

// The rows that were asked for and those that a folder held besides, in the order of the table.
std::vector<PaperRow> Shown(const PaperPlan& plan, const std::vector<PaperResult>& results) {
  std::vector<PaperRow> shown;
  for (const PaperRow& row : PaperRows()) {
    const bool asked = std::find(plan.rows.begin(), plan.rows.end(), row) != plan.rows.end();
    const bool kept = std::any_of(results.begin(), results.end(),
                                  [&row](const PaperResult& result) { return result.row == row; });
    if (asked || kept) shown.push_back(row);
  }
  return shown;
}

Status WriteAll(const PaperRun& run, const std::string& folder) {
  Status status = WriteShared(folder + "/table.csv", PaperCsv(run));
  if (status) status = WriteShared(folder + "/curves.csv", PaperCurvesCsv(run));
  if (status) status = WriteShared(folder + "/summary.json", PaperJson(run));
  if (status) status = WriteShared(folder + "/report.html", PaperHtml(run));
  return status;
}

std::string Summary(const std::string& result) {
  const Result<FleetFigures> figures = FiguresFromJson(result);
  if (!figures) return "";
  return "accuracy " + Fixed(figures->best.accuracy.value_or(0), 4) + "  loss " +
         Fixed(figures->best.loss, 4);
}

// What holds for all rows of the report, and what does not.
std::vector<Setting> SettingsOf(const PaperPlan& plan, const std::vector<PaperRow>& rows,
                                std::uint64_t seeds) {
  std::vector<config::Experiment> all;
  for (const PaperRow& row : rows) {
    all.push_back(ExperimentOf(row, plan.base));
    if (GroupOf(row) != Group::kMonolithic) continue;
    all.back().nodes = 1;
    all.back().node.consensus.sends = 0;
    all.back().node.faults = {};
  }
  std::vector<Setting> settings = DescribeAll(all, "differs from row to row");
  for (Setting& setting : settings) {
    if (setting.name == "seed" && seeds > 1) setting.value = "1 to " + std::to_string(seeds);
  }
  return settings;
}

PaperRun Told(PaperCommand command, const PaperPlan& plan, const JobsEnd& end,
              std::vector<PaperResult> results) {
  const std::vector<PaperRow> shown = Shown(plan, results);
  if (shown.size() > plan.rows.size()) {
    command.figure.reset();
    command.rows.clear();
    const bool whole = shown.size() == PaperRows().size();
    for (const PaperRow& row : shown) {
      if (!whole) command.rows.push_back(row.Name());
    }
  }
  PaperRun run;
  run.dataset = plan.dataset;
  run.rows = std::move(results);
  run.wanted = shown.size();
  run.seeds = command.seeds;
  run.epochs = plan.base.node.train.until.epochs;
  run.interrupted = end.interrupted;
  run.settings = SettingsOf(plan, shown, command.seeds);
  run.model = nn::Summary(plan.base.node.model);
  run.build = BuildLine();
  run.command = RepeatCommand(command);
  return run;
}

Result<int> Run(const PaperCommand& command, const PaperPlan& plan, const std::atomic<bool>& stop) {
  if (Status made = MakeSharedFolder(plan.folder); !made) return tl::unexpected(made.error());
  // Before anything is written: the folder may be another process'.
  Result<JobStore> store = JobStore::Open(plan.folder + "/results.jsonl");
  if (!store) return tl::unexpected(store.error());
  Status written = WriteShared(plan.folder + "/config.resolved.yaml", config::WriteYaml(plan.base));
  if (!written) return tl::unexpected(written.error());
  const auto workers = WorkersThatFit(plan.jobs, *store, WorkersOr(command.jobs), command.quiet);
  if (!workers) return tl::unexpected(workers.error());
  Result<JobsEnd> end = [&] {
    JobDisplay display(plan.jobs, HowToShowStatus(command.quiet, STDERR_FILENO), STDERR_FILENO,
                       Summary);
    const JobsOptions options{.workers = *workers,
                              .stopped = [&stop] { return stop.load(std::memory_order_relaxed); }};
    return RunJobs(plan.jobs, options, *store, display);
  }();
  if (!end) return tl::unexpected(end.error());
  Result<std::vector<PaperResult>> results = Collect(plan, *store, command.seeds);
  if (!results) return tl::unexpected(results.error());
  const PaperRun run = Told(command, plan, *end, std::move(*results));
  if (written = WriteAll(run, plan.folder); !written) return tl::unexpected(written.error());
  Print(stdout, command.json
                    ? PaperJson(run)
                    : '\n' + PaperTable(run) + "  report  " + plan.folder + "/report.html\n");
  if (end->interrupted) {
    Print(stderr,
          "interrupted; finished rows are kept. Go on with:\n  " + RepeatCommand(command) + '\n');
    return kInterruptedCode;
  }
  if (!end->failed.empty()) return tl::unexpected(end->failed.front().second);
  return 0;
}

}  // namespace

int RunPaper(const PaperCommand& command, const std::atomic<bool>& stop) {
  const Result<PaperPlan> plan = PreparePaper(command);
  if (!plan) return Complain(plan.error());
  const Result<int> code = Run(command, *plan, stop);
  return code ? *code : Complain(code.error());
}

std::string RepeatCommand(const PaperCommand& command) {
  std::string line = "covey-sim paper --dataset " + ShellWord(command.dataset);
  const auto put = [&line](std::string_view name, const std::string& value) {
    line += ' ' + std::string(name) + ' ' + ShellWord(value);
  };
  if (!command.data.empty()) put("--data", command.data);
  if (!command.config.empty()) put("--config", command.config);
  if (command.figure) put("--figure", std::to_string(*command.figure));
  for (const std::string& row : command.rows) put("--row", row);
  if (command.seeds != 1) put("--seeds", std::to_string(command.seeds));
  if (command.epochs) put("--epochs", *command.epochs);
  if (!command.out.empty()) put("--out", command.out);
  return line;
}

}  // namespace covey::harness
