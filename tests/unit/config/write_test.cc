// Writing, the list of keys, the template, Set and paths.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "config/schema.h"
#include "covey/config/paths.h"
#include "unit/config/support.h"

namespace covey::config {
namespace {

using testing::HasSubstr;

std::string UnusualNetwork() {
  return R"(network:
  listen: "[::1]:0"
  door: "[::1]:7430"
  interfaces: [wlan0, lo]
  seeds:
    - {key: )" +
         std::string(64, '1') + R"(, address: "[fe80::1%wlan0]:7420"}
    - {key: )" +
         std::string(64, 'b') + R"(, address: robot2.local:1}
  advertise: gate.example:7000
  peers: {active: 5}
  beacon: on
  alone: true
  chunk: 5000B
  credit: 3
  max_links: 9
  max_rate: 5MB
  daily_quota: 6MB
  duty_cycle: 0.5
  metered: true
  ping_every: 1500ms
  drop_after: 7s
  handshake: 2s
  reconnect_first: 1ms
  reconnect_most: 3s
)";
}

// A node file with every key away from its default.
std::string Unusual() {
  return R"(fleet: {name: robots-7, operator_key: )" + std::string(64, '3') + R"(}
node: {name: "Jürgen's \"robot\": a", state_dir: /tmp/a b, start_paused: true, threads: auto,
  cpu_limit: 0.25, seed: 18446744073709551615, index: 3, init_index: 0}
)" + UnusualNetwork() +
         R"(security: {mode: none, allow_plaintext_beyond_loopback: true, key_file: key,
  authorized_keys: [)" +
         std::string(64, '2') + R"(], authorized_keys_file: "null"}
model:
  input: [3, 5]
  layers: [{dense: {units: 7, activation: relu}}, {dense: {units: 4}}]
  loss: huber
  huber_delta: 2.5
  init: he_normal
  numerics: portable
data:
  train: {images: "- a", targets: "#b"}
  test: {images: c, targets: d}
  text_step: 2
  validation: {last: 17, share: 0.125}
  normalize: given
  normalization: {mean: [0.1, -3], std: [0.25, 1e-3]}
  batch: 5
  partition: {kind: iid, index: 1, of: 3, rate: 33.3%, alpha: 0.1, key_file: k, key: 8, seed: 9}
  cache: .cache
train:
  optimizer: {kind: sgd, learning_rate: 0.1, momentum: 0.7, beta1: 0.1, beta2: 0.2, epsilon: 0.3,
    beta: 0.4, mu: 0.6, mixing_limit: 3, correction: 0.3, correction_fade: 0.02, exchanged: true,
    weight_decay: 0.01, nesterov: true, decay: 0.8,
    blend: 0.75, eta_minus: 0.4, eta_plus: 1.3, step_initial: 0.2, step_min: 0.001, step_max: 20}
  schedule: {kind: cosine, warmup: 10, every: 11, drop: 0.5, length: 1000, floor: 0.05}
  clip: {norm: 1.5, value: 0.25}
  until: {epochs: 0.123456789}
  settle: 120 rounds
  average: 0.75
  linger: 1h
  evaluate: {every: {batches: 11}}
  checkpoint_every: 90s
consensus: {batches: 2, batches_most: 9, sends: 3, segments: 2, weigh: samples,
  gamma: 0.1, gamma_by_age: true, drain: round, reply: false,
  max_distance: 7.5, limit_in_flight: false, pending_for: 1s, join: true, join_retry: 3s,
  settle_patience: 4s,
  encoding: {weights: bf16, deltas: bf16}, fifo: {weights: 5, deltas: 6, bytes: 1MiB}}
faults: {weights_drop: 0.1234567891, deltas_drop: 7%, duplicate: 1, delay: 3ms, seed: 4,
  reorder: 5ms, corrupt: 0.5, cut: 0.25, throttle: 7kB}
publish: {models: false, every: 9s, margin: 0.25}
api: {listen: /run/a.sock}
http: {enabled: true, listen: "127.0.0.1:7500"}
log: {level: error, format: json}
)";
}

// What only a simulator honours, and therefore only an experiment may say.
std::string UnusualWorld() {
  return "experiment: {nodes: 8, mode: virtual}\ntrain: {until: {epochs: 1}}\n" + SmallNode() +
         R"(faults:
  links:
    delay: 20ms
    delay_min: 6ms
    delay_tail: 0.75
    bandwidth: 1MiB
    clog_every: 9s
    clog_for: 2s
    topology: {kind: file, peers: 6, refresh: 8s, degree: 3, file: t,
      range: 4, area: 50, velocity: 2}
  partitions:
    - {at: 1s, for: 2s, groups: 0-3 | 4, one_way: true}
  nodes:
    samples_per_second: 500
    speed: 0.1
    speed_spread: 0.2
    pause_every: 11s
    pause_for: 12s
    crash_at: 13s
    crash_every: 14s
    down_for: 15s
    leave_at: 16s
)";
}

TEST(WriteYaml, ReadsTheSimulatedWorldBack) {
  const auto loaded = ParseExperiment(UnusualWorld(), "e.yaml");
  ASSERT_TRUE(loaded) << loaded.error().Format();
  const auto again = ParseExperiment(WriteYaml(loaded->value), "again.yaml");
  ASSERT_TRUE(again) << again.error().Format();
  const FaultSettings& a = again->value.node.faults;
  const FaultSettings& b = loaded->value.node.faults;
  EXPECT_EQ(a.links, b.links);
  EXPECT_EQ(a.partitions, b.partitions);
  EXPECT_EQ(a.nodes, b.nodes);
  EXPECT_EQ(a.links.topology.kind, TopologySettings::Kind::kFile);
  EXPECT_EQ(a.nodes.speed, 0.1);
}

TEST(WriteYaml, ReadsBackTheSame) {
  const auto loaded = ParseNode(Unusual(), "n.yaml");
  ASSERT_TRUE(loaded) << loaded.error().Format();
  const std::string text = WriteYaml(loaded->value);
  const auto again = ParseNode(text, "again.yaml");
  ASSERT_TRUE(again) << again.error().Format();
  EXPECT_EQ(WriteYaml(again->value), text);
  // The text is not the whole truth: some values, field by field.
  const NodeConfig& a = again->value;
  EXPECT_EQ(a.node.name, "Jürgen's \"robot\": a");
  EXPECT_EQ(a.node.seed, 18446744073709551615u);
  EXPECT_EQ(a.node.init_index, 0u);
  EXPECT_EQ(a.network.seeds[0].address, (HostPort{"fe80::1%wlan0", 7420}));
  EXPECT_EQ(a.network.chunk, ByteCount{5000});
  EXPECT_EQ(a.security.authorized_keys_file, "null");
  EXPECT_EQ(a.data.train.images, "- a");
  EXPECT_EQ(a.data.train.targets, "#b");
  EXPECT_EQ(a.data.test->normalize, data::Normalize::kGiven);
  EXPECT_EQ(a.data.normalization, (data::Standard{.mean = {0.1f, -3}, .std = {0.25f, 0.001f}}));
  EXPECT_EQ(a.data.partition.rate, loaded->value.data.partition.rate);
  EXPECT_EQ(a.train.until, (Until{Until::Kind::kEpochs, 0, 0.123456789, 0}));
  EXPECT_EQ(a.train.settle.Rounds(1), 120u);
  EXPECT_EQ(a.train.linger, (Linger{false, std::chrono::hours(1)}));
  EXPECT_EQ(a.train.optimizer, loaded->value.train.optimizer);
  EXPECT_EQ(a.consensus.gamma, 0.1f);
  EXPECT_EQ(a.faults.weights_drop, 0.1234567891);
}

data::CsvSettings TableSettings() {
  return {.label = "kind",
          .targets = {"a", "b c"},
          .key = "device",
          .features = {"f", "2"},
          .ignore = {"1"},
          .categories = {"x=a|b"},
          .header = data::CsvSettings::Header::kNo,
          .missing = data::CsvSettings::Missing::kDrop,
          .separator = "tab"};
}

TEST(WriteYaml, TablesAndWhatIsHeldOutComeBack) {
  NodeConfig config = ParseNode(SmallNode(), "n")->value;
  config.data.train = {};
  config.data.train.csv = "a.csv";
  config.data.train.csv_settings = TableSettings();
  config.data.hold_out = {.keys = "1-3, 7", .last = 5};
  const auto again = ParseNode(WriteYaml(config), "again.yaml");
  ASSERT_TRUE(again) << again.error().Format();
  EXPECT_EQ(again->value.data.train.csv, "a.csv");
  EXPECT_EQ(again->value.data.train.csv_settings, TableSettings());
  EXPECT_EQ(again->value.data.hold_out, config.data.hold_out);
}

TEST(WriteYaml, NamesOfClassesAndAScaleComeBack) {
  const std::string text =
      "model: {input: [4], layers: [{dense: {units: 2}}]}\n"
      "data: {train: {images: i, labels: l}, normalize: {scale: 0.125}, labels: ['yes', \"a, "
      "b\"]}\n";
  const auto again = ParseNode(WriteYaml(ParseNode(text, "n")->value), "again.yaml");
  ASSERT_TRUE(again) << again.error().Format();
  EXPECT_EQ(again->value.data.train.normalize, data::Normalize::kScale);
  EXPECT_EQ(again->value.data.train.scale, 0.125f);
  EXPECT_EQ(again->value.data.labels, (data::LabelNames{"yes", "a, b"}));
}

// Guards the test above: a key that it leaves at its default would not be tested at all.
TEST(WriteYaml, RoundTripCoversEveryKey) {
  NodeConfig defaults = ExampleNode();
  defaults.data.test = data::Source{"i", "l"};
  defaults.data.test->targets = "t";
  const auto lines = [](const std::string& text) {
    std::vector<std::string> all;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      all.push_back(text.substr(at, text.find('\n', at) - at));
    }
    return all;
  };
  std::multiset<std::string> common;
  NodeConfig all = ParseNode(Unusual(), "n")->value;
  const FaultSettings world = ParseExperiment(UnusualWorld(), "e")->value.node.faults;
  all.faults.links = world.links;
  all.faults.partitions = world.partitions;
  all.faults.nodes = world.nodes;
  all.data.hold_out = {.keys = "1-3, 7", .last = 5};
  all.data.train.csv_settings = TableSettings();
  all.data.train.csv = all.data.test->csv = "table.csv";
  all.data.train.folder = all.data.test->folder = "photos";
  all.data.train.cifar = all.data.test->cifar = "batches";
  all.data.train.text = all.data.test->text = "book.txt";
  all.data.train.recordings = all.data.test->recordings = "recordings";
  all.data.train.windows = {.step = 7, .key = "s(*)", .label = "(*)/*", .agree = 0.5};
  all.data.train.image_fit = data::ImageFit::kResize;
  all.data.labels = {"of", "a", "model", "with", "classes"};
  const auto unusual = lines(WriteYaml(all));
  for (const std::string& line : lines(WriteYaml(defaults))) {
    const bool header = line.ends_with(":") || line.find("activation") != std::string::npos;
    if (header || std::find(unusual.begin(), unusual.end(), line) == unusual.end()) continue;
    common.insert(line);
  }
  EXPECT_THAT(common, testing::IsEmpty());
}

TEST(WriteYaml, Experiments) {
  const auto loaded = ParseExperiment(
      "experiment:\n"
      "  name: e\n"
      "  nodes: 4\n"
      "  partition: {kind: dirichlet, alpha: 0.2}\n"
      "  init: same\n"
      "  overrides:\n"
      "    3: {start_after: 10s, consensus: {sends: 2, gamma: auto}, train: {until: {epochs: 5}}}\n"
      "    1: {log: {level: debug}}\n"
      "    controls: {train: {optimizer: {kind: adam}}}\n"
      "  controls: isolated\n"
      "  mode: virtual\n"
      "  seed: 7\n"
      "expect: {accuracy: 0.5, gain_over_isolated: -0.25, samples_per_second: 1000}\n"
      "train: {until: {batches: 3}}\n" +
          SmallNode(),
      "e.yaml");
  ASSERT_TRUE(loaded) << loaded.error().Format();
  const std::string text = WriteYaml(loaded->value);
  EXPECT_THAT(text, HasSubstr("  overrides:\n"
                              "    1:\n"
                              "      start_after: 0s\n"
                              "      log:\n"
                              "        level: debug\n"
                              "    3:\n"
                              "      start_after: 10s\n"
                              "      train:\n"
                              "        until: {epochs: 5}\n"
                              "      consensus:\n"
                              "        sends: 2\n"
                              "        gamma: auto\n"
                              "    controls:\n"
                              "      train:\n"
                              "        optimizer:\n"
                              "          kind: adam\n"));
  const auto again = ParseExperiment(text, "again.yaml");
  ASSERT_TRUE(again) << again.error().Format() << text;
  EXPECT_EQ(WriteYaml(again->value), text);
  EXPECT_EQ(again->value.overrides.nodes.at(3).start_after, std::chrono::seconds(10));
  EXPECT_EQ(again->value.expect.gain_over_isolated, -0.25);
  EXPECT_FALSE(again->value.expect.spread);
}

TEST(Describe, EveryKeyIsExplained) {
  std::vector<KeyInfo> keys = DescribeNode();
  for (KeyInfo& key : DescribeExperiment()) keys.push_back(std::move(key));
  EXPECT_GT(keys.size(), 100u);
  std::set<std::string> paths;
  for (const KeyInfo& key : keys) {
    EXPECT_TRUE(paths.insert(key.path).second) << key.path << " is described twice";
    EXPECT_FALSE(key.doc.empty()) << key.path;
    EXPECT_FALSE(key.type.empty()) << key.path;
    EXPECT_FALSE(key.required && !key.default_value.empty()) << key.path;
  }
  for (const char* path :
       {"network.seeds[].key", "model.layers[].dense.units", "model.layers[].conv2d.kernel",
        "model.layers[].flatten", "model.layers[].activation", "data.test.images",
        "consensus.fifo.bytes", "experiment.overrides", "expect.accuracy_min"}) {
    EXPECT_EQ(paths.count(path), 1u) << path;
  }
}

TEST(Template, IsTheFileInConfigs) {
  const std::string path = SourcePath("configs/node.yaml");
  if (std::getenv("COVEY_REWRITE") != nullptr) std::ofstream(path) << NodeTemplate();
  EXPECT_EQ(ReadAll(path), NodeTemplate())
      << "regenerate it: COVEY_REWRITE=1 unit_config_test --gtest_filter=Template.*";
}

TEST(Template, MentionsEveryKeyWithItsTrueDefault) {
  const std::string text = ReadAll(SourcePath("configs/node.yaml"));
  const auto loaded = ParseNode(text, "node.yaml");
  ASSERT_TRUE(loaded) << loaded.error().Format();
  EXPECT_THAT(loaded->warnings, testing::IsEmpty());
  EXPECT_EQ(WriteYaml(loaded->value), WriteYaml(ExampleNode()));
  for (const KeyInfo& key : DescribeNode()) {
    const std::string name = key.path.substr(key.path.rfind('.') + 1);
    const std::string last = key.type == "word" ? "- " + name : name + ":";
    EXPECT_THAT(text, HasSubstr(last)) << key.path;
    // Compared as text, wherever the comment was wrapped.
    const std::string words = key.doc.substr(0, key.doc.find(' '));
    EXPECT_THAT(text, HasSubstr(words)) << key.path;
  }
}

// The template differs from a default-constructed node in required keys only.
TEST(Template, ExamplesAreOnlyForRequiredKeys) {
  NodeConfig example = ExampleNode();
  example.model = NodeConfig{}.model;
  example.data.train = NodeConfig{}.data.train;
  EXPECT_EQ(WriteYaml(example), WriteYaml(NodeConfig{}));
}

TEST(Set, OneKey) {
  NodeConfig config = ExampleNode();
  EXPECT_TRUE(Set(config, "consensus.sends", "2"));
  EXPECT_EQ(config.consensus.sends, 2u);
  EXPECT_TRUE(Set(config, "train.until", "epochs 5"));
  EXPECT_EQ(config.train.until, (Until{Until::Kind::kEpochs, 0, 5, 0}));
  EXPECT_TRUE(Set(config, "train.until", "forever"));
  EXPECT_EQ(config.train.until.kind, Until::Kind::kForever);
  EXPECT_TRUE(Set(config, "node.name", "12"));
}

TEST(Set, RefusesAndChangesNothing) {
  NodeConfig config = ExampleNode();
  const std::string before = WriteYaml(config);
  const auto what = [&config](const std::string& key, const std::string& value) {
    const Status status = Set(config, key, value);
    return status ? "set" : status.error().Format();
  };
  EXPECT_EQ(what("consensus.sned", "2"),
            "consensus.sned: unknown key; did you mean 'consensus.sends'?");
  EXPECT_EQ(what("consensus.sends", "two"),
            "consensus.sends: 'two' is not an integer; want an integer, 0 to 1000");
  EXPECT_EQ(what("network.seeds", "a"), "network.seeds: is a list; lists are set in the file only");
  EXPECT_THAT(what("train.until", "epochs"), HasSubstr("want one of forever"));
  EXPECT_THAT(what("train.until", "epochs 0"), HasSubstr("out of range"));
  EXPECT_THAT(what("consensus", "2"), HasSubstr("consensus: is a section; its keys: batches, "));
  EXPECT_EQ(WriteYaml(config), before);
}

TEST(FillPaths, FollowsTheEnvironment) {
  const auto fill = [](const Environment& environment) {
    NodeConfig config;
    FillPaths(config, environment);
    return config.node.state_dir + " " + config.security.key_file + " " + config.api.listen + " " +
           config.data.cache;
  };
  EXPECT_EQ(fill({.state_directory = "/s:/t",
                  .xdg_state_home = "/x",
                  .xdg_cache_home = "/c",
                  .home = "/h"}),
            "/s /s/identity.key /s/api.sock /c/covey");
  EXPECT_EQ(
      fill({.state_directory = "", .xdg_state_home = "/x", .xdg_cache_home = "", .home = "/h"}),
      "/x/covey /x/covey/identity.key /x/covey/api.sock /h/.cache/covey");
  EXPECT_EQ(
      fill({.state_directory = "", .xdg_state_home = "", .xdg_cache_home = "", .home = "/h"}),
      "/h/.local/state/covey /h/.local/state/covey/identity.key /h/.local/state/covey/api.sock "
      "/h/.cache/covey");
  EXPECT_EQ(fill({}),
            "covey-state covey-state/identity.key covey-state/api.sock covey-state/cache");
}

TEST(FillPaths, LeavesWhatIsGiven) {
  NodeConfig config = ParseNode(Unusual(), "n")->value;
  const std::string before = WriteYaml(config);
  FillPaths(config,
            {.state_directory = "/s", .xdg_state_home = "", .xdg_cache_home = "/c", .home = ""});
  EXPECT_EQ(WriteYaml(config), before);
}

}  // namespace
}  // namespace covey::config
