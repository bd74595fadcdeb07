// Every gate of hello: each case differs from a welcome one in the one thing that the gate looks
// at.
#include "session/hello_gate.h"

#include <gtest/gtest.h>

#include <functional>

#include "support/session_fixture.h"

namespace covey::session {
namespace {

using wire::Reason;

struct Case {
  Settings settings = test::SessionSettings(2, 16);
  transport::LinkInfo link;
  wire::Envelope envelope;
  wire::Hello hello;

  Case() {
    hello.key = test::KeyOf(1);
    hello.session = SessionId{5};
    hello.fleet = settings.fleet;
    hello.model = settings.model;
    hello.model_summary = settings.model_summary;
    hello.credit = 8;
    settings.normalization = test::DigestOf(11);
    settings.normalization_summary = "unit";
    settings.labels = test::DigestOf(12);
    settings.labels_summary = "2 names: sit, walk";
    hello.normalization = settings.normalization;
    hello.labels = settings.labels;
    Sign();
  }
  // Makes envelope and hello agree again.
  void Sign() {
    envelope.session = hello.session;
    envelope.fleet = hello.fleet.Prefix();
    envelope.model = hello.model.Prefix();
  }
  HelloVerdict Judge() const { return JudgeHello(settings, link, envelope, hello); }
};

TEST(HelloGate, WelcomesAPeerOfTheFleet) { EXPECT_EQ(Case().Judge().reason, std::nullopt); }

TEST(HelloGate, Version) {
  Case later;
  later.hello.protocol_min = wire::kProtocolMax + 1;
  later.hello.protocol_max = wire::kProtocolMax + 2;
  EXPECT_EQ(later.Judge().reason, Reason::kVersion);
  EXPECT_EQ(later.Judge().text, "protocol 1 against 2 to 3");
  later.hello.protocol_min = wire::kProtocolMax;  // one in common is enough
  EXPECT_EQ(later.Judge().reason, std::nullopt);
}

TEST(HelloGate, Fleet) {
  Case other;
  other.hello.fleet.bytes[31] ^= 1;  // beyond the prefix that envelopes carry
  EXPECT_EQ(other.Judge().reason, Reason::kFleet);
  EXPECT_FALSE(other.Judge().broken);
}

TEST(HelloGate, Model) {
  Case other;
  other.hello.model.bytes[31] ^= 1;
  other.hello.model_summary = "mlp 12-64-4";
  EXPECT_EQ(other.Judge().reason, Reason::kModel);
  EXPECT_EQ(other.Judge().text, "mlp 12-32-4 against 12-64-4");
  other.hello.model_summary = "cnn 12-64-4";
  EXPECT_EQ(other.Judge().text, "mlp 12-32-4 against cnn 12-64-4");
  other.hello.model_summary = other.settings.model_summary;
  EXPECT_NE(other.Judge().text.find("c8c8c8c8"), std::string::npos);
}

TEST(HelloGate, Normalization) {
  Case other;
  other.hello.normalization.bytes[31] ^= 1;
  other.hello.normalization_summary = "scale 0.5";
  EXPECT_EQ(other.Judge().reason, Reason::kData);
  EXPECT_EQ(other.Judge().text, "normalisation unit against scale 0.5");
  EXPECT_FALSE(other.Judge().broken);
  other.hello.normalization = Digest{};  // of a version that doesn't say
  other.hello.normalization_summary.clear();
  EXPECT_EQ(other.Judge().text, "normalisation unit against unknown");
}

TEST(HelloGate, Labels) {
  Case other;
  other.hello.labels.bytes[0] ^= 1;
  other.hello.labels_summary = "2 names: walk, sit";
  EXPECT_EQ(other.Judge().reason, Reason::kData);
  EXPECT_EQ(other.Judge().text, "labels 2 names: sit, walk against 2 names: walk, sit");
}

TEST(HelloGate, KeyMustBeTheAuthenticatedOne) {
  Case other;
  other.link.key = test::KeyOf(1);
  EXPECT_EQ(other.Judge().reason, std::nullopt);
  other.link.key = test::KeyOf(3);
  EXPECT_EQ(other.Judge().reason, Reason::kKey);
  EXPECT_TRUE(other.Judge().broken);
}

TEST(HelloGate, OwnKey) {
  Case other;
  other.hello.key = other.settings.self;
  EXPECT_EQ(other.Judge().reason, Reason::kSelf);
}

TEST(HelloGate, AllowList) {
  Case other;
  other.settings.allowed = std::set<PeerKey>{test::KeyOf(1)};
  EXPECT_EQ(other.Judge().reason, std::nullopt);
  other.settings.allowed = std::set<PeerKey>{test::KeyOf(3)};
  EXPECT_EQ(other.Judge().reason, Reason::kNotAllowed);
}

TEST(HelloGate, ContradictionsAreBroken) {
  const std::function<void(Case&)> changes[] = {
      [](Case& c) { c.hello.protocol_min = 3; },
      [](Case& c) { c.hello.max_chunk = wire::kMinChunk - 1; },
      [](Case& c) { c.hello.max_chunk = wire::kMaxBody + 1; },
      [](Case& c) { c.hello.credit = 0; },
      [](Case& c) { c.hello.credit = wire::kMaxCredit + 1; },
      [](Case& c) { c.envelope.session = SessionId{6}; },
      [](Case& c) { ++c.envelope.fleet; },
      [](Case& c) { ++c.envelope.model; },
  };
  int number = 0;
  for (const auto& change : changes) {
    Case broken;
    change(broken);
    EXPECT_EQ(broken.Judge().reason, Reason::kMalformed) << number;
    EXPECT_TRUE(broken.Judge().broken) << number;
    ++number;
  }
  Case edges;
  edges.hello.max_chunk = wire::kMinChunk;
  edges.hello.credit = wire::kMaxCredit;
  EXPECT_EQ(edges.Judge().reason, std::nullopt);
}

}  // namespace
}  // namespace covey::session
