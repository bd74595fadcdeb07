#include <filesystem>
#include <system_error>
#include <vector>

#include "covey/harness/data_files.h"
#include "covey/harness/paper.h"

namespace covey::harness {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> Folders(const PaperDataset& dataset) {
  std::vector<fs::path> folders;
  for (const std::string& folder : DataFolders())
    folders.push_back(fs::path(folder) / dataset.name);
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
