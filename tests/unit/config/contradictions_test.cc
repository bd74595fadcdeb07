// Keys that are each legal and together are not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/schema.h"
#include "unit/config/support.h"

namespace covey::config {
namespace {

TEST(Contradictions, HttpStaysOnThisMachine) {
  NodeConfig config = ExampleNode();
  config.http.listen = {"0.0.0.0", 7421};
  const auto of_http = [&] {
    int found = 0;
    for (const Problem& problem : Contradictions(config)) found += problem.path == "http.listen";
    return found;
  };
  EXPECT_EQ(of_http(), 0);
  config.http.enabled = true;
  EXPECT_EQ(of_http(), 1);
  config.http.listen.host = "127.0.0.1";
  EXPECT_EQ(of_http(), 0);
}

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Plaintext, IsRefusedBeyondLoopback) {
  const std::string open = "security: {mode: none}\nnetwork:\n  listen: 0.0.0.0:7420\n";
  EXPECT_EQ(
      Errors(SmallNode(open)),
      "n.yaml:5:11: error: network.listen: '0.0.0.0:7420' is beyond loopback, and security.mode "
      "is none\n"
      "    5 |   listen: 0.0.0.0:7420\n"
      "      |           ^~~~~~~~~~~~ use mode curve, or set "
      "security.allow_plaintext_beyond_loopback: true if anyone there may read and replace the "
      "model\n");
  const std::string key(64, 'a');
  EXPECT_THAT(
      Errors(SmallNode("security: {mode: none}\nnetwork:\n  seeds:\n    - key: " + key +
                       "\n      address: robot2.local:7420\n")),
      HasSubstr("n.yaml:7:16: error: network.seeds[0].address: 'robot2.local:7420' is beyond"));
}

TEST(Operator, IsAKeyAndADoorNeedsOne) {
  const std::string key = "fleet: {operator_key: " + std::string(64, 'a') + "}\n";
  const std::string door = "network: {door: 127.0.0.1:7430}\n";
  EXPECT_EQ(Errors(SmallNode(key)), "loaded");
  EXPECT_EQ(Errors(SmallNode(key + door)), "loaded");
  EXPECT_EQ(Errors(SmallNode("fleet: {operator_key: none}\nnetwork: {door: none}\n")), "loaded");
  EXPECT_THAT(Errors(SmallNode(door)), HasSubstr("network.door: nobody can be let in there"));
  EXPECT_THAT(Errors(SmallNode("fleet: {operator_key: abc}\n")), HasSubstr("64 hex digits"));
  EXPECT_THAT(Errors(SmallNode(key + "network: {door: here}\n")), HasSubstr("network.door"));
}

TEST(LiveData, GoWithoutFilesAndNotWithAllKeys) {
  const std::string model = "model: {input: [4], layers: [{dense: {units: 2}}]}\n";
  EXPECT_EQ(Errors(model + "data: {live: {}}\n"), "loaded");
  EXPECT_EQ(Errors(model + "data: {live: {keep: newest}, train: {images: i, labels: l}}\n"),
            "loaded");
  EXPECT_THAT(Errors(model + "data: {live: {}, train: {images: i}}\n"), HasSubstr("labels"));
  EXPECT_THAT(Errors(model + "data: {normalize: none}\n"), HasSubstr("data.train"));
  EXPECT_THAT(Errors(model + "data: {live: {}, batch: all}\n"), HasSubstr("no whole"));
  EXPECT_EQ(Errors(model + "data: {live: {}, csv: {features: [a, b, c, d]}}\n"), "loaded");
  EXPECT_THAT(Errors(model + "data: {live: {}, csv: {features: [a, b]}}\n"),
              HasSubstr("makes 2 features, and the model reads 4"));
  const auto of_size = [](const std::string& extent) {
    return "model: {input: [" + extent +
           "], layers: [{dense: {units: 2}}]}\nsecurity: {mode: none}\ndata: {live: {}}\n";
  };
  EXPECT_EQ(Errors(of_size("6, 611669")), "loaded") << "and two outputs: 14 MiB";
  EXPECT_THAT(Errors(of_size("6, 611670")), HasSubstr("wanted at most 14MiB"));
  EXPECT_THAT(Errors(model + "data: {live: {}, validation: {last: 5}}\n"), HasSubstr("no last"));
  EXPECT_THAT(Errors(model + "data: {live: {}, normalize: standard}\n"), HasSubstr("fitted"));
  EXPECT_THAT(Errors(model + "data: {live: {}, hold_out: {last: 5}}\n"), HasSubstr("taken out"));
  EXPECT_THAT(Errors(model + "data: {live: {start_at: 11, max_samples: 10}}\n"),
              HasSubstr("max_samples keeps"));
  EXPECT_EQ(Errors(model + "data: {live: {start_at: 10, max_samples: 10}}\n"), "loaded");
  EXPECT_THAT(Errors(model + "data: {live: {}}\ntrain: {until: {epochs: 3}}\n"),
              HasSubstr("no passes"));
  EXPECT_THAT(ExperimentErrors("experiment: {nodes: 2}\n" + model +
                               "data: {live: {}, train: {images: i, labels: l}}\n"),
              HasSubstr("data that are there"));
}

TEST(Plaintext, IsAllowedOnLoopbackOrExpressly) {
  EXPECT_EQ(Errors(SmallNode("security: {mode: none}\n")), "loaded");
  EXPECT_EQ(Errors(SmallNode("security: {mode: none}\nnetwork: {listen: '[::1]:0'}\n")), "loaded");
  EXPECT_EQ(Errors(SmallNode("security: {mode: none, allow_plaintext_beyond_loopback: true}\n"
                             "network: {listen: 0.0.0.0:7420}\n")),
            "loaded");
  EXPECT_EQ(Errors(SmallNode("network: {listen: 0.0.0.0:7420}\n")), "loaded");
}

TEST(Network, TimesAndSeedsFitTogether) {
  EXPECT_THAT(Errors(SmallNode("network: {ping_every: 5s, drop_after: 5s}\n")),
              HasSubstr("network.drop_after: 5s is not more than ping_every (5s)"));
  EXPECT_EQ(Errors(SmallNode("network: {ping_every: 5s, drop_after: 5001ms}\n")), "loaded");
  EXPECT_THAT(Errors(SmallNode("network: {reconnect_first: 2s, reconnect_most: 1s}\n")),
              HasSubstr("network.reconnect_most: 1s is less than reconnect_first (2s)"));
  EXPECT_EQ(Errors(SmallNode("network: {reconnect_first: 1s, reconnect_most: 1s}\n")), "loaded");
  const std::string seed = "    - {key: " + std::string(64, 'a') + ", address: 'a:1'}\n";
  EXPECT_THAT(Errors(SmallNode("network:\n  seeds:\n" + seed + seed)),
              HasSubstr("n.yaml:6:13: error: network.seeds[1].key: this peer is listed twice"));
}

TEST(Train, OptimizerScheduleAndClipFitTogether) {
  EXPECT_THAT(Errors(SmallNode("train:\n  schedule: {kind: cosine}\n")),
              HasSubstr("error: train.schedule.length: got 0"));
  EXPECT_THAT(Errors(SmallNode("train:\n  optimizer: {kind: adamw}\n")),
              HasSubstr("error: train.optimizer.weight_decay: got 0"));
  EXPECT_THAT(Errors(SmallNode("train:\n  optimizer: {kind: irprop_plus}\n  clip: {norm: 1}\n")),
              HasSubstr("error: train.clip: got a limit"));
  EXPECT_EQ(Errors(SmallNode("train:\n  optimizer: {kind: irprop_plus}\n")), "loaded");
  EXPECT_EQ(Errors(SmallNode("train:\n  optimizer: {kind: sgd, momentum: 0.9, nesterov: true}\n"
                             "  schedule: {kind: step, every: 100}\n  clip: {value: 1}\n")),
            "loaded");
}

TEST(Fifo, HoldsAModel) {
  const std::string model =
      "model: {input: [1000], layers: [{dense: {units: 2}}]}\n"  // 2002 parameters, 8008 bytes
      "data: {train: {images: i, labels: l}}\n";
  EXPECT_THAT(Errors(model + "consensus: {fifo: {bytes: 8007B}}\n"),
              HasSubstr("consensus.fifo.bytes: 8007B cannot hold one model of 8008 bytes"));
  EXPECT_EQ(Errors(model + "consensus: {fifo: {bytes: 8008B}}\n"), "loaded");
}

TEST(Segments, AreNoSmallerThanABlock) {
  const std::string model =
      "model: {input: [10], layers: [{dense: {units: 3}}]}\n"  // 33 parameters
      "data: {train: {images: i, labels: l}}\n";
  EXPECT_THAT(Errors(model + "consensus: {segments: 4}\n"),
              HasSubstr("consensus.segments: 4 parts of 33 numbers are too small"));
  EXPECT_THAT(Errors(model + "consensus: {segments: 257}\n"), HasSubstr("consensus.segments"));
  EXPECT_EQ(Errors(model + "consensus: {segments: 3}\n"), "loaded");
}

TEST(Data, NumbersOfANormalizationComeWithTheirWord) {
  const std::string data = "data: {train: {images: i, labels: l}, ";
  const std::string model = "model: {input: [4], layers: [{dense: {units: 2}}]}\n";
  EXPECT_THAT(Errors(model + data + "normalize: given}\n"),
              HasSubstr("data.normalization.mean: is empty"));
  EXPECT_THAT(Errors(model + data + "normalization: {mean: [1], std: [1]}}\n"),
              HasSubstr("data.normalization.mean: is not used with normalize: unit"));
  EXPECT_THAT(Errors(model + data + "normalize: given, normalization: {mean: [1, 2], std: [1]}}\n"),
              HasSubstr("data.normalization.std: has 1 numbers, and mean has 2"));
  EXPECT_THAT(Errors(model + data + "normalize: given, normalization: {mean: [1], std: [0]}}\n"),
              HasSubstr("error: "));
  EXPECT_EQ(Errors(model + data + "normalize: given, normalization: {mean: [1], std: [2]}}\n"),
            "loaded");
}

TEST(Data, ATableTakesThePlaceOfIdxFiles) {
  const std::string model = "model: {input: [4], layers: [{dense: {units: 2}}]}\n";
  EXPECT_EQ(Errors(model + "data: {train: {csv: a.csv}, test: {csv: b.csv}}\n"), "loaded");
  EXPECT_THAT(Errors(model + "data: {train: {csv: a.csv, images: i}}\n"),
              HasSubstr("data.train.images: is given beside csv"));
  EXPECT_THAT(Errors(model + "data: {train: {}}\n"), HasSubstr("data.train.images"));
  EXPECT_EQ(Errors(model + "data: {train: {folder: a}, image_fit: resize}\n"), "loaded");
  EXPECT_THAT(Errors(model + "data: {train: {folder: a, csv: b}}\n"),
              HasSubstr("data.train.folder: is given beside csv"));
  EXPECT_THAT(Errors(model + "data: {train: {folder: a, labels: b}}\n"),
              HasSubstr("data.train.labels: is given beside folder"));
  const std::string by_key = "partition: {kind: key}";
  EXPECT_THAT(Errors(model + "data: {train: {csv: a.csv}, " + by_key + "}\n"),
              HasSubstr("data.partition.key_file: is empty"));
  EXPECT_EQ(Errors(model + "data: {train: {csv: a.csv}, csv: {key: device}, " + by_key + "}\n"),
            "loaded");
}

TEST(Data, ATestSetIsAFileOrHeldOut) {
  const std::string model = "model: {input: [4], layers: [{dense: {units: 2}}]}\n";
  const std::string train = "data: {train: {csv: a.csv}, ";
  EXPECT_EQ(Errors(model + train + "hold_out: {last: 1}}\n"), "loaded");
  EXPECT_THAT(Errors(model + train + "test: {csv: b.csv}, hold_out: {last: 1}}\n"),
              HasSubstr("data.hold_out: is given beside data.test"));
  EXPECT_THAT(Errors(model + train + "hold_out: {keys: 3-1}}\n"),
              HasSubstr("data.hold_out.keys: got '3-1'"));
}

TEST(Data, EachOutputHasANameOfItsOwn) {
  const std::string data = "data: {train: {images: i, labels: l}, ";
  const std::string model = "model: {input: [4], layers: [{dense: {units: 2}}]}\n";
  EXPECT_EQ(Errors(model + data + "labels: [sit, walk]}\n"), "loaded");
  EXPECT_THAT(Errors(model + data + "labels: [sit]}\n"),
              HasSubstr("data.labels: has 1 names, and the model's last layer has 2 outputs"));
  EXPECT_THAT(Errors(model + data + "labels: [sit, sit]}\n"),
              HasSubstr("data.labels[1]: 'sit' is empty or was there before"));
}

TEST(Train, AccuracyNeedsValidationSamples) {
  EXPECT_THAT(Errors(SmallNode("train: {until: {accuracy: 0.9}}\n")),
              HasSubstr("train.until: accuracy is measured on validation samples"));
  EXPECT_EQ(Errors("model: {input: [4], layers: [{dense: {units: 2}}]}\n"
                   "data: {train: {images: i, labels: l}, validation: {last: 1}}\n"
                   "train: {until: {accuracy: 0.9}}\n"),
            "loaded");
}

// Labels or targets, as the loss wants them.
TEST(Data, ComesWithWhatTheLossNeeds) {
  const auto with = [](const std::string& loss, const std::string& files,
                       const std::string& more = {}) {
    return Errors("model: {input: [4], layers: [{dense: {units: 2}}], loss: " + loss +
                  "}\ndata: {train: {images: i, " + files + "}" + more + "}\n");
  };
  EXPECT_EQ(with("mean_squared_error", "targets: t"), "loaded");
  EXPECT_EQ(with("sparse_categorical_crossentropy", "labels: l"), "loaded");
  EXPECT_THAT(with("mean_squared_error", "labels: l"),
              HasSubstr("error: missing key 'data.train.targets'"));
  EXPECT_THAT(with("sparse_categorical_crossentropy", "targets: t"),
              HasSubstr("error: missing key 'data.train.labels'"));
  EXPECT_THAT(with("huber", "targets: t, labels: l"),
              HasSubstr("error: data.train.labels: the loss huber compares with targets, not "
                        "labels\n"));
  EXPECT_THAT(with("sparse_categorical_crossentropy", "labels: ''"),
              HasSubstr("error: data.train.labels: is empty, and the loss "));
  EXPECT_THAT(with("huber", "targets: t", ", partition: {kind: dirichlet, of: 2}"),
              HasSubstr("error: data.partition.kind: dirichlet divides samples by class label"));
  EXPECT_THAT(
      with("huber", "targets: t", ", validation: {last: 1}}\ntrain: {until: {accuracy: 0.9}"),
      HasSubstr("error: train.until: there is no accuracy with the loss huber"));
}

TEST(Partition, IsValidated) {
  const auto part = [](const std::string& partition) {
    return Errors(
        "model: {input: [4], layers: [{dense: {units: 2}}]}\n"
        "data: {train: {images: i, labels: l}, partition: {" +
        partition + "}}\n");
  };
  EXPECT_EQ(part("kind: iid, index: 7, of: 8"), "loaded");
  EXPECT_THAT(part("kind: iid, index: 8, of: 8"), HasSubstr("error: data.partition.index: "));
  EXPECT_THAT(part("kind: key"), HasSubstr("error: data.partition.key_file: "));
}

// A fault is reported once, not again through what follows from it.
TEST(Contradictions, KeepQuietAboutWhatIsWrongAlready) {
  const std::string report = Errors(
      "model: {input: [4], layers: [{dense: {units: many}}]}\n"
      "data: {train: {images: i, labels: l}, validation: {last: lots}}\n"
      "train: {until: {accuracy: 0.9}}\n"
      "network: {ping_every: 5, drop_after: 1s}\n");
  EXPECT_EQ(std::count(report.begin(), report.end(), '\n'), 3 * 3) << report;
}

TEST(Gamma, WarnsWhenRepliesOvershoot) {
  const auto warnings = [](const std::string& consensus) {
    const auto loaded = ParseNode(SmallNode("consensus: {" + consensus + "}\n"), "n.yaml");
    return loaded ? loaded->warnings : std::vector<std::string>{loaded.error().what};
  };
  EXPECT_THAT(warnings("sends: 5"), IsEmpty());
  EXPECT_THAT(warnings("sends: 2, gamma: 0.5"), IsEmpty());
  EXPECT_THAT(
      warnings("sends: 5, gamma: 0.5"),
      ElementsAre("n.yaml:3:30: warning: consensus.gamma: sends * gamma is 2.5: the replies of one "
                  "round add up to more than the whole distance, which can diverge\n"
                  "    3 | consensus: {sends: 5, gamma: 0.5}\n"
                  "      |                              ^~~ auto is 1 / (sends + 1)"));
}

TEST(Correction, WarnsWhereItIsKnownToDiverge) {
  const auto warnings = [](const std::string& optimizer, const std::string& rest) {
    const auto loaded =
        ParseNode(SmallNode("train: {optimizer: {kind: quasi_global, " + optimizer + "}}\n" + rest),
                  "n.yaml");
    return loaded ? loaded->warnings : std::vector<std::string>{loaded.error().what};
  };
  const std::string no_replies = "consensus: {reply: false, batches: 5}\n";
  const std::string lost = "faults: {deltas_drop: 10%}\n";
  EXPECT_THAT(warnings("correction: 0.5", "consensus: {batches: 5}\n"), IsEmpty());
  EXPECT_THAT(warnings("correction: 0.05", "consensus: {batches: 1}\n"), IsEmpty());
  EXPECT_THAT(warnings("correction: 0", lost), IsEmpty());
  EXPECT_THAT(warnings("correction: 0.5", "faults: {weights_drop: 10%}\n"), IsEmpty());
  EXPECT_THAT(warnings("correction: 0.5", lost),
              ElementsAre(HasSubstr("n.yaml:3:53: warning: train.optimizer.correction: lives on "
                                    "replies, and not all of them arrive (faults.deltas_drop)")));
  EXPECT_THAT(warnings("correction: 0.5", no_replies), ElementsAre(HasSubstr("consensus.reply")));
  EXPECT_THAT(warnings("correction: 0.1", "consensus: {batches: 1}\n"),
              ElementsAre(HasSubstr("one batch a round says too little")));
}

TEST(Check, WorksOnSettingsThatCameFromNoFile) {
  NodeConfig config = ParseNode(SmallNode(), "n.yaml")->value;
  EXPECT_TRUE(Check(config));
  config.security.mode = SecuritySettings::Mode::kNone;
  config.network.listen = {"10.0.0.1", 7420};
  const Status status = Check(config);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kConfig);
  EXPECT_THAT(status.error().what, HasSubstr("network.listen: '10.0.0.1:7420' is beyond loopback"));
}

TEST(ExchangedState, NeedsAnEncodingWithRoomForSmallNumbers) {
  const std::string adam = "train: {optimizer: {kind: adam, exchanged: true}}\n";
  EXPECT_EQ(Errors(SmallNode(adam + "consensus: {encoding: {weights: bf16, deltas: f32}}\n")),
            "loaded");
  EXPECT_THAT(Errors(SmallNode(adam + "consensus: {encoding: {weights: f16}}\n")),
              HasSubstr("consensus.encoding.weights: is f16"));
  EXPECT_THAT(Errors(SmallNode(adam + "consensus: {encoding: {deltas: top_k}}\n")),
              HasSubstr("consensus.encoding.deltas: is top_k"));
  EXPECT_EQ(Errors(SmallNode("consensus: {encoding: {weights: f16}}\n")), "loaded");
}

}  // namespace
}  // namespace covey::config
