#include "config/schema.h"

#include <limits>
#include <string_view>
#include <utility>

#include "config/bindings.h"
#include "config/schema_parts.h"

namespace covey::config {
namespace {

constexpr std::size_t kLongestInterface = 15;  // IFNAMSIZ without the end of the text

using std::chrono::hours;
using std::chrono::milliseconds;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void VisitSeed(Visitor& v, Seed& seed) {
  v.Scalar({"key", "Public key of the peer, as it prints it when it starts", true},
           PublicKey(seed.key));
  v.Scalar({"address", "Where the peer listens", true}, DialAddress(seed.address));
}

void VisitLocalNetwork(Visitor& v, NetworkSettings& n) {
  v.List({"interfaces",
          "The only network interfaces to be used, e.g. [wlan0, lo] on a robot that has a metered "
          "modem too; connections by others are cut at once. Empty: all"},
         Texts(n.interfaces, kLongestInterface));
  v.Scalar(
      {"beacon",
       "Finds the nodes of the fleet on the local network, without a seed: each says there every "
       "few seconds where it listens (multicast, IPv4). A hash of the fleet's name and the node's "
       "key can be seen there"},
      Word<bool>(n.beacon, {{true, "on"}, {false, "off"}}));
}

void VisitNetwork(Visitor& v, NetworkSettings& n) {
  v.Scalar({"listen",
            "Where other nodes reach this one; port 0: the system chooses. Only this machine by "
            "default, so that being reachable is a decision",
            false, true},
           ListenAddress(n.listen));
  v.Scalar(
      {"door",
       "Where newcomers with an invitation knock: HOST:PORT beside that of `listen`, and named "
       "in invitations as --seed"},
      OptionalListenAddress(n.door));
  v.Scalar(
      {"advertise",
       "Where others are told to dial this node. auto: where it listens, as it looks from them; "
       "none: nowhere, it only dials out (behind NAT)"},
      AdvertisedAddress(n.advertise));
  v.Items({"seeds",
           "Peers to dial, for ever; the others are found through them. A node without seeds waits "
           "to be "
           "dialled",
           false, true},
          {.size = [&n] { return n.seeds.size(); },
           .resize = [&n](std::size_t size) { n.seeds.resize(size); },
           .visit = [&v, &n](std::size_t i) { VisitSeed(v, n.seeds[i]); }});
  VisitLocalNetwork(v, n);
  v.Section({"peers", "How many of the peers it knows a node deals with"}, [&v, &n] {
    v.Scalar({"active",
              "Links that a node seeks: half of them it dials, drawn at random and refreshed, the "
              "others are dialled to it"},
             Integer(n.peers.active, 1, 4096));
  });
  v.Scalar({"alone", "Nobody to exchange with is no mistake: this node trains by itself"},
           Boolean(n.alone));
  v.Scalar({"chunk",
            "Largest body of a frame. Smaller on slow links: a chunk has to cross within "
            "drop_after / 4"},
           Size(n.chunk, ByteCount{4 << 10}, ByteCount{256 << 10}));
  v.Scalar(
      {"credit", "Chunks that a peer may send before it is granted more; bounds its memory here"},
      Integer(n.credit, 1, 256));
  v.Scalar({"max_links", "Open links; more are refused"}, Integer(n.max_links, 1, 4096));
  constexpr ByteCount kMostBytes{std::uint64_t{1} << 50};
  v.Scalar({"max_rate", "Bytes a second that this node sends at most, over any minute"},
           OptionalSize(n.max_rate, ByteCount{4 << 10}, kMostBytes));
  v.Scalar({"daily_quota", "Bytes that it sends in a day at most, spread evenly over it"},
           OptionalSize(n.daily_quota, ByteCount{1}, kMostBytes));
  v.Scalar({"duty_cycle", "Share of every minute in which it begins to send models"},
           Share(n.duty_cycle));
  v.Scalar({"metered", "The uplink costs money: a daily_quota of 100 MB where none is set"},
           Boolean(n.metered));
  v.Scalar({"ping_every", "A link that is silent for so long is asked whether it lives"},
           Time(n.ping_every, milliseconds(10), hours(1)));
  v.Scalar({"drop_after",
            "A link that is silent for so long is closed; four pings by default, so that one lost "
            "ping closes nothing"},
           Time(n.drop_after, milliseconds(20), hours(4)));
  v.Scalar({"handshake", "A link that has not said hello by then is closed"},
           Time(n.handshake, milliseconds(10), hours(1)));
  v.Scalar({"reconnect_first", "First pause before an unreachable seed is dialled again; doubles"},
           Time(n.reconnect_first, milliseconds(1), hours(1)));
  v.Scalar({"reconnect_most", "Longest such pause: a fleet that comes back is whole after it"},
           Time(n.reconnect_most, milliseconds(1), hours(24)));
}

void VisitSecurity(Visitor& v, SecuritySettings& s) {
  using Mode = SecuritySettings::Mode;
  v.Scalar({"mode",
            "curve: encrypted, peers proven by their keys. none: for measurements and "
            "simulations on one machine"},
           Word<Mode>(s.mode, {{Mode::kCurve, "curve"}, {Mode::kNone, "none"}}));
  v.Scalar(
      {"allow_plaintext_beyond_loopback",
       "Allows mode none on addresses that others can reach: anyone there can read and replace "
       "the model"},
      Boolean(s.allow_plaintext_beyond_loopback));
  v.Scalar({"key_file",
            "This node's identity, made on first start (mode 0600). Empty: identity.key in "
            "node.state_dir",
            false, true},
           Path(s.key_file));
  v.List(
      {"authorized_keys", "Public keys that may connect, besides those of the seeds", false, true},
      {.size = [&s] { return s.authorized_keys.size(); },
       .resize = [&s](std::size_t size) { s.authorized_keys.resize(size); },
       .at = [&s](std::size_t i) { return PublicKey(s.authorized_keys[i]); }});
  v.Scalar({"authorized_keys_file", "More of them, one in a line. Empty: none", false, true},
           Path(s.authorized_keys_file));
}

void VisitLog(Visitor& v, LogSettings& l) {
  using Level = LogSettings::Level;
  using Format = LogSettings::Format;
  v.Scalar({"level", "What is not worth less is written to stderr"},
           Word<Level>(l.level, {{Level::kDebug, "debug"},
                                 {Level::kInfo, "info"},
                                 {Level::kWarning, "warning"},
                                 {Level::kError, "error"}}));
  v.Scalar({"format", "text for people and the journal, json for collectors"},
           Word<Format>(l.format, {{Format::kText, "text"}, {Format::kJson, "json"}}));
}

void VisitIdentity(Visitor& v, NodeSettings& n) {
  v.Scalar(
      {"name", "What people call this node. Empty: the first 8 digits of its key", false, true},
      Text(n.name, 64));
  v.Scalar({"state_dir",
            "Identity, checkpoints and the socket of the local API. Empty: $STATE_DIRECTORY, "
            "$XDG_STATE_HOME/covey or ~/.local/state/covey",
            false, true},
           Path(n.state_dir));
  v.Scalar({"start_paused", "Answer peers but don't train until told to"}, Boolean(n.start_paused));
  v.Scalar({"threads",
            "Of a training step; auto: as many as processors. With more than one the node measures "
            "one against all while it trains and keeps the faster; results are the same"},
           AutoInteger(n.threads, 1, 256));
  v.Scalar({"cpu_limit",
            "Fraction of one processor's time that training takes at most, for a robot that has "
            "other work. Peers are answered without delay all the same"},
           Fraction(n.cpu_limit));
  v.Scalar({"seed", "Of every random choice of the node", false, true}, Integer(n.seed));
  v.Scalar({"index", "Tells nodes that share a seed apart", false, true}, Integer(n.index));
  v.Scalar({"init_index",
            "The same for the initial parameters alone: nodes that share seed and init_index start "
            "equal. Unset: index",
            false, true},
           OptionalInteger(n.init_index));
}

void VisitPublish(Visitor& v, PublishSettings& p) {
  v.Scalar(
      {"models", "Write model.onnx, model.safetensors and latest.json when the model improves"},
      Boolean(p.models));
  v.Scalar({"every", "At most once in this time; the last improvement is always written"},
           Time(p.every, Duration::zero(), hours(24)));
  v.Scalar({"margin",
            "Quality gate: a model that is worse on the hold-out than the published one by more "
            "than this (points of accuracy, or the fraction by which the loss grows) is not "
            "published. Unset: no gate"},
           OptionalReal(p.margin, {.low = 0, .high = 1}));
}

void VisitExpect(Visitor& v, Expect& e) {
  v.Scalar({"accuracy", "Mean over the nodes at least"}, OptionalFraction(e.accuracy));
  v.Scalar({"accuracy_min", "Worst node at least"}, OptionalFraction(e.accuracy_min));
  v.Scalar({"monolithic_accuracy", "Control with all the data at least"},
           OptionalFraction(e.monolithic_accuracy));
  v.Scalar({"gain_over_isolated", "Mean accuracy above that of the isolated nodes at least"},
           OptionalReal(e.gain_over_isolated, {.low = -1, .high = 1}));
  v.Scalar({"spread", "Distance of the models from their mean after settling at most"},
           OptionalReal(e.spread, {.low = 0, .high = kInfinity}));
  v.Scalar({"samples_per_second", "All nodes together at least"},
           OptionalReal(e.samples_per_second, {.low = 0, .high = kInfinity}));
  v.Scalar({"bytes_sent_per_node", "Mean over the nodes at most; 0B: not checked"},
           Size(e.bytes_sent_per_node, ByteCount{0}, ByteCount{std::uint64_t{1} << 50}));
}

}  // namespace

void VisitNode(Visitor& v, NodeConfig& c) {
  v.Section({"fleet", "The nodes that share one model"}, [&v, &c] {
    v.Scalar({"name", "Nodes of another fleet are refused"}, Name(c.fleet.name));
    v.Scalar(
        {"operator_key",
         "Public key, as `covey fleet key` prints it: whoever has its other half invites nodes "
         "and revokes keys, and no file has to be changed for it"},
        OptionalPublicKey(c.fleet.operator_key));
  });
  v.Section({"node", "This node"}, [&v, &c] { VisitIdentity(v, c.node); });
  v.Section({"network", "How nodes reach each other"}, [&v, &c] { VisitNetwork(v, c.network); });
  v.Section({"security", "Who may take part"}, [&v, &c] { VisitSecurity(v, c.security); });
  v.Section({"model", "The network that all nodes of the fleet train", true},
            [&v, &c] { VisitModel(v, c.model); });
  v.Section({"data", "What this node learns from; it never leaves the node", true},
            [&v, &c] { VisitData(v, c.data, nn::HasLabels(c.model)); });  // c.model is read by now
  v.Section({"train", "Local training"}, [&v, &c] { VisitTrain(v, c.train); });
  v.Section(
      {"consensus", "Consensus Learning: train N batches, send M models, average what came in"},
      [&v, &c] { VisitConsensus(v, c.consensus); });
  v.Section({"faults", "What goes wrong, for experiments"}, [&v, &c] { VisitFaults(v, c.faults); });
  v.Section({"publish", "The best model, as files for other programs in model/ of node.state_dir"},
            [&v, &c] { VisitPublish(v, c.publish); });
  v.Section({"api", "Local API for covey and for programs on the same machine"}, [&v, &c] {
    v.Scalar({"listen", "Path of the socket. Empty: api.sock in node.state_dir", false, true},
             Path(c.api.listen));
  });
  v.Section({"http", "The same questions over HTTP, for programs on the same machine"}, [&v, &c] {
    v.Scalar({"enabled", "Serve POST /v1/predict and GET /healthz"}, Boolean(c.http.enabled));
    v.Scalar({"listen", "HOST:PORT; there is no authentication, so only loopback is taken"},
             ListenAddress(c.http.listen));
  });
  v.Section({"log", "What the daemon says about itself"}, [&v, &c] { VisitLog(v, c.log); });
}

void VisitExperiment(Visitor& v, Experiment& e) {
  using Init = Experiment::Init;
  using Controls = Experiment::Controls;
  using Mode = Experiment::Mode;
  v.Section({"experiment", "How many nodes, and what differs between them", true}, [&v, &e] {
    v.Scalar({"name", "Of the folder with the results"}, Name(e.name));
    v.Scalar({"nodes", "Nodes of the fleet", true}, Integer(e.nodes, 1, 1024));
    v.Section({"partition", "How the training samples are divided among them"},
              [&v, &e] { VisitPartition(v, e.partition, false); });
    v.Scalar({"init", "Whether nodes start with the same parameters; the paper: distinct"},
             Word<Init>(e.init, {{Init::kDistinct, "distinct"}, {Init::kSame, "same"}}));
    v.Overrides({"overrides",
                 "By index of a node: start_after, and any scalar of a node file; controls: of "
                 "both controls"},
                e.overrides);
    v.Scalar({"controls", "Runs beside it: one model on all the data; nodes that never exchange"},
             Word<Controls>(e.controls, {{Controls::kNone, "none"},
                                         {Controls::kMonolithic, "monolithic"},
                                         {Controls::kIsolated, "isolated"},
                                         {Controls::kAll, "all"}}));
    v.Scalar({"mode", "process: real daemons. virtual: one process on a virtual clock, repeatable"},
             Word<Mode>(e.mode, {{Mode::kProcess, "process"}, {Mode::kVirtual, "virtual"}}));
    v.Scalar({"seed", "Of everything random in the experiment"}, Integer(e.seed));
  });
  v.Section({"expect", "What must come out; the exit code says whether it did"},
            [&v, &e] { VisitExpect(v, e.expect); });
  VisitNode(v, e.node);
}

void VisitOverride(Visitor& v, Override& own, NodeConfig& config) {
  v.Scalar({"start_after", "This node starts so much later than the others"},
           Time(own.start_after, Duration::zero(), hours(24)));
  VisitNode(v, config);
}

void Complete(NodeConfig& config) {
  const bool labels = nn::Validate(config.model) && nn::HasLabels(config.model);
  config.data.train.classes = labels ? static_cast<std::uint32_t>(nn::Outputs(config.model)) : 0;
  if (!config.data.test) return;
  config.data.test->normalize = config.data.train.normalize;
  config.data.test->scale = config.data.train.scale;
  config.data.test->csv_settings = config.data.train.csv_settings;
  config.data.test->image_fit = config.data.train.image_fit;
  config.data.test->windows = config.data.train.windows;
  config.data.test->classes = config.data.train.classes;
}

NodeConfig ExampleNode() {
  NodeConfig config;
  config.model.input = {28, 28};
  config.model.layers = {nn::Dense{.units = 72, .activation = nn::Activation::kRelu},
                         nn::Dense{.units = 10}};
  const std::string folder = "/usr/share/datasets/fashion-mnist/";
  config.data.train.images = folder + "train-images-idx3-ubyte.gz";
  config.data.train.labels = folder + "train-labels-idx1-ubyte.gz";
  Complete(config);
  return config;
}

}  // namespace covey::config
