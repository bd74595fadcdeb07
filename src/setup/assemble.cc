#include "covey/setup/assemble.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "covey/base/sha256.h"

namespace covey::setup {
namespace {

// Rounds of the tail when the length of the run is not known beforehand.
constexpr std::uint32_t kDefaultSettleRounds = 30;

Status CheckFits(const config::NodeConfig& config, const data::Dataset& set,
                 const std::string& where) {
  const std::size_t features = nn::Features(config.model);
  if (set.features() != features) {
    return Fail(ErrorCode::kData, where,
                "a sample has " + std::to_string(set.features()) + " values, model.input wants " +
                    std::to_string(features));
  }
  const std::size_t classes = nn::Outputs(config.model);
  if (set.classes() > classes) {
    return Fail(ErrorCode::kData, where,
                "labels go up to " + std::to_string(set.classes() - 1) + ", the last layer has " +
                    std::to_string(classes) + " units");
  }
  return {};
}

Result<NodeData> OpenData(const config::NodeConfig& config) {
  const config::DataSettings& settings = config.data;
  NodeData data;
  Result<data::Dataset> train = data::OpenIdx(settings.train, settings.cache);
  if (!train) return tl::unexpected(train.error());
  data.train = std::move(*train);
  if (Status fits = CheckFits(config, data.train, settings.train.images); !fits) {
    return tl::unexpected(fits.error());
  }
  Result<data::Split> split =
      data::SplitLast(data.train.size(), static_cast<std::size_t>(settings.validation_last));
  if (!split) return tl::unexpected(split.error());
  data.validation = std::move(split->validation);

  std::vector<std::uint32_t> keys;
  if (settings.partition.kind == data::PartitionSettings::Kind::kKey) {
    Result<std::vector<std::uint32_t>> column =
        data::OpenIdxColumn(settings.partition.key_file, settings.cache);
    if (!column) return tl::unexpected(column.error());
    keys = std::move(*column);
  }
  Result<data::Indices> shard = data::Partition(data.train.labels().first(split->train.size()),
                                                data.train.classes(), settings.partition, keys);
  if (!shard) return tl::unexpected(shard.error());
  data.shard = std::move(*shard);

  if (settings.test) {
    data::Source source = *settings.test;
    source.normalize = settings.train.normalize;
    source.classes = settings.train.classes;
    Result<data::Dataset> test = data::OpenIdx(source, settings.cache);
    if (!test) return tl::unexpected(test.error());
    if (Status fits = CheckFits(config, *test, source.images); !fits) {
      return tl::unexpected(fits.error());
    }
    data.test = std::move(*test);
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
  settings.batch = config.data.batch;
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

learner::LinkSettings LinkSettings(const config::NodeConfig& config, const Identity& identity) {
  learner::LinkSettings links;
  session::Settings& session = links.session;
  session.self = identity.key;
  session.session = identity.session;
  session.fleet = Sha256::Of(config.fleet.name);
  session.model = nn::FingerprintOf(config.model);
  session.model_summary = nn::Summary(config.model);
  session.software = "covey";
  session.vector_size = nn::LayoutOf(config.model).size();
  session.checksum = !identity.authenticated;
  session.max_chunk = static_cast<std::uint32_t>(config.network.chunk.value);
  session.credit = config.network.credit;
  session.ping_every = config.network.ping_every;
  session.timeout = config.network.drop_after;
  session.hello_timeout = config.network.handshake;
  links.faults.weights_drop = config.faults.weights_drop;
  links.faults.deltas_drop = config.faults.deltas_drop;
  links.faults.duplicate = config.faults.duplicate;
  links.faults.delay = config.faults.delay;
  links.faults.seed = config.faults.seed;
  links.seed = config.node.seed;
  links.node = config.node.index;
  links.max_links = config.network.max_links;
  links.exchanges_for = config.consensus.pending_for;
  return links;
}

}  // namespace

Result<Assembly> Assemble(const config::NodeConfig& config, const Identity& identity) {
  Result<NodeData> data = OpenData(config);
  if (!data) return tl::unexpected(data.error());
  Assembly assembly;
  assembly.data = std::move(*data);
  assembly.batches_per_epoch =
      (assembly.data.shard.size() + config.data.batch - 1) / config.data.batch;
  assembly.learner = LearnerSettings(config, identity, assembly.batches_per_epoch);
  assembly.links = LinkSettings(config, identity);
  if (config.train.until.kind == config::Until::Kind::kAccuracy) {
    if (assembly.data.validation.empty()) {
      return Fail(ErrorCode::kData, "train.until", "'accuracy' needs a validation set",
                  "set data.validation");
    }
    assembly.until_accuracy = config.train.until.accuracy;
  }
  return assembly;
}

}  // namespace covey::setup
