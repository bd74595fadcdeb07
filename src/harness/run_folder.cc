#include "covey/harness/run_folder.h"

#include <array>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "covey/config/load.h"
#include "covey/harness/records.h"
#include "covey/harness/report.h"
#include "harness/console.h"
#include "harness/text.h"

namespace covey::harness {
namespace {

namespace fs = std::filesystem;

constexpr int kMostOfOneSecond = 1000;

std::string TimeStamp() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &utc);
  return std::string(text.data(), length);
}

std::string FileName(const std::string& name) {
  std::string clean;
  for (const char c : name.substr(0, 100)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-';
    clean += plain ? c : '-';
  }
  return clean;
}

tl::unexpected<Error> CantCreate(const fs::path& path, const std::error_code& error) {
  return Fail(ErrorCode::kCantCreate, path.string(), error.message());
}

// The link is replaced by rename, so that it always leads somewhere. That it can't be made (a file
// system without links) is no reason to stop.
void MoveLatest(const fs::path& runs, const fs::path& folder) {
  std::error_code ignored;
  const fs::path fresh = runs / (".latest-" + folder.filename().string());
  fs::remove(fresh, ignored);
  std::error_code failed;
  fs::create_directory_symlink(folder.filename(), fresh, failed);
  if (!failed) fs::rename(fresh, runs / "latest", failed);
  if (failed) fs::remove(fresh, ignored);
}

}  // namespace

Result<RunFolder> RunFolder::Make(const std::string& out, const std::string& name) {
  std::error_code error;
  if (!out.empty()) {
    fs::create_directories(out, error);
    if (error) return CantCreate(out, error);
    for (const char* file : {"config.resolved.yaml", "summary.json", "nodes"}) {
      if (fs::exists(fs::path(out) / file, error)) {
        return Fail(ErrorCode::kCantCreate, out, "holds another run",
                    "name another folder, or remove it");
      }
    }
    return RunFolder{out};
  }
  const fs::path runs = "runs";
  fs::create_directories(runs, error);
  if (error) return CantCreate(runs, error);
  const std::string base = TimeStamp() + '-' + FileName(name);
  for (int i = 1; i <= kMostOfOneSecond; ++i) {
    const fs::path folder = runs / (i == 1 ? base : base + '-' + std::to_string(i));
    if (fs::create_directory(folder, error)) {
      MoveLatest(runs, folder);
      return RunFolder{folder.string()};
    }
    if (error) return CantCreate(folder, error);
  }
  return Fail(ErrorCode::kCantCreate, base, "too many runs within one second");
}

Status RunFolder::WriteConfig(const config::Experiment& experiment) const {
  return WriteShared(path + "/config.resolved.yaml", config::WriteYaml(experiment));
}

Status RunFolder::WriteResults(const Outcome& outcome, const std::vector<Verdict>& verdicts) const {
  Status status = WriteShared(path + "/summary.json", SummaryJson(outcome, verdicts));
  if (status) status = WriteShared(path + "/results.csv", ResultsCsv(outcome));
  if (status) status = WriteShared(Report(), ReportHtml(outcome, verdicts));
  return status;
}

Status RunFolder::WriteModel(const store::Model& model) const {
  std::error_code error;
  fs::create_directories(path + "/model", error);
  if (error) return CantCreate(path + "/model", error);
  for (const char* const name : {"/model/model.safetensors", "/model/model.onnx"}) {
    if (Status written = store::WriteModel(path + name, model); !written) return written;
  }
  return {};
}

}  // namespace covey::harness
