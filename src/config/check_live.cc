#include "config/check_live.h"

#include <string>

#include "covey/base/bytes.h"
#include "covey/data/live.h"
#include "covey/nn/model.h"

namespace covey::config {
namespace {

void Contradict(std::vector<Problem>& problems, const std::string& key, const std::string& with,
                const std::string& what, const std::string& note) {
  problems.push_back({.path = key, .reads = {with}, .what = what, .note = note});
}

}  // namespace

void AddLiveProblems(const NodeConfig& c, std::vector<Problem>& problems) {
  if (!c.data.live) return;
  const auto wrong = [&problems](const std::string& key, const std::string& what,
                                 const std::string& note) {
    Contradict(problems, key, "data.live", what, note);
  };
  const bool valid = nn::Validate(c.model).has_value();
  const std::size_t bytes =
      valid ? sizeof(float) * (nn::Features(c.model) + nn::Outputs(c.model)) : 0;
  if (bytes > data::kMaxLiveSample.value) {
    Contradict(problems, "model.input", "data.live",
               "makes samples of " + FormatByteCount({bytes}) + ", wanted at most " +
                   FormatByteCount(data::kMaxLiveSample) + " while data arrive",
               "make it smaller");
  }
  if (c.data.batch == 0) {
    wrong("data.batch", "a shard that grows has no whole", "give a number of samples");
  }
  if (c.data.validation_last > 0) {
    wrong("data.validation.last", "a shard that grows has no last samples",
          "use data.validation.share");
  }
  if (c.data.live->start_at > c.data.live->max_samples) {
    wrong("data.live.start_at", "is more than data.live.max_samples keeps",
          "lower it, or keep more");
  }
  if (c.train.until.kind == Until::Kind::kEpochs) {
    wrong("train.until", "a shard that grows has no passes", "use {batches: ...} or forever");
  }
  const std::size_t named = data::FeatureNamesOf(c.data.train.csv_settings).size();
  if (!c.data.has_train() && valid && named > 0 && named != nn::Features(c.model)) {
    Contradict(problems, "data.csv.features", "model.input",
               "makes " + std::to_string(named) + " features, and the model reads " +
                   std::to_string(nn::Features(c.model)),
               "a column of names makes one for each that data.csv.categories lists");
  }
  if (!c.data.has_train() && data::IsFitted(c.data.train.normalize)) {
    Contradict(problems, "data.normalize", "data.train",
               "is fitted on data.train, and there is none", "use given, and data.normalization");
  }
  if (!c.data.has_train() && c.data.hold_out.any()) {
    Contradict(problems, "data.hold_out", "data.train",
               "is taken out of data.train, and there is none",
               "use data.validation.share or data.test");
  }
}

void AddLiveProblems(const Experiment& e, std::vector<Problem>& problems) {
  if (!e.node.data.live) return;
  Contradict(problems, "data.live", "experiment", "experiments divide data that are there",
             "run coveyd for live data");
}

}  // namespace covey::config
