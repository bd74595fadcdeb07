// One test for each kind of fault, with the exact text that a person sees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/config/support.h"

namespace covey::config {
namespace {

using testing::HasSubstr;

// Five faults in the order of their lines, whatever the order in which they were found.
TEST(Report, FiveErrorsAtOnce) {
  const auto loaded = ParseNode(
      "fleet: {name: robots}\n"
      "model:\n"
      "  input: [28, 28]\n"
      "  layers:\n"
      "    - dense: {units: 72, activation: rellu}\n"
      "    - dense: {units: 10}\n"
      "data:\n"
      "  train: {images: i.gz, labels: l.gz}\n"
      "  batchsize: 64\n"
      "network:\n"
      "  seeds:\n"
      "    - {key: 5f1d, address: robot2.local:7420}\n"
      "  ping_every: 5\n"
      "consensus: {sends: 1, batches: 10, sends: 2}\n",
      "five.yaml");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kConfig);
  EXPECT_EQ(ExitCode(loaded.error()), 78);
  EXPECT_EQ(loaded.error().Format(),
            R"(five.yaml:5:38: error: model.layers[0].dense.activation: 'rellu' is not one of )"
            R"(linear, relu, leaky_relu, tanh, sigmoid, hard_sigmoid, softmax
    5 |     - dense: {units: 72, activation: rellu}
      |                                      ^~~~~ did you mean 'relu'?
five.yaml:9:3: error: unknown key 'data.batchsize'
    9 |   batchsize: 64
      |   ^~~~~~~~~ did you mean 'batch' (default 32)?
five.yaml:12:13: error: network.seeds[0].key: '5f1d' is not a public key
   12 |     - {key: 5f1d, address: robot2.local:7420}
      |             ^~~~ want 64 hex digits, as a node prints them when it starts
five.yaml:13:15: error: network.ping_every: '5' has no unit
   13 |   ping_every: 5
      |               ^ write 5s or 5ms (ns, us, ms, s, min, h)
five.yaml:14:36: error: duplicate key 'sends'
   14 | consensus: {sends: 1, batches: 10, sends: 2}
      |                                    ^~~~~ first given in line 14
5 errors; configuration not loaded.)");
}

TEST(Report, OneErrorIsSingular) {
  const auto loaded = ParseNode(SmallNode("x: 1\n"), "n.yaml");
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().what, testing::EndsWith("\n1 error; configuration not loaded."));
}

TEST(Report, ShowsAtMostFortyErrorsAndCountsTheRest) {
  std::string text = SmallNode();
  for (int i = 0; i < 41; ++i) text += "zzz" + std::to_string(i) + ": 1\n";
  const auto loaded = ParseNode(text, "n.yaml");
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().what, HasSubstr("'zzz39'"));
  EXPECT_THAT(loaded.error().what, testing::Not(HasSubstr("'zzz40'")));
  EXPECT_THAT(loaded.error().what,
              testing::EndsWith("... and 1 more\n41 errors; configuration not loaded."));
}

TEST(Report, CutsLongLinesAroundTheFault) {
  const std::string filler(300, ' ');
  const std::string report = Errors(SmallNode("log: {" + filler + "levle: info" + filler + "}\n"));
  EXPECT_THAT(report, HasSubstr("n.yaml:3:307: error: unknown key 'log.levle'\n"));
  EXPECT_THAT(report, HasSubstr("    3 | ..." + std::string(60, ' ') + "levle: info"));
  EXPECT_THAT(report, HasSubstr("      |    " + std::string(60, ' ') + "^~~~~ did you mean"));
}

TEST(Report, CountsCharactersNotBytes) {
  EXPECT_EQ(Errors(SmallNode("node: {name: Jürgen, nam: x}\n")),
            "n.yaml:3:22: error: unknown key 'node.nam'\n"
            "    3 | node: {name: Jürgen, nam: x}\n"
            "      |                      ^~~ did you mean 'name'?\n");
}

TEST(Unknown, NearestKeyOfTheSection) {
  EXPECT_EQ(Errors(SmallNode("consensus:\n  bathces: 3\n")),
            "n.yaml:4:3: error: unknown key 'consensus.bathces'\n"
            "    4 |   bathces: 3\n"
            "      |   ^~~~~~~ did you mean 'batches' (default 10)?\n");
}

TEST(Unknown, KeyOfAnotherSection) {
  EXPECT_EQ(Errors(SmallNode("train: {batch: 3}\n")),
            "n.yaml:3:9: error: unknown key 'train.batch'\n"
            "    3 | train: {batch: 3}\n"
            "      |         ^~~~~ did you mean 'data.batch' (default 32)?\n");
}

TEST(Unknown, NothingNearListsWhatThereIs) {
  EXPECT_EQ(Errors(SmallNode("log: {quux: 3}\n")),
            "n.yaml:3:7: error: unknown key 'log.quux'\n"
            "    3 | log: {quux: 3}\n"
            "      |       ^~~~ known here: level, format\n");
}

TEST(Unknown, ExperimentGivenToANode) {
  EXPECT_THAT(Errors(SmallNode("experiment: {}\n")),
              HasSubstr("^~~~~~~~~~ this is a file for covey-sim, not for a node\n"));
}

TEST(Unknown, LayerKind) {
  EXPECT_EQ(Errors("model: {input: [4], layers: [{dens: {units: 2}}]}\n"
                   "data: {train: {images: i, labels: l}}\n"),
            "n.yaml:1:31: error: model.layers[0]: unknown layer 'dens'\n"
            "    1 | model: {input: [4], layers: [{dens: {units: 2}}]}\n"
            "      |                               ^~~~ did you mean 'dense'?\n");
}

TEST(Duplicate, KeyAndSection) {
  EXPECT_EQ(Errors(SmallNode("log: {level: info}\nlog: {level: debug}\n")),
            "n.yaml:4:1: error: duplicate key 'log'\n"
            "    4 | log: {level: debug}\n"
            "      | ^~~ first given in line 3\n");
}

TEST(Missing, RequiredKeys) {
  EXPECT_EQ(
      Errors("data: {train: {images: i}}\nmodel: {input: [4], layers: []}\n"),
      "n.yaml:1:8: error: missing key 'data.train.labels'\n"
      "    1 | data: {train: {images: i}}\n"
      "      |        ^~~~~ required: IDX file of their class labels, one whole number a sample\n"
      "n.yaml:2:21: error: model.layers: the list is empty\n"
      "    2 | model: {input: [4], layers: []}\n"
      "      |                     ^~~~~~\n");
  const std::string of_nothing = Errors("");
  for (const char* key :
       {"model.input", "model.layers", "data.train.images", "data.train.labels"}) {
    EXPECT_THAT(of_nothing, HasSubstr("missing key '" + std::string(key) + "'"));
  }
}

// A slip of a required key is one error, not two; a known key that looks like it is no slip.
TEST(Missing, IsReportedUnlessMisspelled) {
  EXPECT_EQ(Errors("node: {name: x}\ndata: {train: {images: i, lables: l}}\n"
                   "modell: {input: [4], layers: [{dense: {units: 2}}]}\n"),
            "n.yaml:2:27: error: unknown key 'data.train.lables'\n"
            "    2 | data: {train: {images: i, lables: l}}\n"
            "      |                           ^~~~~~ did you mean 'labels'?\n"
            "n.yaml:3:1: error: unknown key 'modell'\n"
            "    3 | modell: {input: [4], layers: [{dense: {units: 2}}]}\n"
            "      | ^~~~~~ did you mean 'model'?\n");
  EXPECT_EQ(
      Errors("node: {name: x}\ndata: {train: {images: i, labels: l}}\n"),
      "n.yaml:1:1: error: missing key 'model.input'\n"
      "    1 | node: {name: x}\n"
      "      | ^ required: Shape of one sample: [features], [time, features], [height, width, "
      "channels]; symbols: [time]\n"
      "n.yaml:1:1: error: missing key 'model.layers'\n"
      "    1 | node: {name: x}\n"
      "      | ^ required: From input to output; shapes follow from the input\n");
}

// Returns the message and the note for one line `text` in section `section`, without the source.
std::string Line(const std::string& section, const std::string& text) {
  const std::string report = Errors(SmallNode(section + ":\n  " + text + "\n"));
  if (report == "loaded") return report;
  const std::size_t message = report.find("error: ") + 7;
  const std::size_t note = report.rfind("| ");
  const std::size_t words = report.find_first_not_of(" ^~\n", note + 1);
  return report.substr(message, report.find('\n') - message) + " / " +
         (words == std::string::npos ? "" : report.substr(words, report.size() - words - 1));
}

TEST(Integers, OnlyDecimalWithinRange) {
  const std::string want = "want an integer, 1 to 1000000";
  EXPECT_EQ(Line("consensus", "batches: 1"), "loaded");
  EXPECT_EQ(Line("consensus", "batches: 1000000"), "loaded");
  EXPECT_EQ(Line("consensus", "batches: 0"), "consensus.batches: '0' is out of range / " + want);
  EXPECT_EQ(Line("consensus", "batches: 1000001"),
            "consensus.batches: '1000001' is out of range / " + want);
  EXPECT_EQ(Line("consensus", "batches: -1"), "consensus.batches: '-1' is out of range / " + want);
  EXPECT_EQ(Line("consensus", "batches: 99999999999999999999999"),
            "consensus.batches: '99999999999999999999999' is out of range / " + want);
  for (const char* text : {"ten", "1.5", "1e3", "0x10", "1_000", "+1", "0b1", "10s"}) {
    EXPECT_EQ(Line("consensus", std::string("batches: ") + text),
              "consensus.batches: '" + std::string(text) + "' is not an integer / " + want);
  }
  EXPECT_EQ(Line("consensus", "batches: 010"),
            "consensus.batches: '010' starts with 0 and could be read as octal / write 10");
  EXPECT_EQ(
      Line("consensus", "batches: \"10\""),
      "consensus.batches: got text in quotes, want an integer (1 to 1000000) / leave the quotes "
      "out");
  EXPECT_EQ(Line("consensus", "batches:"),
            "consensus.batches: got nothing, want an integer (1 to 1000000) / ");
  EXPECT_EQ(Line("consensus", "batches: [3]"),
            "consensus.batches: got a list, want an integer (1 to 1000000) / ");
  EXPECT_EQ(Line("consensus", "batches: {a: 3}"),
            "consensus.batches: got a section, want an integer (1 to 1000000) / ");
}

TEST(Numbers, FiniteAndWithinRange) {
  const std::string want = "want a number, above 0, at most 1000";
  for (const char* text : {"1000", "1e-9", "0.5", ".5"}) {
    EXPECT_EQ(Line("train", std::string("optimizer: {learning_rate: ") + text + "}"), "loaded");
  }
  const auto rate = [](const std::string& text) {
    return Line("train", "optimizer: {learning_rate: " + text + "}");
  };
  const std::string path = "train.optimizer.learning_rate: ";
  for (const char* text : {".nan", ".NaN", "nan", ".inf", "-.inf", "inf", "-inf", "infinity"}) {
    EXPECT_EQ(rate(text), path + "'" + text + "' is not a finite number / " + want);
  }
  for (const char* text : {"0", "-1", "1000.1", "1e99", "1e-99"}) {
    EXPECT_EQ(rate(text), path + "'" + text + "' is out of range / " + want);
  }
  for (const char* text : {"fast", "1,5", "1e", "0x1p3", "1 2"}) {
    const std::string got = rate(text);
    EXPECT_NE(got, "loaded") << text;
  }
  EXPECT_EQ(rate("010.5"), path + "'010.5' starts with 0 and could be read as octal / write 10.5");
  EXPECT_EQ(rate("00.5"), path + "'00.5' starts with 0 and could be read as octal / write 0.5");
}

TEST(Fractions, AlsoInPerCent) {
  const auto drop = [](const std::string& text) {
    const auto loaded = ParseNode(SmallNode("faults: {weights_drop: " + text + "}\n"), "n");
    return loaded ? loaded->value.faults.weights_drop : -1;
  };
  EXPECT_EQ(drop("0.25"), 0.25);
  EXPECT_EQ(drop("25%"), 0.25);
  EXPECT_EQ(drop("25 %"), 0.25);
  EXPECT_EQ(drop("100%"), 1);
  EXPECT_EQ(drop("1"), 1);
  EXPECT_EQ(drop("0"), 0);
  EXPECT_EQ(
      Line("faults", "weights_drop: 25"),
      "faults.weights_drop: '25' is out of range / want a fraction, 0 to 1, or per cent, e.g. "
      "25%");
  for (const char* text : {"100.1%", "-1%", "%", "nan%", "1.01", "half"}) {
    EXPECT_EQ(drop(text), -1) << text;
  }
}

TEST(Booleans, TrueAndFalseOnly) {
  EXPECT_EQ(Line("consensus", "reply: true"), "loaded");
  for (const char* text : {"yes", "on", "True", "1", "y"}) {
    EXPECT_EQ(Line("consensus", std::string("reply: ") + text),
              "consensus.reply: '" + std::string(text) +
                  "' is neither true nor false / write true or false");
  }
}

TEST(Durations, NeedAUnit) {
  EXPECT_EQ(Line("network", "handshake: 10ms"), "loaded");
  EXPECT_EQ(Line("network", "handshake: 1h"), "loaded");
  EXPECT_EQ(Line("network", "handshake: 10"),
            "network.handshake: '10' has no unit / write 10s or 10ms (ns, us, ms, s, min, h)");
  EXPECT_EQ(Line("network", "handshake: 9ms"),
            "network.handshake: '9ms' is out of range / want 10ms to 1h");
  EXPECT_EQ(Line("network", "handshake: 61min"),
            "network.handshake: '61min' is out of range / want 10ms to 1h");
  EXPECT_EQ(
      Line("network", "handshake: 10 parsecs"),
      "network.handshake: '10 parsecs' is not a duration / write a number and a unit (ns, us, "
      "ms, s, min, h), e.g. 250ms");
  EXPECT_EQ(Line("network", "handshake: infs").find("network.handshake: 'infs' is not a duration"),
            0u);
}

TEST(Sizes, NeedAUnit) {
  EXPECT_EQ(Line("network", "chunk: 4KiB"), "loaded");
  EXPECT_EQ(Line("network", "chunk: 256KiB"), "loaded");
  EXPECT_EQ(Line("network", "chunk: 65536"),
            "network.chunk: '65536' has no unit / write a unit behind it: B, kB, KiB, MB, MiB, GB, "
            "GiB");
  EXPECT_EQ(Line("network", "chunk: 257KiB"),
            "network.chunk: '257KiB' is out of range / want 4KiB to 256KiB");
  EXPECT_EQ(Line("network", "chunk: 4095B"),
            "network.chunk: '4095B' is out of range / want 4KiB to 256KiB");
  EXPECT_EQ(
      Line("network", "chunk: 64kb"),
      "network.chunk: '64kb' is not a size / write an integer and a unit (B, kB, KiB, MB, MiB, "
      "GB, GiB), e.g. 64KiB");
}

TEST(Words, DidYouMean) {
  EXPECT_EQ(Line("security", "mode: curved"),
            "security.mode: 'curved' is not one of curve, none / did you mean 'curve'?");
  EXPECT_EQ(Line("security", "mode: tls"), "security.mode: 'tls' is not one of curve, none / ");
}

TEST(Until, ExactlyOne) {
  EXPECT_EQ(Line("train", "until: forever"), "loaded");
  EXPECT_EQ(Line("train", "until: {batches: 1}"), "loaded");
  EXPECT_EQ(Line("train", "until: {epochs: 0.5}"), "loaded");
  const std::string forms =
      " / want one of forever, {batches: ...}, {epochs: ...}, {accuracy: ...}";
  EXPECT_EQ(Line("train", "until: {batches: 1, epochs: 2}"),
            "train.until: got 2 keys, want exactly one" + forms);
  EXPECT_EQ(Line("train", "until: {}"), "train.until: got 0 keys, want exactly one" + forms);
  EXPECT_EQ(Line("train", "until: 40"), "train.until: got '40'" + forms);
  EXPECT_EQ(Line("train", "until: [1]"), "train.until: got a list" + forms);
  EXPECT_EQ(Line("train", "until: {epoch: 3}"),
            "train.until: unknown key 'epoch' / did you mean 'epochs'?");
  EXPECT_EQ(Line("train", "until: {batches: 0}"),
            "train.until.batches: '0' is out of range / want an integer, 1 to 1000000000000");
}

TEST(Sections, WantKeys) {
  EXPECT_EQ(Line("data2", "x: 1").find("unknown key 'data2'"), 0u);
  EXPECT_EQ(Errors(SmallNode("log: info\n")),
            "n.yaml:3:6: error: log: got 'info', want a section of keys\n"
            "    3 | log: info\n"
            "      |      ^~~~ write 'log:' and its keys below it, indented\n");
  EXPECT_EQ(Errors(SmallNode("log:\n")), "loaded");  // an empty section is harmless
}

TEST(Lists, WantEntries) {
  EXPECT_EQ(
      Line("network", "seeds: robot2:7420"),
      "network.seeds: got 'robot2:7420', want a list of sections / write each below 'seeds:', "
      "after '- '");
  EXPECT_EQ(Line("network", "seeds: [robot2]"),
            "network.seeds[0]: got 'robot2', want a section of keys / ");
  EXPECT_EQ(
      Line("security", "authorized_keys: abc"),
      "security.authorized_keys: got 'abc', want a list / write it as [a, b] or one below the "
      "other, each after '- '");
}

TEST(Seeds, CannotHavePortZero) {
  const std::string key(64, '0');
  EXPECT_EQ(
      Line("network", "seeds: [{key: " + key + ", address: 'a:0'}]"),
      "network.seeds[0].address: 'a:0' has port 0, which nobody can dial / write the port that "
      "the peer listens on, e.g. 7420");
}

TEST(CpuLimit, IsAPartOfOneProcessor) {
  for (const char* good : {"1", "100%", "0.5", "0.1%"}) {
    EXPECT_EQ(Line("node", std::string("cpu_limit: ") + good), "loaded");
  }
  for (const char* bad : {"0", "0.09%", "1.1", "-1", "fast"}) {
    const std::string line = Line("node", std::string("cpu_limit: ") + bad);
    EXPECT_NE(line.find("node.cpu_limit: "), std::string::npos) << line;
  }
}

TEST(Threads, AreANumberOrAuto) {
  for (const char* good : {"1", "256", "auto"}) {
    EXPECT_EQ(Line("node", std::string("threads: ") + good), "loaded");
  }
  for (const char* bad : {"0", "257", "many", "-1", "1.5"}) {
    const std::string line = Line("node", std::string("threads: ") + bad);
    EXPECT_NE(line.find("node.threads: "), std::string::npos) << line;
    EXPECT_NE(line.find("or auto"), std::string::npos) << line;
  }
}

TEST(Batch, IsANumberOrAll) {
  const auto data = [](const std::string& batch) {
    return "model: {input: [4], layers: [{dense: {units: 2}}]}\n"
           "data:\n"
           "  train: {images: i, labels: l}\n"
           "  batch: " +
           batch + "\n";
  };
  const auto all = ParseNode(data("all"), "n.yaml");
  ASSERT_TRUE(all) << all.error().Format();
  EXPECT_EQ(all->value.data.batch, 0u);
  EXPECT_NE(WriteYaml(all->value).find("batch: all\n"), std::string::npos);
  EXPECT_EQ(Errors(data("1")), "loaded");
  for (const char* bad : {"0", "-1", "whole", "1000000001"}) {
    const std::string report = Errors(data(bad));
    EXPECT_EQ(report.find("n.yaml:4:10: error: data.batch: "), 0u) << report;
    EXPECT_NE(report.find("or all"), std::string::npos) << report;
  }
}

TEST(Places, StandInFrontOfTheKeyOfALateError) {
  const auto loaded = ParseNode(SmallNode("train:\n  until: {epochs: 3}\n"), "n.yaml");
  ASSERT_TRUE(loaded) << loaded.error().Format();
  const auto where = [&loaded](const std::string& key) {
    return loaded->places.Locate({ErrorCode::kData, key, "is bad", {}}).where;
  };
  EXPECT_EQ(where("train.until"), "n.yaml:4:3: train.until");
  EXPECT_EQ(where("train.until.epochs"), "n.yaml:4:3: train.until.epochs");
  EXPECT_EQ(where("data.batch"), "n.yaml:2:1: data.batch");  // a default: the section's place
  EXPECT_EQ(where("data.train.labels[3]"), "n.yaml:2:35: data.train.labels[3]");
  EXPECT_EQ(where("/data/train.gz, byte 3"), "/data/train.gz, byte 3");
  EXPECT_EQ(where("consensus.sends"), "consensus.sends");
  EXPECT_EQ(where(""), "");
}

}  // namespace
}  // namespace covey::config
