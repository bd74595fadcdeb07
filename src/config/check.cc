// Contradictions between keys that are each legal.
#include <set>
#include <string>
#include <utility>

#include "config/check_faults.h"
#include "config/check_live.h"
#include "config/check_model.h"
#include "config/schema.h"
#include "covey/config/load.h"

namespace covey::config {
namespace {

using Problems = std::vector<Problem>;

std::string Number(double value) {
  std::string text = std::to_string(value);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

void CheckSecurity(const NodeConfig& c, Problems& problems) {
  if (c.security.mode != SecuritySettings::Mode::kNone ||
      c.security.allow_plaintext_beyond_loopback) {
    return;
  }
  const auto refuse = [&problems](const std::string& path, const HostPort& address) {
    if (IsLoopback(address.host)) return;
    problems.push_back(
        {.path = path,
         .reads = {"security.mode", "security.allow_plaintext_beyond_loopback"},
         .what = "'" + address.Text() + "' is beyond loopback, and security.mode is none",
         .note = "use mode curve, or set security.allow_plaintext_beyond_loopback: "
                 "true if anyone there may read and replace the model"});
  };
  refuse("network.listen", c.network.listen);
  for (std::size_t i = 0; i < c.network.seeds.size(); ++i) {
    refuse("network.seeds[" + std::to_string(i) + "].address", c.network.seeds[i].address);
  }
}

void CheckOperator(const NodeConfig& c, Problems& problems) {
  if (!c.network.door || c.fleet.operator_key) return;
  problems.push_back({.path = "network.door",
                      .reads = {"fleet.operator_key"},
                      .what = "nobody can be let in there without fleet.operator_key",
                      .note = "write the operator's public key there, or leave the door out"});
}

void CheckNode(const NodeConfig& c, Problems& problems) {
  if (c.node.cpu_limit >= 0.001) return;
  problems.push_back({.path = "node.cpu_limit",
                      .reads = {},
                      .what = Number(c.node.cpu_limit) + " is less than 0.1%",
                      .note = "start with node.start_paused: true for a node that only answers"});
}

void CheckHttp(const NodeConfig& c, Problems& problems) {
  if (!c.http.enabled || IsLoopback(c.http.listen.host)) return;
  problems.push_back({.path = "http.listen",
                      .reads = {"http.enabled"},
                      .what = "'" + c.http.listen.Text() +
                              "' is beyond loopback, and HTTP here has no authentication",
                      .note = "use 127.0.0.1:7421; others reach it through a proxy of yours"});
}

void CheckNetwork(const NodeConfig& c, Problems& problems) {
  std::set<PeerKey> keys;
  for (std::size_t i = 0; i < c.network.seeds.size(); ++i) {
    if (keys.insert(c.network.seeds[i].key).second) continue;
    problems.push_back({.path = "network.seeds[" + std::to_string(i) + "].key",
                        .reads = {"network.seeds"},
                        .what = "this peer is listed twice",
                        .note = "one seed for each peer"});
  }
  if (c.network.drop_after <= c.network.ping_every) {
    problems.push_back({.path = "network.drop_after",
                        .reads = {"network.ping_every"},
                        .what = FormatDuration(c.network.drop_after) +
                                " is not more than ping_every (" +
                                FormatDuration(c.network.ping_every) + ")",
                        .note = "every link would be closed before it can answer"});
  }
  if (c.network.reconnect_most < c.network.reconnect_first) {
    problems.push_back({.path = "network.reconnect_most",
                        .reads = {"network.reconnect_first"},
                        .what = FormatDuration(c.network.reconnect_most) +
                                " is less than reconnect_first (" +
                                FormatDuration(c.network.reconnect_first) + ")",
                        .note = {}});
  }
}

// Samples come from one place.
void CheckOneSource(const NodeConfig& c, const data::Source& source, const std::string& section,
                    Problems& problems) {
  const bool table = !source.csv.empty();
  const std::string first = table                    ? "csv"
                            : !source.folder.empty() ? "folder"
                            : !source.cifar.empty()  ? "cifar"
                            : !source.text.empty()   ? "text"
                                                     : "recordings";
  const auto alone = [&](const std::string& file, const std::string& key) {
    if (file.empty()) return;
    problems.push_back({.path = section + key,
                        .reads = {section + "." + first},
                        .what = "is given beside " + first,
                        .note = "samples come from one place"});
  };
  if (table) alone(source.folder, ".folder");
  if (first != "cifar") alone(source.cifar, ".cifar");
  if (first != "text") alone(source.text, ".text");
  if (first != "recordings") alone(source.recordings, ".recordings");
  alone(source.images, ".images");
  alone(source.labels, ".labels");
  alone(source.targets, ".targets");
  if (table || nn::HasLabels(c.model)) return;
  problems.push_back({.path = section + "." + first,
                      .reads = {"model.loss", section},
                      .what = "gives classes, and the loss " + std::string(nn::Name(c.model.loss)) +
                              " needs numbers",
                      .note = "choose model.loss: sparse_categorical_crossentropy"});
}

// The files of samples must come with what the loss compares outputs with.
void CheckAnswers(const NodeConfig& c, const data::Source& source, const std::string& section,
                  Problems& problems) {
  if (source.alone()) {
    return CheckOneSource(c, source, section, problems);
  }
  const bool labels = nn::HasLabels(c.model);
  const std::string wanted = labels ? "labels" : "targets";
  const std::string other = labels ? "targets" : "labels";
  const std::string loss(nn::Name(c.model.loss));
  if ((labels ? source.labels : source.targets).empty()) {
    problems.push_back({.path = section + "." + wanted,
                        .reads = {"model.loss", section},
                        .what = "is empty, and the loss " + loss + " needs " + wanted,
                        .note = "give the path of an IDX file"});
  }
  if (!(labels ? source.targets : source.labels).empty()) {
    problems.push_back({.path = section + "." + other,
                        .reads = {"model.loss", section},
                        .what = "the loss " + loss + " compares with " + wanted + ", not " + other,
                        .note = labels ? "leave it out, or choose another model.loss"
                                       : "leave it out, or choose model.loss: "
                                         "sparse_categorical_crossentropy"});
  }
}

void CheckNormalization(const NodeConfig& c, Problems& problems) {
  const data::Standard& given = c.data.normalization;
  const bool wanted = c.data.train.normalize == data::Normalize::kGiven;
  const std::string word(data::Name(c.data.train.normalize));
  if (wanted && given.mean.empty()) {
    problems.push_back({.path = "data.normalization.mean",
                        .reads = {"data.normalize"},
                        .what = "is empty, and normalize: given takes its numbers from there",
                        .note = "`covey data describe` prints the numbers of a file"});
  } else if (!wanted && !given.mean.empty()) {
    problems.push_back({.path = "data.normalization.mean",
                        .reads = {"data.normalize"},
                        .what = "is not used with normalize: " + word,
                        .note = "leave it out, or write normalize: given"});
  }
  if (given.mean.size() != given.std.size()) {
    problems.push_back({.path = "data.normalization.std",
                        .reads = {"data.normalization.mean"},
                        .what = "has " + std::to_string(given.std.size()) +
                                " numbers, and mean has " + std::to_string(given.mean.size()),
                        .note = "give as many"});
  }
}

void CheckLabelNames(const NodeConfig& c, Problems& problems) {
  const data::LabelNames& names = c.data.labels;
  if (names.empty()) return;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty() && seen.insert(names[i]).second) continue;
    problems.push_back({.path = "data.labels[" + std::to_string(i) + "]",
                        .reads = {"data.labels"},
                        .what = "'" + names[i] + "' is empty or was there before",
                        .note = "each class has a name of its own"});
  }
  if (!nn::Validate(c.model)) return;
  const std::size_t outputs = nn::Outputs(c.model);
  if (nn::HasLabels(c.model) && names.size() != outputs) {
    problems.push_back({.path = "data.labels",
                        .reads = {"model.layers"},
                        .what = "has " + std::to_string(names.size()) +
                                " names, and the model's last layer has " +
                                std::to_string(outputs) + " outputs",
                        .note = "one name for each output"});
  } else if (!nn::HasLabels(c.model)) {
    problems.push_back(
        {.path = "data.labels",
         .reads = {"model.loss"},
         .what = "the loss " + std::string(nn::Name(c.model.loss)) + " knows no classes",
         .note = "leave it out"});
  }
}

Status AsStatus(const Result<std::vector<std::uint32_t>>& keys) {
  return keys ? Status() : tl::unexpected<Error>(keys.error());
}

void CheckKeys(const NodeConfig& c, const data::PartitionSettings& partition,
               const std::string& section, Problems& problems) {
  const bool by_key = partition.kind == data::PartitionSettings::Kind::kKey;
  const data::Source& train = c.data.train;
  const bool recorded = !train.recordings.empty() && !train.windows.key.empty();
  if (!by_key || recorded || !partition.key_file.empty() || !train.csv_settings.key.empty()) return;
  problems.push_back({.path = section + ".key_file",
                      .reads = {section},
                      .what = "is empty, and kind key divides by a number of each sample",
                      .note =
                          "give an IDX file with one whole number for each sample, or name the "
                          "column of a table in data.csv.key; of recordings, data.windows.key"});
}

void CheckData(const NodeConfig& c, Problems& problems) {
  CheckNormalization(c, problems);
  CheckLabelNames(c, problems);
  if (c.data.has_train() || !c.data.live) CheckAnswers(c, c.data.train, "data.train", problems);
  AddLiveProblems(c, problems);
  if (c.data.test) CheckAnswers(c, *c.data.test, "data.test", problems);
  using Kind = data::PartitionSettings::Kind;
  const Kind kind = c.data.partition.kind;
  if (!nn::HasLabels(c.model) && (kind == Kind::kMixRate || kind == Kind::kDirichlet)) {
    problems.push_back({.path = "data.partition.kind",
                        .reads = {"model.loss"},
                        .what = std::string(data::Name(kind)) +
                                " divides samples by class label, and these have targets",
                        .note = "use iid or key"});
  }
  TakeOver(data::Validate(c.data.partition), "data.partition", problems);
  CheckKeys(c, c.data.partition, "data.partition", problems);
  TakeOver(AsStatus(data::ParseKeys(c.data.hold_out.keys)), "data.hold_out", problems);
  if (c.data.hold_out.any() && c.data.test) {
    problems.push_back({.path = "data.hold_out",
                        .reads = {"data.test"},
                        .what = "is given beside data.test",
                        .note = "a test set is a file of its own or a part of data.train"});
  }
  if (c.train.until.kind == Until::Kind::kAccuracy && !nn::IsClassification(c.model)) {
    problems.push_back(
        {.path = "train.until",
         .reads = {"model.loss"},
         .what = "there is no accuracy with the loss " + std::string(nn::Name(c.model.loss)),
         .note = "use {epochs: ...} or {batches: ...}"});
  } else if (c.train.until.kind == Until::Kind::kAccuracy && c.data.validation_last == 0 &&
             c.data.validation_share == 0) {
    problems.push_back({.path = "train.until",
                        .reads = {"data.validation.last", "data.validation.share"},
                        .what = "accuracy is measured on validation samples, and there are none",
                        .note = "set data.validation: {last: 5000}"});
  }
}

void CheckConsensus(const NodeConfig& c, Problems& problems) {
  const double sum = static_cast<double>(c.consensus.sends) *
                     static_cast<double>(consensus::EffectiveGamma(c.consensus));
  if (sum <= 1) return;
  problems.push_back({.path = "consensus.gamma",
                      .reads = {"consensus.sends"},
                      .what = "sends * gamma is " + Number(sum) +
                              ": the replies of one round add up to more than the whole distance, "
                              "which can diverge",
                      .note = "auto is 1 / (sends + 1)",
                      .warning = true});
}

std::string Lines(const Problems& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    if (problem.warning) continue;
    text += (text.empty() ? "" : "\n") + problem.path + ": " + problem.what;
    if (!problem.note.empty()) text += "; " + problem.note;
  }
  return text;
}

Status AsStatus(const Problems& problems) {
  const std::string text = Lines(problems);
  if (text.empty()) return {};
  return Fail(ErrorCode::kConfig, {}, text);
}

}  // namespace

std::vector<Problem> Contradictions(const NodeConfig& config) {
  Problems problems;
  CheckNode(config, problems);
  CheckSecurity(config, problems);
  CheckOperator(config, problems);
  CheckNetwork(config, problems);
  CheckHttp(config, problems);
  AddModelProblems(config, problems);
  CheckData(config, problems);
  CheckConsensus(config, problems);
  AddFaultProblems(config.faults, problems);
  return problems;
}

std::vector<Problem> Contradictions(const Experiment& e) {
  using Controls = Experiment::Controls;
  Problems problems;
  AddLiveProblems(e, problems);
  data::PartitionSettings partition = e.partition;
  partition.part = {.index = 0, .count = e.nodes == 0 ? 1 : e.nodes};
  TakeOver(data::Validate(partition), "experiment.partition", problems);
  CheckKeys(e.node, partition, "experiment.partition", problems);
  using Kind = data::PartitionSettings::Kind;
  if (!nn::HasLabels(e.node.model) &&
      (partition.kind == Kind::kMixRate || partition.kind == Kind::kDirichlet)) {
    problems.push_back({.path = "experiment.partition.kind",
                        .reads = {"model.loss"},
                        .what = std::string(data::Name(partition.kind)) +
                                " divides samples by class label, and these have targets",
                        .note = "use iid or key"});
  }
  for (const auto& entry : e.overrides.nodes) {
    if (entry.first < e.nodes) continue;
    const std::string index = std::to_string(entry.first);
    problems.push_back(
        {.path = "experiment.overrides[" + index + "]",
         .reads = {"experiment.nodes"},
         .what = "there is no node " + index + ": nodes are 0 to " + std::to_string(e.nodes - 1),
         .note = {}});
  }
  AddFaultProblems(e, problems);
  if (e.node.train.until.kind == Until::Kind::kForever) {
    problems.push_back({.path = "train.until",
                        .reads = {},
                        .what = "an experiment has to end, and this is forever",
                        .note = "e.g. {epochs: 40}"});
  }
  const auto want_control = [&problems](const char* key, bool there, const char* control) {
    if (there) return;
    problems.push_back({.path = std::string("expect.") + key,
                        .reads = {"experiment.controls"},
                        .what = std::string("needs the ") + control + " control, which is not run",
                        .note = "set experiment.controls: all"});
  };
  if (e.expect.monolithic_accuracy) {
    want_control("monolithic_accuracy",
                 e.controls == Controls::kMonolithic || e.controls == Controls::kAll, "monolithic");
  }
  if (e.expect.gain_over_isolated) {
    want_control("gain_over_isolated",
                 e.controls == Controls::kIsolated || e.controls == Controls::kAll, "isolated");
  }
  return problems;
}

Status Check(const NodeConfig& config) { return AsStatus(Contradictions(config)); }

Status Check(const Experiment& experiment) {
  Problems problems = Contradictions(experiment.node);
  for (Problem& problem : Contradictions(experiment)) problems.push_back(std::move(problem));
  return AsStatus(problems);
}

}  // namespace covey::config
