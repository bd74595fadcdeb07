#include "covey/harness/data_files.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "covey/harness/paper.h"

namespace covey::harness {
namespace {

namespace fs = std::filesystem;

std::string ValueOfVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// Returns: the path, with .gz where only that is there; empty: neither is.
std::string PlainOrGzipped(const fs::path& path) {
  for (const std::string& name : {path.string(), path.string() + ".gz"}) {
    std::error_code ignored;
    if (fs::is_regular_file(name, ignored)) return name;
  }
  return {};
}

}  // namespace

std::vector<std::string> DataFolders() {
  std::vector<std::string> folders;
  if (const std::string data = ValueOfVariable("COVEY_DATA"); !data.empty()) {
    folders.push_back(data);
  } else if (const std::string cache = ValueOfVariable("XDG_CACHE_HOME"); !cache.empty()) {
    folders.push_back(cache + "/covey/data");
  } else if (const std::string home = ValueOfVariable("HOME"); !home.empty()) {
    folders.push_back(home + "/.cache/covey/data");
  }
  folders.emplace_back("/usr/share/datasets");
  return folders;
}

Status FindDataFiles(const std::vector<std::string>& folders, config::Experiment& experiment) {
  config::DataSettings& data = experiment.node.data;
  std::vector<std::string*> paths = {&data.train.images, &data.train.labels, &data.train.targets};
  if (data.test) {
    paths.insert(paths.end(), {&data.test->images, &data.test->labels, &data.test->targets});
  }
  for (std::string* path : paths) {
    if (path->empty() || fs::path(*path).is_absolute()) continue;
    std::string found = PlainOrGzipped(*path);
    std::string tried = "the working directory";
    for (const std::string& folder : folders) {
      if (found.empty()) found = PlainOrGzipped(fs::path(folder) / *path);
      tried += ", " + folder;
    }
    if (!found.empty()) {
      *path = found;
      continue;
    }
    const std::string set = fs::path(*path).begin()->string();
    if (!FindDataset(set)) continue;
    return Fail(ErrorCode::kNoInput, *path, "is neither plain nor as .gz in " + tried,
                set == "fashion-mnist" ? "install the package dataset-fashion-mnist"
                                       : "run scripts/fetch-data " + set);
  }
  return {};
}

}  // namespace covey::harness
