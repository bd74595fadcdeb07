#include "covey/setup/assemble.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "covey/base/sha256.h"
#include "setup/live.h"

namespace covey::setup {
namespace {

// Rounds of the tail when the length of the run is not known beforehand.
constexpr std::uint32_t kDefaultSettleRounds = 30;

std::string Print(const std::vector<std::size_t>& shape) {
  std::string text;
  for (const std::size_t extent : shape) {
    text += (text.empty() ? "[" : ", ") + std::to_string(extent);
  }
  return text + "]";
}

const std::string& FileOf(const data::Source& source, const std::string& idx) {
  if (!source.Single().empty()) return source.Single();
  return source.csv.empty() ? idx : source.csv;
}

Status CheckFits(const config::NodeConfig& config, const data::Dataset& set,
                 const data::Source& source) {
  if (set.features() != nn::Features(config.model)) {
    return Fail(ErrorCode::kData, FileOf(source, source.images),
                "a sample is " + Print(set.shape()) + ": " + std::to_string(set.features()) +
                    " values, wanted " + std::to_string(nn::Features(config.model)) +
                    " for model.input " + Print(config.model.input),
                "change model.input, or give other files");
  }
  const std::size_t outputs = nn::Outputs(config.model);
  if (set.has_labels() && set.classes() > outputs) {
    return Fail(ErrorCode::kData, FileOf(source, source.labels),
                "labels go up to " + std::to_string(set.classes() - 1) + ", wanted at most " +
                    std::to_string(outputs - 1) + ": the last layer has " +
                    std::to_string(outputs) + " units");
  }
  if (!set.has_labels() && set.outputs() != outputs) {
    return Fail(ErrorCode::kData, FileOf(source, source.targets),
                std::to_string(set.outputs()) + " targets a sample, wanted " +
                    std::to_string(outputs) + ": one for each output of the last layer",
                "change the last layer, or give another file");
  }
  const std::size_t symbols = nn::Symbols(config.model);
  return symbols > 0 ? data::CheckSymbols(set, symbols, FileOf(source, source.images)) : Status();
}

// Opens a set as the model reads it: symbols are never scaled.
Result<data::Dataset> OpenSet(const config::NodeConfig& config, data::Source source,
                              OpenSets& sets) {
  source.classes =
      nn::HasLabels(config.model) ? static_cast<std::uint32_t>(nn::Outputs(config.model)) : 0;
  source.normalize = config.data.train.normalize;
  source.scale = config.data.train.scale;
  source.csv_settings = config.data.train.csv_settings;
  source.wants_labels = nn::HasLabels(config.model);
  source.image_fit = config.data.train.image_fit;
  source.text_step = config.data.train.text_step;
  source.windows = config.data.train.windows;
  source.shape = config.model.input;
  if (source.label_names.empty()) source.label_names = config.data.labels;
  if (nn::Symbols(config.model) > 0) source.normalize = data::Normalize::kNone;
  Result<data::Dataset> set = sets.Open(source, config.data.cache);
  if (!set) return set;
  if (Status fits = CheckFits(config, *set, source); !fits) return tl::unexpected(fits.error());
  return set;
}

// The module that divides data names its keys from their own section on.
Error InData(Error error) {
  if (error.where.starts_with("partition") || error.where.starts_with("hold_out") ||
      error.where == "validation") {
    error.where = "data." + error.where;
  }
  return error;
}

Status CheckGiven(const data::Standard& given, const std::vector<std::size_t>& shape) {
  const std::size_t features = data::PeriodOf(data::Normalize::kStandard, shape);
  const std::size_t count = given.mean.size();
  if (count == 1 || count == shape.back() || count == features) return {};
  return Fail(ErrorCode::kData, "data.normalization.mean",
              std::to_string(count) + " numbers, wanted 1, " + std::to_string(shape.back()) +
                  " (one for each channel) or " + std::to_string(features) +
                  " (one for each feature) for samples of " + Print(shape),
              "`covey data describe` prints the numbers of a file");
}

// Decides how samples are read: training, validation and test alike.
Status SetNormalization(const config::DataSettings& settings, const data::Indices& rows,
                        OpenSets& sets, NodeData& data) {
  const data::Normalize kind = data.train.normalize();
  data::Normalization normalization;
  if (kind == data::Normalize::kGiven) {
    if (Status fits = CheckGiven(settings.normalization, data.train.shape()); !fits) return fits;
    normalization = data::Normalization::Of(settings.normalization);
  } else if (data::IsFitted(kind)) {
    normalization = sets.Fit(settings, data.train, rows);
  } else {
    return {};
  }
  data.train = data.train.Normalized(kind, normalization);
  if (data.test) data.test = data.test->Normalized(kind, std::move(normalization));
  return {};
}

// Names given in the configuration win over those of the files.
void SetLabelNames(const data::LabelNames& names, NodeData& data) {
  if (names.empty() || !data.train.has_labels()) return;
  data.train = data.train.Named(names);
  if (data.test) data.test = data.test->Named(names);
}

// The keys that a partition divides by: those of a file of their own, or of the training file.
Result<std::vector<std::uint32_t>> KeysOf(const config::DataSettings& settings,
                                          const data::Dataset& train) {
  if (!settings.partition.key_file.empty()) {
    return data::OpenIdxColumn(settings.partition.key_file, settings.cache);
  }
  return std::vector<std::uint32_t>(train.keys().begin(), train.keys().end());
}

data::Indices Picked(const data::Indices& from, const data::Indices& which) {
  data::Indices picked;
  picked.reserve(which.size());
  for (const std::uint32_t i : which) picked.push_back(from[i]);
  return picked;
}

// Which rows of the training file are this node's, for validation, and held out.
struct Division {
  data::Indices train;  // of all nodes together
  data::Indices shard;
  data::Indices validation;
  data::Indices test;
};

// Moves a share of the training samples to those for validation.
void SetAside(double share, const data::Dataset& set, Division& division) {
  if (share == 0) return;
  const std::size_t bytes = set.row_bytes();
  const auto aside = [&](std::uint32_t row) {
    return data::IsSetAside({set.row(row), bytes}, share);
  };
  for (const std::uint32_t row : division.train) {
    if (aside(row)) division.validation.push_back(row);
  }
  std::erase_if(division.train, aside);
}

Result<Division> Divide(const config::DataSettings& settings, const data::Dataset& set) {
  using Kind = data::PartitionSettings::Kind;
  const bool by_key = settings.partition.kind == Kind::kKey || !settings.hold_out.keys.empty();
  std::vector<std::uint32_t> keys;
  if (by_key) {
    Result<std::vector<std::uint32_t>> column = KeysOf(settings, set);
    if (!column) return tl::unexpected(column.error());
    keys = std::move(*column);
  }
  Result<data::Held> held = data::Hold(set.size(), settings.hold_out, keys);
  if (!held) return tl::unexpected(InData(held.error()));
  Result<data::Split> split =
      data::SplitLast(held->rest.size(), static_cast<std::size_t>(settings.validation_last));
  if (!split) return tl::unexpected(InData(split.error()));
  Division division;
  division.train = Picked(held->rest, split->train);
  division.validation = Picked(held->rest, split->validation);
  SetAside(settings.validation_share, set, division);
  division.test = std::move(held->test);
  // Targets have no classes: those partitions that need them were refused with the file.
  std::vector<std::uint8_t> labels;
  std::vector<std::uint32_t> of_keys;
  for (const std::uint32_t row : division.train) {
    labels.push_back(set.has_labels() ? static_cast<std::uint8_t>(set.label(row)) : 0);
    if (row < keys.size()) of_keys.push_back(keys[row]);
  }
  const Result<data::Indices> shard = data::Partition(
      labels, std::max<std::uint32_t>(set.classes(), 1), settings.partition, of_keys);
  if (!shard) return tl::unexpected(InData(shard.error()));
  division.shard = Picked(division.train, *shard);
  return division;
}

Result<NodeData> OpenData(const config::NodeConfig& config, OpenSets& sets) {
  const config::DataSettings& settings = config.data;
  NodeData data;
  const bool has_train = settings.has_train() || !settings.live;
  Result<data::Dataset> train =
      has_train ? OpenSet(config, settings.train, sets) : NoSamplesYet(config);
  if (!train) return tl::unexpected(train.error());
  data.train = std::move(*train);
  Result<Division> division = has_train ? Divide(settings, data.train) : Division();
  if (!division) return tl::unexpected(division.error());
  data.shard = std::move(division->shard);
  data.validation = std::move(division->validation);
  if (settings.test) {
    data::Source source = *settings.test;
    source.feature_names = data.train.feature_names();
    source.label_names = data.train.label_names();
    Result<data::Dataset> test = OpenSet(config, std::move(source), sets);
    if (!test) return tl::unexpected(test.error());
    data.test = std::move(*test);
  } else if (!division->test.empty()) {
    data.test = sets.Extract(settings, data.train, division->test);
  }
  SetLabelNames(settings.labels, data);
  if (Status done = SetNormalization(settings, division->train, sets, data); !done) {
    return tl::unexpected(done.error());
  }
  return data;
}

learner::Settings LearnerSettings(const config::NodeConfig& config, const Identity& identity,
                                  std::uint64_t batches_per_epoch) {
  learner::Settings settings;
  settings.seed = config.node.seed;
  settings.node = config.node.index;
  settings.init_stream = config.node.init_index.value_or(config.node.index);
  settings.first_exchange = ExchangeId{identity.session.value};
  settings.model = config.model;
  settings.optimizer = config.train.optimizer;
  settings.average = config.train.average;
  settings.consensus = config.consensus;
  consensus::Settings& consensus = settings.consensus;
  consensus.until_batches = config.train.until.Batches(batches_per_epoch);
  consensus.publish_batches = config.train.evaluate.Batches(batches_per_epoch);
  const bool endless = consensus.until_batches == 0;
  const std::uint64_t rounds =
      (consensus.until_batches + consensus.batches - 1) / consensus.batches;
  consensus.settle_rounds = config.train.settle.Rounds(rounds);
  if (endless && !config.train.settle.rounds) consensus.settle_rounds = kDefaultSettleRounds;
  return settings;
}

// What a hello says of the data. Two summaries fit into one text of a refusal.
void DescribeData(const data::Dataset& set, session::Settings& session) {
  constexpr std::size_t kShort = 100;
  const std::vector<std::string>& features = set.feature_names();
  std::string inputs = data::Canonical(set.normalize(), set.normalization());
  session.normalization_summary = data::Summary(set.normalize(), set.normalization(), kShort);
  if (!features.empty()) {
    inputs += '\n' + data::Canonical(features);
    session.normalization_summary =
        data::Summary(set.normalize(), set.normalization(), kShort / 2) + " of columns " +
        data::Summary(features, kShort / 2);
  }
  session.normalization = Sha256::Of(inputs);
  session.labels = Sha256::Of(data::Canonical(set.label_names()));
  session.labels_summary = data::Summary(set.label_names(), kShort);
}

learner::LinkSettings LinkSettings(const config::NodeConfig& config, const Identity& identity,
                                   const data::Dataset& set) {
  learner::LinkSettings links;
  session::Settings& session = links.session;
  session.self = identity.key;
  session.session = identity.session;
  session.fleet = Sha256::Of(config.fleet.name);
  session.model = nn::FingerprintOf(config.model);
  session.model_summary = nn::Summary(config.model);
  const optim::Settings& optimizer = config.train.optimizer;
  if (optim::ExchangedSlots(optimizer) > 0) {
    // Nodes that exchange something else beside the parameters can't average.
    const std::string beside = "state of " + std::string(optim::Name(optimizer.kind));
    session.model = Sha256::Of(nn::Describe(config.model) + '\n' + beside);
    session.model_summary += " with the " + beside;
  }
  session.software = "covey";
  DescribeData(set, session);
  session.vector_size = optim::ExchangedSize(optimizer, nn::LayoutOf(config.model).size());
  // Frames that a fault damages are damaged before the transport authenticates them.
  session.checksum = !identity.authenticated || config.faults.corrupt > 0;
  session.max_chunk = static_cast<std::uint32_t>(config.network.chunk.value);
  session.credit = config.network.credit;
  session.ping_every = config.network.ping_every;
  session.timeout = config.network.drop_after;
  session.hello_timeout = config.network.handshake;
  constexpr ByteCount kMeteredQuota{100'000'000};
  links.budget.max_rate = config.network.max_rate;
  links.budget.daily_quota = config.network.daily_quota;
  if (config.network.metered && !links.budget.daily_quota) links.budget.daily_quota = kMeteredQuota;
  links.budget.duty_cycle = config.network.duty_cycle;
  links.faults.weights_drop = config.faults.weights_drop;
  links.faults.deltas_drop = config.faults.deltas_drop;
  links.faults.duplicate = config.faults.duplicate;
  links.faults.delay = config.faults.delay;
  links.faults.reorder = config.faults.reorder;
  links.faults.corrupt = config.faults.corrupt;
  links.faults.cut = config.faults.cut;
  links.faults.throttle = config.faults.throttle;
  links.faults.seed = config.faults.seed;
  links.seed = config.node.seed;
  links.node = config.node.index;
  links.max_links = config.network.max_links;
  links.exchanges_for = config.consensus.pending_for;
  return links;
}

}  // namespace

Result<Assembly> Assemble(const config::NodeConfig& config, const Identity& identity,
                          OpenSets* sets) {
  OpenSets own;
  Result<NodeData> data = OpenData(config, sets != nullptr ? *sets : own);
  if (!data) return tl::unexpected(data.error());
  return AssembleWith(config, identity, std::move(*data));
}

Result<Assembly> AssembleWith(const config::NodeConfig& config, const Identity& identity,
                              NodeData data) {
  const bool live = config.data.live.has_value();
  const std::size_t shard =
      live ? static_cast<std::size_t>(config.data.live->start_at) : data.shard.size();
  if (!live && config.data.batch > shard) {
    return Fail(ErrorCode::kData, "data.batch",
                "got " + std::to_string(config.data.batch) + ", wanted at most the " +
                    std::to_string(shard) + " samples of this node's shard",
                "lower it, or write 'all' for the whole shard");
  }
  const std::size_t batch = config.data.batch == 0 ? shard : config.data.batch;
  Assembly assembly;
  assembly.data = std::move(data);
  assembly.batches_per_epoch = (shard + batch - 1) / batch;
  assembly.learner = LearnerSettings(config, identity, assembly.batches_per_epoch);
  assembly.learner.batch = batch;
  assembly.learner.grows = live;
  if (live) assembly.live = LiveFormOf(config, assembly.data.train);
  assembly.links = LinkSettings(config, identity, assembly.data.train);
  if (config.train.until.kind == config::Until::Kind::kAccuracy) {
    if (assembly.data.validation.empty() && !live) {
      return Fail(ErrorCode::kData, "train.until", "'accuracy' needs a validation set",
                  "set data.validation");
    }
    assembly.until_accuracy = config.train.until.accuracy;
  }
  return assembly;
}

}  // namespace covey::setup
