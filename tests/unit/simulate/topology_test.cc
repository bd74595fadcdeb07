#include "covey/simulate/topology.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "support/idx_files.h"

namespace covey::simulate {
namespace {

using Kind = config::TopologySettings::Kind;

std::vector<Pair> Make(Kind kind, std::uint32_t nodes, config::TopologySettings settings = {}) {
  settings.kind = kind;
  const auto pairs = PairsOf(settings, 5, nodes);
  EXPECT_TRUE(pairs) << pairs.error().Format();
  return pairs.value_or(std::vector<Pair>{});
}

std::map<std::uint32_t, int> Degrees(const std::vector<Pair>& pairs) {
  std::map<std::uint32_t, int> degrees;
  for (const Pair& pair : pairs) {
    ++degrees[pair.first];
    ++degrees[pair.second];
  }
  return degrees;
}

// No node to itself, no two nodes twice.
void ExpectSimple(const std::vector<Pair>& pairs) {
  std::set<Pair> seen;
  for (const auto& [a, b] : pairs) {
    EXPECT_NE(a, b);
    EXPECT_TRUE(seen.insert({std::max(a, b), std::min(a, b)}).second) << a << ' ' << b;
  }
}

bool Connected(const std::vector<Pair>& pairs, std::uint32_t nodes) {
  std::set<std::uint32_t> reached = {0};
  for (std::size_t before = 0; before != reached.size();) {
    before = reached.size();
    for (const auto& [a, b] : pairs) {
      if (reached.count(a) + reached.count(b) == 1) reached.insert({a, b});
    }
  }
  return reached.size() == nodes;
}

TEST(Topology, AnyIsEverybodyUpTo64AndAPartialViewAbove) {
  EXPECT_EQ(Make(Kind::kAny, 64).size(), 64u * 63 / 2);
  const auto pairs = Make(Kind::kAny, 65);
  EXPECT_EQ(pairs.size(), 65u * 8);
  ExpectSimple(pairs);
  EXPECT_TRUE(Connected(pairs, 65));
  EXPECT_TRUE(IsPartialView({}, 65));
  EXPECT_FALSE(IsPartialView({}, 64));
}

TEST(Topology, APartialViewOfThousandNodesGrowsWithTheNodesOnly) {
  config::TopologySettings settings;
  settings.peers = 10;
  EXPECT_EQ(Make(Kind::kAny, 1000, settings).size(), 5000u);
}

TEST(Topology, ADenseViewOfFewNodesEnds) {
  config::TopologySettings settings;
  settings.peers = 64;
  ExpectSimple(Make(Kind::kAny, 65, settings));
}

TEST(Topology, RingHasTwoNeighboursEach) {
  const auto pairs = Make(Kind::kRing, 7);
  EXPECT_EQ(pairs.size(), 7u);
  for (const auto& [node, degree] : Degrees(pairs)) EXPECT_EQ(degree, 2) << node;
  EXPECT_EQ(Make(Kind::kRing, 2).size(), 1u);
  EXPECT_TRUE(Make(Kind::kRing, 1).empty());
}

TEST(Topology, GridOfSevenHasThreeColumns) {
  //  0 1 2 / 3 4 5 / 6
  const std::vector<Pair> wanted = {{1, 0}, {2, 1}, {3, 0}, {4, 1}, {4, 3}, {5, 2}, {5, 4}, {6, 3}};
  EXPECT_EQ(Make(Kind::kGrid, 7), wanted);
}

TEST(Topology, RandomRegularHasTheDegreeAndIsNotTheCirculantGraph) {
  for (const std::uint32_t degree : {3u, 4u, 7u}) {
    config::TopologySettings settings;
    settings.degree = degree;
    const auto pairs = Make(Kind::kRandomRegular, 20, settings);
    ExpectSimple(pairs);
    EXPECT_TRUE(Connected(pairs, 20));
    for (const auto& [node, found] : Degrees(pairs)) {
      EXPECT_EQ(found, static_cast<int>(degree)) << node;
    }
    EXPECT_EQ(Make(Kind::kRandomRegular, 20, settings), pairs);
    settings.kind = Kind::kRandomRegular;
    EXPECT_NE(*PairsOf(settings, 6, 20), pairs) << "another seed";
  }
}

TEST(Topology, RandomRegularRefusesWhatDoesNotExist) {
  config::TopologySettings settings;
  settings.kind = Kind::kRandomRegular;
  settings.degree = 5;
  EXPECT_FALSE(PairsOf(settings, 1, 5));
  EXPECT_FALSE(PairsOf(settings, 1, 7));
  EXPECT_TRUE(PairsOf(settings, 1, 6));
}

TEST(Topology, AFileNamesPairs) {
  const test::TemporaryFolder folder;
  config::TopologySettings settings;
  settings.file = folder / "pairs";
  std::ofstream(settings.file) << "# a line\n0 1\n\n2 1\n1 2\n";
  EXPECT_EQ(Make(Kind::kFile, 3, settings), (std::vector<Pair>{{1, 0}, {2, 1}}));
  settings.kind = Kind::kFile;
  for (const char* bad : {"0 3\n", "0\n", "1 1\n", "0 1 2\n", "a b\n"}) {
    std::ofstream(settings.file) << "0 1\n" << bad;
    const auto refused = PairsOf(settings, 1, 3);
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().where, settings.file + ":2");
  }
  settings.file = folder / "missing";
  EXPECT_EQ(PairsOf(settings, 1, 3).error().code, ErrorCode::kNoInput);
}

TEST(MixingGap, IsThatOfKnownGraphs) {
  std::vector<Pair> everybody;
  for (std::uint32_t i = 0; i < 12; ++i) {
    for (std::uint32_t j = 0; j < i; ++j) everybody.push_back({i, j});
  }
  EXPECT_NEAR(MixingGap(everybody, 12), 12.0 / 11, 1e-3);
  std::vector<Pair> ring;
  for (std::uint32_t i = 0; i < 12; ++i) ring.push_back({i, (i + 1) % 12});
  EXPECT_NEAR(MixingGap(ring, 12), 1 - std::cos(std::acos(-1.0) / 6), 1e-3);
  // A star: each leaf has weight (1 + 1/11)/2 to the centre.
  std::vector<Pair> star;
  for (std::uint32_t i = 1; i < 12; ++i) star.push_back({i, 0});
  EXPECT_NEAR(MixingGap(star, 12), 6.0 / 11, 1e-3);
  EXPECT_EQ(MixingGap({{1, 0}, {3, 2}}, 4), 0.0);
  EXPECT_NEAR(MixingGap({{1, 0}}, 2), 2.0, 1e-9);
  EXPECT_EQ(MixingGap({}, 1), 0.0);
}

}  // namespace
}  // namespace covey::simulate
