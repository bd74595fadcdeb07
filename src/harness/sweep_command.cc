#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "covey/config/sweep.h"
#include "covey/harness/data_files.h"
#include "covey/harness/mpi.h"
#include "covey/harness/options.h"
#include "covey/harness/sweep.h"
#include "harness/console.h"
#include "harness/fleet_memory.h"
#include "harness/job_display.h"
#include "harness/text.h"

namespace covey::harness {
namespace {

constexpr std::size_t kSweepCurvePoints = 40;

struct SweepPlan {
  config::Sweep sweep;
  std::vector<Job> jobs;         // point by point, seed by seed; equal experiments once
  std::vector<std::string> ids;  // of point p and seed s: p * seeds + s
  std::string folder;
};

std::string TitleOf(const config::SweepPoint& point) {
  std::string title;
  for (const auto& [key, value] : point.values) {
    title += (title.empty() ? "" : ", ") + key.substr(key.rfind('.') + 1) + ' ' + value;
  }
  return title.empty() ? "as the file says" : title;
}

// What every run of the sweep leaves out.
void Bare(config::Experiment& experiment) {
  experiment.mode = config::Experiment::Mode::kVirtual;
  experiment.expect = config::Expect{};
}

// Runs one experiment of the sweep, in this process or with daemons under mpirun.
Result<std::optional<std::string>> RunOne(const config::Experiment& experiment,
                                          const std::optional<MpiOptions>& mpi,
                                          const JobContext& context) {
  if (!mpi) return RunFleetJob(experiment, Group::kConsensus, kSweepCurvePoints, context);
  Result<FleetOutcome> fleet = RunMpi(experiment, *mpi, context);
  if (!fleet) return tl::unexpected(fleet.error());
  return FleetText(std::move(*fleet), Group::kConsensus, kSweepCurvePoints, 0, experiment.name);
}

void AddSweepJobs(const SweepCommand& command, SweepPlan& plan) {
  const bool with_mpi = command.launcher == "mpi";
  for (config::SweepPoint& point : plan.sweep.points) {
    // Those of daemons are spread over machines that are not known here.
    const std::uint64_t memory = with_mpi ? 0 : FleetMemory(point.experiment, Group::kConsensus);
    for (const std::uint64_t seed : plan.sweep.seeds) {
      config::Experiment experiment = point.experiment;
      experiment.seed = seed;
      Bare(experiment);
      std::string id = (with_mpi ? "mpi/seed=" : "seed=") + std::to_string(seed) + '/' +
                       SettingsHash(experiment, Group::kConsensus);
      const bool known = std::find(plan.ids.begin(), plan.ids.end(), id) != plan.ids.end();
      std::optional<MpiOptions> mpi;
      if (with_mpi) {
        mpi = MpiOptions{.folder = plan.folder + "/mpi/" + id.substr(id.rfind('/') + 1),
                         .hostfile = command.hostfile};
      }
      plan.ids.push_back(id);
      if (known) continue;
      std::string title = TitleOf(point);
      if (plan.sweep.seeds.size() > 1) title += ", seed " + std::to_string(seed);
      plan.jobs.push_back(
          Job{.id = std::move(id),
              .title = std::move(title),
              .memory = memory,
              .run = [experiment = std::move(experiment), mpi = std::move(mpi)](
                         const JobContext& context) { return RunOne(experiment, mpi, context); }});
    }
  }
}

// mpirun tells of one that is missing in words of its own.
Status CheckHostfile(const std::string& path) {
  if (path.empty()) return {};
  std::error_code error;
  const bool folder = std::filesystem::is_directory(path, error);
  if (!folder && access(path.c_str(), R_OK) == 0) return {};
  return Fail(ErrorCode::kNoInput, path, folder ? "is a folder" : std::strerror(errno),
              "--hostfile names a file of lines such as 'robot1 slots=2'");
}

// Its table would otherwise replace that of the other one.
Status CheckLauncher(const SweepCommand& command, const SweepPlan& plan, const JobStore& store) {
  const bool with_mpi = command.launcher == "mpi";
  for (const auto& [id, unused] : store.results()) {
    if (id.starts_with("mpi/") == with_mpi) continue;
    return Fail(ErrorCode::kUsage, plan.folder,
                "holds runs of --launcher " + std::string(with_mpi ? "virtual" : "mpi"),
                "name another folder with --out");
  }
  return {};
}

Result<SweepPlan> PrepareSweep(const SweepCommand& command) {
  if (command.launcher != "virtual" && command.launcher != "mpi") {
    return Fail(ErrorCode::kUsage, "--launcher",
                "got '" + command.launcher + "', want virtual or mpi");
  }
  if (!command.hostfile.empty() && command.launcher != "mpi") {
    return Fail(ErrorCode::kUsage, "--hostfile", "is of --launcher mpi");
  }
  if (Status readable = CheckHostfile(command.hostfile); !readable) {
    return tl::unexpected(readable.error());
  }
  const bool with_mpi = command.launcher == "mpi";
  Result<config::Loaded<config::Sweep>> loaded =
      config::LoadSweep(command.file, with_mpi ? config::Experiment::Mode::kProcess
                                               : config::Experiment::Mode::kVirtual);
  if (!loaded) return tl::unexpected(loaded.error());
  for (const std::string& warning : loaded->warnings) Print(stderr, warning + '\n');
  SweepPlan plan;
  plan.sweep = std::move(loaded->value);
  const std::string folder = "runs/sweep-" + plan.sweep.name + (with_mpi ? "-mpi" : "");
  plan.folder = command.out.empty() ? folder : command.out;
  for (config::SweepPoint& point : plan.sweep.points) {
    if (Status found = FindDataFiles(DataFolders(), point.experiment); !found) {
      return tl::unexpected(found.error());
    }
  }
  AddSweepJobs(command, plan);
  return plan;
}

// "4, 8"; "1 to 40"
std::string SeedsText(const std::vector<std::uint64_t>& seeds) {
  const auto gap = [](std::uint64_t a, std::uint64_t b) { return b != a + 1; };
  const bool row = std::adjacent_find(seeds.begin(), seeds.end(), gap) == seeds.end();
  if (row && seeds.size() > 2) {
    return std::to_string(seeds.front()) + " to " + std::to_string(seeds.back());
  }
  std::string text;
  for (const std::uint64_t seed : seeds) text += (text.empty() ? "" : ", ") + std::to_string(seed);
  return text;
}

// What holds for all points, and what does not.
std::vector<Setting> SettingsOf(const SweepCommand& command, const config::Sweep& sweep) {
  std::vector<config::Experiment> all;
  for (const config::SweepPoint& point : sweep.points) {
    all.push_back(point.experiment);
    all.back().mode = command.launcher == "mpi" ? config::Experiment::Mode::kProcess
                                                : config::Experiment::Mode::kVirtual;
  }
  std::vector<Setting> settings = DescribeAll(all, "differs from point to point");
  for (Setting& setting : settings) {
    if (setting.name == "seed") setting.value = SeedsText(sweep.seeds);
  }
  return settings;
}

Result<SweepRun> CollectSweep(const SweepCommand& command, const SweepPlan& plan,
                              const JobStore& store, const JobsEnd& end) {
  SweepRun run;
  run.name = plan.sweep.name;
  run.keys = plan.sweep.keys;
  run.seeds = plan.sweep.seeds.size();
  run.wanted = plan.sweep.points.size();
  run.interrupted = end.interrupted;
  run.launcher = command.launcher;
  run.build = BuildLine();
  run.command = RepeatCommand(command);
  run.settings = SettingsOf(command, plan.sweep);
  for (std::size_t p = 0; p < plan.sweep.points.size(); ++p) {
    std::vector<FleetFigures> runs;
    for (std::size_t s = 0; s < run.seeds; ++s) {
      const auto stored = store.results().find(plan.ids[p * run.seeds + s]);
      if (stored == store.results().end()) continue;
      Result<FleetFigures> figures = FiguresFromJson(stored->second);
      if (!figures) return tl::unexpected(figures.error());
      runs.push_back(std::move(*figures));
    }
    if (runs.empty()) continue;
    const config::SweepPoint& point = plan.sweep.points[p];
    run.rows.push_back(CombinePoint(point.values, runs));
    run.rows.back().verdicts = Judge(point.experiment.expect, run.rows.back());
  }
  return run;
}

std::string SweepSummary(const std::string& result) {
  const Result<FleetFigures> figures = FiguresFromJson(result);
  if (!figures) return "";
  std::string text;
  if (figures->best.accuracy) text = "accuracy " + Fixed(*figures->best.accuracy, 4) + "  ";
  return text + "loss " + Fixed(figures->best.loss, 4);
}

Status WriteSweep(const SweepRun& run, const std::string& folder) {
  Status status = WriteShared(folder + "/table.csv", SweepCsv(run));
  if (status) status = WriteShared(folder + "/summary.json", SweepJson(run));
  if (status) status = WriteShared(folder + "/report.html", SweepHtml(run));
  return status;
}

Result<int> Run(const SweepCommand& command, const SweepPlan& plan, const std::atomic<bool>& stop) {
  if (Status made = MakeSharedFolder(plan.folder); !made) return tl::unexpected(made.error());
  Result<JobStore> store = JobStore::Open(plan.folder + "/results.jsonl");
  if (!store) return tl::unexpected(store.error());
  if (Status same = CheckLauncher(command, plan, *store); !same) {
    return tl::unexpected(same.error());
  }
  const bool with_mpi = command.launcher == "mpi";
  // Daemons that share machines with those of another run would take their processor time.
  const Result<std::size_t> workers =
      with_mpi ? Result<std::size_t>(1)
               : WorkersThatFit(plan.jobs, *store, WorkersOr(command.jobs), command.quiet);
  if (!workers) return tl::unexpected(workers.error());
  Result<JobsEnd> end = [&] {
    JobDisplay display(plan.jobs, HowToShowStatus(command.quiet, STDERR_FILENO), STDERR_FILENO,
                       SweepSummary);
    const JobsOptions options{.workers = *workers,
                              .stopped = [&stop] { return stop.load(std::memory_order_relaxed); }};
    return RunJobs(plan.jobs, options, *store, display);
  }();
  if (!end) return tl::unexpected(end.error());
  const Result<SweepRun> run = CollectSweep(command, plan, *store, *end);
  if (!run) return tl::unexpected(run.error());
  if (Status written = WriteSweep(*run, plan.folder); !written) {
    return tl::unexpected(written.error());
  }
  Print(stdout, command.json
                    ? SweepJson(*run)
                    : '\n' + SweepTable(*run) + "\n  report  " + plan.folder + "/report.html\n");
  if (end->interrupted) {
    Print(stderr, "interrupted; finished runs are kept. Go on with:\n  " + run->command + '\n');
    return kInterruptedCode;
  }
  if (!end->failed.empty()) return tl::unexpected(end->failed.front().second);
  for (const SweepRow& row : run->rows) {
    if (!AllHold(row.verdicts)) return kExpectationFails;
  }
  return 0;
}

}  // namespace

int RunSweep(const SweepCommand& command, const std::atomic<bool>& stop) {
  const Result<SweepPlan> plan = PrepareSweep(command);
  if (!plan) return Complain(plan.error());
  const Result<int> code = Run(command, *plan, stop);
  return code ? *code : Complain(code.error());
}

std::string RepeatCommand(const SweepCommand& command) {
  std::string line = "covey-sim sweep " + ShellWord(command.file);
  if (!command.out.empty()) line += " --out " + ShellWord(command.out);
  if (command.launcher != "virtual") line += " --launcher " + ShellWord(command.launcher);
  if (!command.hostfile.empty()) line += " --hostfile " + ShellWord(command.hostfile);
  return line;
}

}  // namespace covey::harness
