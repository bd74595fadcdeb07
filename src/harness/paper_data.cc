#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "covey/harness/paper.h"

namespace covey::harness {
namespace {

namespace fs = std::filesystem;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// As scripts/fetch-data chooses its folder.
std::vector<fs::path> Folders(const PaperDataset& dataset) {
  std::vector<fs::path> folders;
  if (const std::string data = Variable("COVEY_DATA"); !data.empty()) {
    folders.push_back(fs::path(data) / dataset.name);
  } else if (const std::string cache = Variable("XDG_CACHE_HOME"); !cache.empty()) {
    folders.push_back(fs::path(cache) / "covey/data" / dataset.name);
  } else if (const std::string home = Variable("HOME"); !home.empty()) {
    folders.push_back(fs::path(home) / ".cache/covey/data" / dataset.name);
  }
  folders.push_back(fs::path("/usr/share/datasets") / dataset.name);
  return folders;
}

bool IsFile(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

}  // namespace

Status FindData(const PaperDataset& dataset, const std::string& folder,
                config::Experiment& experiment) {
  const std::vector<fs::path> folders =
      folder.empty() ? Folders(dataset) : std::vector<fs::path>{folder};
  config::DataSettings& data = experiment.node.data;
  std::vector<std::string*> paths = {&data.train.images, &data.train.labels};
  if (data.test) paths.insert(paths.end(), {&data.test->images, &data.test->labels});
  for (std::string* path : paths) {
    if (path->empty() || fs::path(*path).has_parent_path()) continue;
    std::string found;
    std::string tried;
    for (const fs::path& place : folders) {
      tried += (tried.empty() ? "" : ", ") + place.string();
      for (const std::string& name : {*path, *path + ".gz"}) {
        if (found.empty() && IsFile(place / name)) found = (place / name).string();
      }
    }
    if (found.empty()) {
      const bool packaged = dataset.name == "fashion-mnist";
      return Fail(ErrorCode::kNoInput, *path, "is neither plain nor as .gz in " + tried,
                  packaged ? "install the package dataset-fashion-mnist, or give --data FOLDER"
                           : "run scripts/fetch-data " + dataset.name + ", or give --data FOLDER");
    }
    *path = found;
  }
  return {};
}

}  // namespace covey::harness
