#include "node/spool.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "covey/data/live_rows.h"
#include "covey/data/samples.h"
#include "covey/log/log.h"
#include "covey/store/file_system.h"
#include "node/live_text.h"

namespace covey::node {
namespace {

namespace fs = std::filesystem;

constexpr ByteCount kMaxTable{std::uint64_t{256} << 20};
constexpr std::size_t kMostAtOnce = 1024;  // names of a folder

bool IsWaiting(const std::string& name) {
  return name.starts_with('.') || name.ends_with(".tmp") || name.ends_with(".part");
}

bool IsImage(const std::string& name) {
  for (const char* const ending : {".png", ".jpg", ".jpeg", ".pgm", ".ppm"}) {
    if (name.ends_with(ending)) return true;
  }
  return false;
}

// Rows of a table that is in memory.
Status VisitRows(const std::string& text, const Intake& intake,
                 const std::function<Status(const data::LiveSample&, std::size_t)>& visit) {
  std::optional<data::LiveRows> rows;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::string_view line;
    at = LineAt(text, at, line);
    ++number;
    if (data::IsBlank(line)) continue;
    if (!rows) {
      auto started = data::LiveRows::Start(line, intake.form());
      if (!started) return tl::unexpected(started.error());
      rows.emplace(std::move(*started));
      if (rows->header()) continue;
    }
    const auto sample = rows->Parse(line);
    const Status good = sample ? visit(*sample, at) : tl::unexpected(sample.error());
    if (good) continue;
    Error error = good.error();
    error.where = "line " + std::to_string(number) + ": " + error.where;
    return tl::unexpected(std::move(error));
  }
  return {};
}

}  // namespace

Spool::Spool(Intake& intake, std::string folder, bool remove)
    : intake_(intake), folder_(std::move(folder)), remove_(remove) {}

Status Spool::Prepare() {
  for (const char* const part : {"", "/bad", "/done"}) {
    if (Status made = store::MakeFolder(folder_ + part); !made) return made;
  }
  std::error_code ignored;
  fs::remove_all(folder_ + "/.unpacked", ignored);  // of a node that was killed
  return {};
}

Status Spool::Scan() { return ScanFolder(""); }

Status Spool::ScanFolder(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names, folders;
  for (fs::directory_iterator at(folder_ + '/' + folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (IsWaiting(name)) continue;
    std::error_code unknown;
    if (!at->is_directory(unknown)) {
      names.push_back(folder + name);
    } else if (folder.empty() && name != "bad" && name != "done") {
      folders.push_back(name + '/');
    }
    if (names.size() == kMostAtOnce) break;
  }
  if (error) {
    return Fail(ErrorCode::kIo, folder_, "can't be listed: " + error.message());
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    if (Status taken = TakeFile(name); !taken) return taken;
  }
  std::sort(folders.begin(), folders.end());
  for (const std::string& one : folders) {
    if (Status taken = ScanFolder(one); !taken) return taken;
  }
  return {};
}

void Spool::Quarantine(const std::string& name, const std::string& reason) {
  const std::string to = folder_ + "/bad/" + name;
  const std::string text = reason + '\n';
  const Status folder = store::MakeFolder(fs::path(to).parent_path().string());
  const Status told = store::WriteAtomically(
      to + ".reason", {reinterpret_cast<const std::byte*>(text.data()), text.size()},
      {.mode = 0644});
  if (!folder || std::rename((folder_ + '/' + name).c_str(), to.c_str()) != 0) {
    log::WriteLimited(log::Level::kError, log::Category::kData, "spool",
                      "can't move a wrong file: " + std::generic_category().message(errno),
                      {{"file", to}});
    return;
  }
  intake_.CountQuarantined();
  log::Warning(log::Category::kData, "a file is wrong: " + reason,
               {{"file", to}, {"told", told.has_value()}});
}

Result<Spool::Samples> Spool::SamplesOf(const std::string& name) const {
  const std::string path = folder_ + '/' + name;
  const std::size_t slash = name.find('/');
  if (slash != std::string::npos && IsImage(name)) return Image(path, name.substr(0, slash));
  if (name.ends_with(".csv")) return Table(path);
  if (name.ends_with(".npz")) return Arrays(path);
  return Fail(ErrorCode::kData, name,
              IsImage(name) ? "stands in no folder" : "is no table (.csv), array (.npz) or image",
              IsImage(name) ? "images go into a folder that has the name of their class"
                            : "files are known by the ends of their names");
}

Result<Spool::Samples> Spool::Table(const std::string& path) const {
  const auto bytes = store::ReadFile(path, kMaxTable);
  if (!bytes) return tl::unexpected(bytes.error());
  const auto text = std::make_shared<const std::string>(
      reinterpret_cast<const char*>(bytes->data()), bytes->size());
  return Samples([this, text](const Visit& visit) { return VisitRows(*text, intake_, visit); });
}

Result<Spool::Samples> Spool::Arrays(const std::string& path) const {
  const bool labels = intake_.form().like.outputs() == 0;
  data::Source source;
  source.images = path + ":x";
  (labels ? source.labels : source.targets) = path + ":y";
  source.normalize = data::Normalize::kNone;
  const std::string unpacked = folder_ + "/.unpacked";
  const auto set = data::Open(source, unpacked);
  std::error_code ignored;
  fs::remove_all(unpacked, ignored);  // it stays mapped
  if (!set) return tl::unexpected(set.error());
  return Samples([set = *set, labels](const Visit& visit) -> Status {
    std::vector<float> values(set.features());
    for (std::size_t i = 0; i < set.size(); ++i) {
      data::ReadRaw(set, i, values);
      data::LiveSample sample{.values = values, .label = labels ? set.label(i) : 0};
      if (!labels) sample.targets = {set.target(i), set.outputs()};
      if (Status visited = visit(sample, i + 1); !visited) {
        Error error = visited.error();
        error.where = "sample " + std::to_string(i) + ": " + error.where;
        return tl::unexpected(std::move(error));
      }
    }
    return {};
  });
}

Result<Spool::Samples> Spool::Image(const std::string& path, const std::string& label) const {
  const data::LiveForm& form = intake_.form();
  if (form.like.outputs() > 0) {
    return Fail(ErrorCode::kData, path, "is an image with a class, and the model predicts numbers",
                "give images and numbers as arrays: .npz");
  }
  if (form.like.element() != tensor::Element::kUint8 &&
      form.like.normalize() == data::Normalize::kUnit) {
    return Fail(ErrorCode::kData, path,
                "has bytes, which data.normalize: unit leaves as they are beside numbers",
                "write data.normalize: {scale: 0.003921569} in the files of all nodes");
  }
  const auto number = intake_.ClassOf(label);
  if (!number) return tl::unexpected(number.error());
  const auto image = data::ImageSampleOf({form.like.shape(), {}, form.image_fit}, path);
  if (!image) return tl::unexpected(image.error());
  return Samples([values = *image, label = *number](const Visit& visit) {
    return visit({.values = values, .label = label}, 1);
  });
}

Status Spool::TakeFile(const std::string& name) {
  const std::string path = folder_ + '/' + name;
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};  // it has gone again
  const auto samples = SamplesOf(name);
  if (!samples) {
    Quarantine(name, samples.error().Format());
    return {};
  }
  const std::string identity = name + ':' + std::to_string(info.st_size) + ':' +
                               std::to_string(info.st_mtim.tv_sec) + ':' +
                               std::to_string(info.st_mtim.tv_nsec) + ':';
  const std::string mark = intake_.Mark("spool");
  std::size_t done = 0;
  if (mark.starts_with(identity)) {
    const std::vector<std::uint64_t> numbers = NumbersOf(mark.substr(identity.size()));
    if (numbers.size() == 1) done = static_cast<std::size_t>(numbers[0]);
  } else {
    std::size_t count = 0;
    Status good = (*samples)([&](const data::LiveSample& sample, std::size_t) {
      ++count;
      return intake_.Check(sample);
    });
    if (good && count == 0) good = Fail(ErrorCode::kData, "table", "no row in it");
    if (!good) {
      Quarantine(name, good.error().Format());
      return {};
    }
  }
  if (Status added = Add(*samples, identity, done); !added) return added;
  if (remove_) {
    ::unlink(path.c_str());
    return {};
  }
  const std::string to = folder_ + "/done/" + name;
  if (Status made = store::MakeFolder(fs::path(to).parent_path().string()); !made) return made;
  if (std::rename(path.c_str(), to.c_str()) == 0) return {};
  return Fail(ErrorCode::kIo, path, "can't be moved: " + std::generic_category().message(errno));
}

// done: up to where an earlier life has taken it.
Status Spool::Add(const Samples& samples, const std::string& identity, std::size_t done) {
  LiveBatch batch;
  std::size_t behind = done;
  const auto commit = [&]() -> Status {
    if (batch.size() == 0) return {};
    Status kept = intake_.Commit(batch, "spool", identity + std::to_string(behind));
    batch.Clear();
    return kept;
  };
  const Status all = samples([&](const data::LiveSample& sample, std::size_t next) -> Status {
    if (next <= done) return {};
    batch.Add(sample);
    behind = next;
    return batch.values.size() * sizeof(float) >= Intake::kBatchBytes ? commit() : Status();
  });
  return all ? commit() : all;
}

}  // namespace covey::node
