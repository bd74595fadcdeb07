#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "covey/config/load.h"
#include "covey/harness/options.h"

namespace covey::harness {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

config::Experiment Described(const std::string& more) {
  const std::string text = R"(
experiment: {name: small, nodes: 9, seed: 3, mode: virtual)" +
                           more + R"(
model: {input: [4], layers: [dense: {units: 3}]}
data: {train: {images: a.idx, labels: b.idx}}
train: {until: {epochs: 2}}
)";
  auto loaded = config::ParseExperiment(text, "small.yaml");
  EXPECT_TRUE(loaded) << loaded.error().Format();
  return loaded ? loaded->value : config::Experiment{};
}

std::string Lines(const std::vector<Setting>& settings) {
  std::string all;
  for (const Setting& setting : settings) all += setting.name + '=' + setting.value + '\n';
  return all;
}

TEST(Describe, SaysWhatWasRun) {
  const std::string all = Lines(Describe(Described("}")));
  EXPECT_THAT(all, AllOf(HasSubstr("nodes=9\n"), HasSubstr("training=2 epochs\n"),
                         HasSubstr("gamma=0.5000\n"), Not(HasSubstr("faults."))));
}

TEST(Describe, NamesEveryFaultThatIsNotAtItsDefault) {
  const std::string all = Lines(Describe(Described(R"(}
faults:
  deltas_drop: 50%
  links: {delay: 20ms, bandwidth: 2MB, topology: {kind: ring}}
  partitions: [{at: 10s, for: 1min}, {at: 3min, for: 1s, groups: "0 | 1-3", one_way: true}]
  nodes: {crash_at: 30s}
)")));
  EXPECT_THAT(all, AllOf(HasSubstr("DELTAS lost by design=50.0 %\n"),
                         HasSubstr("\nfaults.links.delay=20ms\n"),
                         HasSubstr("\nfaults.links.bandwidth=2.00 MB\n"),
                         HasSubstr("\nfaults.links.topology.kind=ring\n"),
                         HasSubstr("\nfaults.nodes.crash_at=30s\n"),
                         HasSubstr("\nfaults.partitions[0]=at 10s, for 1min, groups halves"),
                         HasSubstr("\nfaults.partitions[1]=at 3min, for 1s, groups 0 | 1-3")));
  EXPECT_THAT(all, AllOf(Not(HasSubstr("faults.deltas_drop")), Not(HasSubstr("delay_min")),
                         Not(HasSubstr("down_for"))));
}

TEST(Describe, LargeFleetsAreLinkedWithAFew) {
  config::Experiment experiment = Described("}");
  experiment.nodes = 65;
  EXPECT_THAT(Lines(Describe(experiment)),
              HasSubstr("\nlinks of a node=with about 16 random others\n"));
  experiment.nodes = 64;
  EXPECT_THAT(Lines(Describe(experiment)), Not(HasSubstr("links of a node")));
}

TEST(Describe, NodesWithTheSameOfTheirOwnStandTogether) {
  const std::string all = Lines(Describe(Described(R"(, overrides: {
  1: {faults: {nodes: {speed: 0.1}}},
  0: {start_after: 10s, train: {until: {epochs: 5}}},
  3: {data: {batch: 7}}, 4: {data: {batch: 7}}, 5: {data: {batch: 7}}, 8: {data: {batch: 7}},
  controls: {train: {optimizer: {learning_rate: 0.5}}}}})")));
  EXPECT_THAT(all, AllOf(HasSubstr("\nnode 1=faults.nodes.speed 0.1\n"),
                         HasSubstr("\nnode 0=start_after 10s, train.until epochs 5\n"),
                         HasSubstr("\nnodes 3 to 5, 8=data.batch 7\n"),
                         HasSubstr("\ncontrols=train.optimizer.learning_rate 0.5\n")));
}

TEST(Describe, ManyOverridesAreCounted) {
  config::Experiment experiment = Described("}");
  experiment.nodes = 40;
  for (std::uint32_t i = 0; i < 20; ++i) {
    experiment.overrides.nodes[i].set = {{"data.batch", std::to_string(i + 1)}};
  }
  const std::string all = Lines(Describe(experiment));
  EXPECT_THAT(all, AllOf(HasSubstr("\nnode 11=data.batch 12\n"), Not(HasSubstr("data.batch 13")),
                         HasSubstr("\nfurther nodes=8 with settings of their own\n")));
}

TEST(Describe, OfSeveralSaysWhatTheyShareAndWhatTheyDoNot) {
  config::Experiment a = Described("}");
  config::Experiment b = a;
  b.nodes = 5;
  b.node.consensus.sends = 2;
  a.node.train.settle = {.fraction = 0, .rounds = {}};  // two ways to have none
  b.node.train.settle = {.fraction = 0, .rounds = 0};
  b.node.faults.links.delay = std::chrono::seconds(1);
  const std::string all = Lines(DescribeAll({a, b, a}, "differs"));
  EXPECT_THAT(all,
              AllOf(HasSubstr("training=2 epochs\n"), HasSubstr("tail of exchanges=none\n"),
                    Not(HasSubstr("nodes=")), Not(HasSubstr("gamma=")), Not(HasSubstr("delay="))));
  EXPECT_THAT(all, HasSubstr("differs=nodes; M, messages a round; gamma; faults.links.delay\n"));
  EXPECT_EQ(Lines(DescribeAll({a, a}, "differs")), Lines(Describe(a)));
  EXPECT_TRUE(DescribeAll({}, "differs").empty());
}

}  // namespace
}  // namespace covey::harness
