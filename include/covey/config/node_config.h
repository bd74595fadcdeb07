// Everything that a node can be told by its configuration file, as plain structs.
//
// Units: durations and sizes carry theirs in the type; fractions are 0 to 1. Defaults here are the
// product's defaults; configs/node.yaml, generated from the same description, gives the reason of
// each. Paths may be empty after loading: FillPaths (config/paths.h) puts the defaults that depend
// on the machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "covey/base/bytes.h"
#include "covey/base/ids.h"
#include "covey/base/time.h"
#include "covey/config/address.h"
#include "covey/config/fault_settings.h"
#include "covey/consensus/settings.h"
#include "covey/data/dataset.h"
#include "covey/data/live.h"
#include "covey/data/partition.h"
#include "covey/nn/model.h"
#include "covey/optim/optimizer.h"

namespace covey::config {

struct FleetSettings {
  std::string name = "covey";           // nodes of another fleet are refused
  std::optional<PeerKey> operator_key;  // Ed25519; who may invite and revoke
};

struct NodeSettings {
  std::string name;       // empty: the first 8 digits of the node's key
  std::string state_dir;  // identity, checkpoints, socket of the local API
  bool start_paused = false;
  std::optional<std::uint32_t> threads = 1;  // of a training step; unset: as many as processors
  double cpu_limit = 1;    // fraction of one processor's time that training takes at most, (0, 1]
  std::uint64_t seed = 1;  // of every random stream of the node
  std::uint32_t index =
      0;  // second key of the streams: nodes of one experiment share the seed and differ here
  std::optional<std::uint32_t> init_index;  // index for the initial parameters alone; unset: index
};

struct Seed {
  PeerKey key;
  HostPort address;
};

// What a node tells others about where it can be dialled.
struct Advertise {
  enum class Kind { kAuto, kNone, kAddress };  // kAuto: where it listens
  Kind kind = Kind::kAuto;
  HostPort address{};  // kAddress

  bool operator==(const Advertise&) const = default;
};

struct PeersSettings {
  std::uint32_t active = 16;  // links that a node seeks, 1 to 4096
};

struct NetworkSettings {
  HostPort listen{"127.0.0.1", 7420};  // port 0: the system chooses
  std::optional<HostPort> door;        // where newcomers with an invitation knock
  Advertise advertise;
  PeersSettings peers;
  std::vector<std::string> interfaces;   // the only ones to be used; empty: all
  bool beacon = false;                   // tells and hears who is on the local network
  bool alone = false;                    // nobody to exchange with, and no mistake
  std::vector<Seed> seeds;               // peers that are dialled, again and again
  ByteCount chunk{256ull << 10};         // body of a frame, 4 KiB to 256 KiB
  std::uint32_t credit = 8;              // chunks that a peer may send ahead, 1 to 256
  std::uint32_t max_links = 256;         // open links, 1 to 4096
  std::optional<ByteCount> max_rate;     // sent in a second, over any minute; at least 4 KiB
  std::optional<ByteCount> daily_quota;  // sent in a day
  double duty_cycle = 1;                 // share of every minute in which models are sent, (0, 1]
  bool metered = false;                  // a daily_quota of 100 MB where none is set
  Duration ping_every = std::chrono::seconds(5);  // a silent link is asked after this long
  Duration drop_after =
      std::chrono::seconds(20);                  // and closed after this long; more than ping_every
  Duration handshake = std::chrono::seconds(5);  // a link that has not said hello by then is closed
  Duration reconnect_first =
      std::chrono::milliseconds(200);  // back-off of a seed that cannot be reached
  Duration reconnect_most = std::chrono::seconds(60);
};

struct SecuritySettings {
  enum class Mode { kCurve, kNone };
  Mode mode = Mode::kCurve;
  bool allow_plaintext_beyond_loopback = false;
  std::string key_file;                  // empty: <state_dir>/identity.key; made on first start
  std::vector<PeerKey> authorized_keys;  // who may connect, besides the seeds
  std::string authorized_keys_file;      // more of them, one in a line; empty: none
};

// `normalize` and `classes` of `train` hold for `test` too: loading copies the first, and takes the
// second from the model's last layer.
struct DataSettings {
  data::Source train;  // no file at all: only with `live`
  std::optional<data::LiveSettings> live;
  std::optional<data::Source> test;
  data::HoldOut hold_out;        // a test set out of `train`
  data::LabelNames labels;       // names of the classes in their order; empty: as the files say
  data::Standard normalization;  // kGiven: 1 number, one a channel, or one a feature
  // So many samples at the end of `train` are kept for validation, and this share of the others
  // (data::IsSetAside).
  std::uint64_t validation_last = 0;
  double validation_share = 0;
  std::uint32_t batch = 32;           // samples in a mini-batch; 0, written `all`: the whole shard
  data::PartitionSettings partition;  // of the training samples that remain

  bool has_train() const { return train.alone() || !train.images.empty(); }
  std::string cache;  // where gzipped files are unpacked; empty: FillPaths
};

// When training ends.
struct Until {
  enum class Kind { kForever, kBatches, kEpochs, kAccuracy };
  Kind kind = Kind::kForever;
  std::uint64_t batches = 0;  // kBatches
  double epochs = 0;          // kEpochs: passes over this node's shard
  double accuracy = 0;        // kAccuracy: on the validation set

  bool operator==(const Until&) const = default;
  // Returns: batches to train when an epoch has `batches_per_epoch` of them; 0: no limit in
  // batches.
  std::uint64_t Batches(std::uint64_t batches_per_epoch) const {
    if (kind == Kind::kBatches) return batches;
    if (kind != Kind::kEpochs) return 0;
    return static_cast<std::uint64_t>(std::ceil(epochs * static_cast<double>(batches_per_epoch)));
  }
};

// The gossip-only tail: rounds of exchange without training, as a fraction of the training rounds
// or absolute.
struct Settle {
  double fraction = 0.03;
  std::optional<std::uint32_t> rounds;  // set: `fraction` does not count

  bool operator==(const Settle&) const = default;
  std::uint32_t Rounds(std::uint64_t training_rounds) const {
    if (rounds) return *rounds;
    return static_cast<std::uint32_t>(std::ceil(fraction * static_cast<double>(training_rounds)));
  }
};

// How long a node that is done keeps answering its peers.
struct Linger {
  bool forever = true;  // until it is told to leave
  Duration time{};      // when not for ever; zero: it ends at once

  bool operator==(const Linger&) const = default;
};

struct EvaluateSettings {
  enum class Every { kNever, kBatches, kEpochs };
  Every every = Every::kEpochs;
  std::uint64_t batches = 0;  // kBatches
  double epochs = 1;          // kEpochs

  // Returns: batches between two evaluations (at least 1), 0: never.
  std::uint64_t Batches(std::uint64_t batches_per_epoch) const {
    if (every == Every::kBatches) return batches;
    if (every == Every::kNever) return 0;
    const double exact = std::ceil(epochs * static_cast<double>(batches_per_epoch));
    return exact < 1 ? 1 : static_cast<std::uint64_t>(exact);
  }
};

struct TrainSettings {
  optim::Settings optimizer;
  Until until;
  Settle settle;
  float average = 0;  // decay of the published moving average in a round; 0: the model itself
  Linger linger;
  EvaluateSettings evaluate;
  Duration checkpoint_every = std::chrono::minutes(5);
};

// The best model so far, as files for other programs in <state_dir>/model.
struct PublishSettings {
  bool models = true;
  Duration every = std::chrono::seconds(10);  // at most once in this time; the last one always
  // Never publish a model that is worse on the hold-out than the published one by more than this
  // (accuracy in points from 0 to 1, else the fraction by which the loss grows); unset: the best.
  std::optional<double> margin;
};

struct HttpSettings {
  bool enabled = false;
  HostPort listen{"127.0.0.1", 7421};  // port 0: the system chooses
};

struct ApiSettings {
  std::string listen;  // path of the socket; empty: <state_dir>/api.sock
};

struct LogSettings {
  enum class Level { kDebug, kInfo, kWarning, kError };
  enum class Format { kText, kJson };
  Level level = Level::kInfo;
  Format format = Format::kText;
};

struct NodeConfig {
  FleetSettings fleet;
  NodeSettings node;
  NetworkSettings network;
  SecuritySettings security;
  nn::ModelSpec model;
  DataSettings data;
  TrainSettings train;
  // until_batches, settle_rounds and publish_batches stay 0 here: whoever opens the data computes
  // them from `train` and the size of the shard.
  consensus::Settings consensus;
  FaultSettings faults;
  PublishSettings publish;
  ApiSettings api;
  HttpSettings http;
  LogSettings log;
};

}  // namespace covey::config
