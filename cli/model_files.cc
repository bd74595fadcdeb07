#include "model_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "covey/store/checkpoint.h"
#include "covey/store/model.h"
#include "covey/store/published.h"

namespace covey {
namespace {

using InfoJson = nlohmann::ordered_json;

bool IsFolder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool IsThere(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

// A folder stands for the model that is published in it: a state folder, or its model/.
std::string FileOf(const std::string& path) {
  if (!IsFolder(path)) return path;
  const std::string inside = path + "/model";
  return (IsFolder(inside) ? inside : path) + "/" + store::kPublishedSafetensors;
}

std::string ExtentsText(const std::vector<std::size_t>& shape) {
  std::string text;
  for (const std::size_t extent : shape) {
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  }
  return text;
}

void Line(const char* name, const std::string& value) {
  if (!value.empty()) std::printf("%-12s%s\n", name, value.c_str());
}

std::string Digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string Labels(const std::vector<std::string>& labels) {
  constexpr std::size_t kShown = 12;
  std::string text;
  for (std::size_t i = 0; i < labels.size() && i < kShown; ++i) {
    text += (i > 0 ? ", " : "") + labels[i];
  }
  if (labels.size() > kShown) text += ", ... " + std::to_string(labels.size()) + " in all";
  return text;
}

void PrintJson(const InfoJson& json) {
  std::printf("%s\n", json.dump(2, ' ', false, InfoJson::error_handler_t::replace).c_str());
}

InfoJson ToJson(const store::Model& model) {
  const store::ModelFacts& facts = model.facts;
  InfoJson json;
  json["schema"] = "covey.model_info/1";
  json["model"] = nn::Summary(model.spec);
  json["parameters"] = model.x.size();
  json["fingerprint"] = nn::FingerprintOf(model.spec).Hex();
  json["input"] = {
      {"shape", model.spec.input}, {"mean", model.input.mean}, {"scale", model.input.scale}};
  json["outputs"] = nn::Outputs(model.spec);
  json["features"] = model.features;
  json["labels"] = model.labels;
  json["version"] = facts.version;
  json["fleet"] = facts.fleet;
  json["created_by"] = facts.created_by;
  json["batches"] = facts.batches;
  json["epoch"] = facts.epoch;
  if (facts.accuracy) json["accuracy"] = *facts.accuracy;
  if (facts.loss) json["loss"] = *facts.loss;
  json["held_out"] = facts.held_out;
  json["spec"] = InfoJson::parse(store::SpecToJson(model.spec), nullptr, false);
  return json;
}

// A slice of the parameters in two models.
struct Difference {
  std::string name;
  double relative = 0;  // ||a - b|| / ||a||
  double greatest = 0;  // of one parameter
};

std::vector<Difference> DifferencesOf(const store::Model& a, const store::Model& b) {
  std::vector<Difference> all;
  const tensor::Layout layout = nn::LayoutOf(a.spec);
  for (const tensor::Slice& slice : layout.slices()) {
    Difference one;
    one.name = slice.name;
    double squares = 0, norm = 0;
    for (std::size_t i = slice.offset; i < slice.offset + slice.size; ++i) {
      const double left = static_cast<double>(a.x[i]), right = static_cast<double>(b.x[i]);
      squares += (left - right) * (left - right);
      norm += left * left;
      one.greatest = std::max(one.greatest, std::abs(left - right));
    }
    one.relative = norm > 0 ? std::sqrt(squares / norm) : squares > 0 ? HUGE_VAL : 0;
    all.push_back(std::move(one));
  }
  return all;
}

// Moves checkpoints aside. Errors: kCantCreate when there are some and they may not be.
Status ClearCheckpoints(const std::string& folder, bool replace) {
  const std::string checkpoints = folder + "/checkpoints";
  if (!IsThere(checkpoints)) return {};
  if (!replace) {
    return Fail(ErrorCode::kCantCreate, checkpoints,
                "the node would go on from these checkpoints, not from the imported model",
                "--replace moves them to checkpoints.before-import");
  }
  std::string aside = checkpoints + ".before-import";
  for (int i = 2; IsThere(aside); ++i) {
    aside = checkpoints + ".before-import." + std::to_string(i);
  }
  if (std::rename(checkpoints.c_str(), aside.c_str()) != 0) {
    return Fail(ErrorCode::kIo, checkpoints,
                std::string("can't be moved aside: ") + std::strerror(errno));
  }
  return {};
}

}  // namespace

Status ModelInfo(const ModelFileOptions& options) {
  const std::string path = FileOf(options.first);
  const auto model = store::ReadModel(path);
  if (!model) return tl::unexpected(model.error());
  if (options.json) {
    PrintJson(ToJson(*model));
    return {};
  }
  const store::ModelFacts& facts = model->facts;
  Line("file", path);
  Line("model", nn::Summary(model->spec));
  Line("parameters", std::to_string(model->x.size()));
  Line("input", ExtentsText(model->spec.input));
  if (!model->features.empty()) Line("columns", Labels(model->features));
  Line("labels", Labels(model->labels));
  Line("version", facts.version == 0 ? "" : std::to_string(facts.version));
  Line("fleet", facts.fleet);
  const std::string batches =
      facts.batches > 0 ? std::to_string(facts.batches) + " batches, " : std::string();
  Line("trained", batches + Digits(facts.epoch) + " epochs");
  if (facts.accuracy) {
    Line("accuracy", Digits(100 * *facts.accuracy) + " % of " + std::to_string(facts.held_out) +
                         " samples held out");
  }
  Line("loss", facts.loss ? Digits(*facts.loss) : "");
  Line("written by", facts.created_by);
  return {};
}

Status ModelExport(const ModelFileOptions& options) {
  const auto model = store::ReadModel(FileOf(options.first));
  if (!model) return tl::unexpected(model.error());
  if (Status written = store::WriteModel(options.second, *model); !written) return written;
  std::printf("%s: %s, %zu parameters\n", options.second.c_str(), nn::Summary(model->spec).c_str(),
              model->x.size());
  return {};
}

Status ModelImport(const ModelFileOptions& options, const config::NodeConfig& config) {
  auto x = store::ReadParameters(FileOf(options.first), config.model);
  if (!x) return tl::unexpected(x.error());
  const auto lock = store::StateLock::Take(config.node.state_dir);
  if (!lock) return tl::unexpected(lock.error());
  if (Status clear = ClearCheckpoints(config.node.state_dir, options.replace); !clear) return clear;
  store::Model model;
  model.spec = config.model;
  model.x = std::move(*x);
  const std::string path = config.node.state_dir + "/start.safetensors";
  if (Status written = store::WriteModel(path, model); !written) return written;
  std::printf("%s: the node starts from it\n", path.c_str());
  return {};
}

Status ModelDiff(const ModelFileOptions& options) {
  const auto a = store::ReadModel(FileOf(options.first));
  if (!a) return tl::unexpected(a.error());
  const auto b = store::ReadModel(FileOf(options.second));
  if (!b) return tl::unexpected(b.error());
  if (nn::FingerprintOf(a->spec) != nn::FingerprintOf(b->spec)) {
    return Fail(ErrorCode::kProtocol, options.second,
                "holds " + nn::Summary(b->spec) + ", and " + options.first + " holds " +
                    nn::Summary(a->spec));
  }
  const std::vector<Difference> all = DifferencesOf(*a, *b);
  const bool same = a->labels == b->labels && a->input == b->input;
  if (options.json) {
    InfoJson json;
    json["schema"] = "covey.model_diff/1";
    json["same_labels"] = a->labels == b->labels;
    json["same_input"] = a->input == b->input;
    json["tensors"] = InfoJson::array();
    for (const Difference& one : all) {
      json["tensors"].push_back(
          {{"name", one.name}, {"relative", one.relative}, {"greatest", one.greatest}});
    }
    PrintJson(json);
    return {};
  }
  std::printf("%-24s %12s %12s\n", "tensor", "relative", "greatest");
  for (const Difference& one : all) {
    std::printf("%-24s %12.4g %12.4g\n", one.name.c_str(), one.relative, one.greatest);
  }
  if (!same) std::printf("labels or normalisation differ\n");
  return {};
}

Status ModelRollback(const ModelFileOptions& options, const config::NodeConfig& config) {
  const std::string folder =
      options.first.empty() ? config.node.state_dir + "/model" : options.first;
  const auto manifest = store::Rollback(folder);
  if (!manifest) return tl::unexpected(manifest.error());
  if (options.json) {
    PrintJson({{"schema", "covey.model_rollback/1"},
               {"folder", folder},
               {"version", manifest->facts.version}});
    return {};
  }
  std::printf("%s: version %llu is published again\n", folder.c_str(),
              static_cast<unsigned long long>(manifest->facts.version));
  return {};
}

}  // namespace covey
