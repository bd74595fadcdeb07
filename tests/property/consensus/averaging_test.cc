// What the theory promises of Algorithm 1 without training, held against the core.
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <memory>
#include <vector>

#include "covey/consensus/node.h"

namespace covey::consensus {
namespace {

PeerKey Key(std::size_t id) {
  PeerKey key;
  key.bytes[0] = static_cast<std::uint8_t>(id);
  return key;
}

struct FleetSettings {
  std::size_t nodes = 8;
  std::size_t size = 16;
  std::uint64_t seed = 1;
  double weights_drop = 0;
  double deltas_drop = 0;
  Settings consensus;
};

// Cores with vectors and mailboxes; a seeded scheduler decides who acts. "Training" adds a drawn
// vector to x.
class CoreFleet {
 public:
  explicit CoreFleet(const FleetSettings& settings)
      : settings_(settings), random_(settings.seed, 0, Purpose::kTest) {
    for (std::size_t i = 0; i < settings.nodes; ++i) {
      auto member = std::make_unique<Member>(
          Member{Node(settings.consensus,
                      Stream(settings.seed, static_cast<std::uint32_t>(i), Purpose::kPeers),
                      ExchangeId{1000 * i}),
                 tensor::FlatVector(settings.size),
                 {},
                 {}});
      for (float& value : member->x.view()) value = random_.Uniform(-1.0f, 1.0f);
      members_.push_back(std::move(member));
    }
    for (std::size_t i = 0; i < settings.nodes; ++i) {
      for (std::size_t j = 0; j < settings.nodes; ++j) {
        if (i != j) Post(i, PeerUp{Key(j)});
      }
      Post(i, Started{});
    }
  }

  // One random node does the next thing that it may do.
  void Act() {
    const auto i = static_cast<std::size_t>(random_.Below(members_.size()));
    Member& member = *members_[i];
    now_ += std::chrono::microseconds(100);
    if (member.training) {
      for (float& value : member.x.view()) {
        const float step =
            update_size_ == 0.0f ? 0.0f : random_.Uniform(-update_size_, update_size_);
        const float before = value;
        value += step;
        updates_ += static_cast<double>(value) - static_cast<double>(before);
      }
      member.training = false;
      Post(i, Trained{1});
    } else if (!member.mail.empty()) {
      const Message message = std::move(member.mail.front());
      member.mail.pop_front();
      Deliver(i, message);
    } else if (member.draining) {
      member.draining = false;
      Post(i, Drained{});
    }
  }

  // Nodes that start nothing and answer at once.
  void PauseAll() {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      Post(i, Commanded{Command::kPause});
      Post(i, Trained{1});
      Post(i, Drained{});
    }
  }

  // One node runs a round while all others are paused: its exchange overlaps with no other.
  void ExchangeAlone() {
    const auto i = static_cast<std::size_t>(random_.Below(members_.size()));
    Post(i, Commanded{Command::kResume});
    Post(i, Trained{1});
    for (std::size_t j = 0; j < members_.size(); ++j) {
      if (j != i) DeliverAll(j);
    }
    DeliverAll(i);
    Post(i, Commanded{Command::kPause});
    Post(i, Drained{});
  }

  // Every node ends its round at the same time: all M answers to a node were computed against the
  // same x.
  void LockStep() {
    for (std::size_t i = 0; i < members_.size(); ++i) Post(i, Trained{1});
    for (const MessageKind kind : {MessageKind::kWeights, MessageKind::kDeltas}) {
      std::vector<std::deque<Message>> mail;
      for (const auto& member : members_) mail.push_back(std::exchange(member->mail, {}));
      for (std::size_t i = 0; i < members_.size(); ++i) {
        for (const Message& message : mail[i]) {
          EXPECT_EQ(message.kind, kind);
          Deliver(i, message);
        }
      }
    }
    for (std::size_t i = 0; i < members_.size(); ++i) Post(i, Drained{});
  }

  double Sum() const {  // of all elements of all x, plus what is under way
    double sum = 0;
    for (const auto& member : members_) {
      for (const float value : member->x.view()) sum += static_cast<double>(value);
      for (const Message& message : member->mail) {
        if (message.kind == MessageKind::kDeltas) sum -= SumOf(message);
      }
    }
    return sum;
  }
  double Variance() const {
    double total = 0;
    for (std::size_t k = 0; k < settings_.size; ++k) {
      double mean = 0;
      for (const auto& member : members_) mean += static_cast<double>(member->x[k]);
      mean /= static_cast<double>(members_.size());
      for (const auto& member : members_)
        total += std::pow(static_cast<double>(member->x[k]) - mean, 2);
    }
    return total;
  }
  void set_update_size(float size) { update_size_ = size; }
  void set_ignore_gamma_max(bool ignore) { ignore_gamma_max_ = ignore; }
  double updates() const { return updates_; }
  double lost_deltas() const { return lost_deltas_; }
  std::uint64_t exchanges() const {
    std::uint64_t count = 0;
    for (const auto& member : members_) count += member->core.counters().deltas_applied;
    return count;
  }

 private:
  struct Member {
    Node core;
    tensor::FlatVector x;
    std::deque<Message> mail;
    AlignedBuffer reply;
    bool training = false;
    bool draining = false;
  };

  double SumOf(const Message& message) const {
    tensor::FlatVector values(RangeOf(message.segment, settings_.size).size);
    tensor::Decode(message.encoding, message.payload->view(), values.view());
    double sum = 0;
    for (const float value : values.view()) sum += static_cast<double>(value);
    return sum;
  }
  void DeliverAll(std::size_t i) {
    while (!members_[i]->mail.empty()) {
      const Message message = std::move(members_[i]->mail.front());
      members_[i]->mail.pop_front();
      Deliver(i, message);
    }
  }
  void Deliver(std::size_t i, const Message& message) {
    Member& member = *members_[i];
    const tensor::Encoding encoding = settings_.consensus.encoding.deltas;
    const std::size_t size = RangeOf(message.segment, settings_.size).size;
    member.reply = AlignedBuffer(tensor::EncodedSize(encoding, size));
    Post(i, Received{&message, member.x.view(), {encoding, member.reply.view()}});
  }
  void Post(std::size_t i, const Event& event) {
    Member& member = *members_[i];
    std::vector<Action> actions;
    member.core.Handle(now_, event, actions);
    for (const Action& action : actions) {
      if (std::holds_alternative<Train>(action)) member.training = true;
      if (std::holds_alternative<Drain>(action)) member.draining = true;
      if (const auto* send = std::get_if<SendWeights>(&action)) {
        if (random_.Chance(settings_.weights_drop)) continue;
        const tensor::Encoding encoding = settings_.consensus.encoding.weights;
        const SegmentRange range = RangeOf(send->segment, settings_.size);
        auto payload = std::make_shared<AlignedBuffer>(tensor::EncodedSize(encoding, range.size));
        tensor::Encode(encoding, member.x.view().subspan(range.begin, range.size), payload->view());
        Send(i, MessageKind::kWeights, *send, send->gamma_max, std::move(payload));
      }
      if (const auto* send = std::get_if<SendDeltas>(&action)) {
        auto payload = std::make_shared<AlignedBuffer>(std::move(member.reply));
        if (random_.Chance(settings_.deltas_drop)) {
          Message lost;
          lost.segment = send->segment;
          lost.encoding = settings_.consensus.encoding.deltas;
          lost.payload = std::move(payload);
          lost_deltas_ += SumOf(lost);
          continue;
        }
        Send(i, MessageKind::kDeltas, *send, 1.0f, std::move(payload));
      }
    }
  }
  template <class Action>
  void Send(std::size_t from, MessageKind kind, const Action& action, float gamma_max,
            std::shared_ptr<AlignedBuffer> payload) {
    Message message;
    message.kind = kind;
    message.peer = Key(from);
    message.exchange = action.exchange;
    message.segment = action.segment;
    message.gamma_max = ignore_gamma_max_ ? 1.0f : gamma_max;
    message.encoding = kind == MessageKind::kWeights ? settings_.consensus.encoding.weights
                                                     : settings_.consensus.encoding.deltas;
    message.payload = std::move(payload);
    members_[action.peer.bytes[0]]->mail.push_back(std::move(message));
  }

  FleetSettings settings_;
  Stream random_;
  Time now_{};
  std::vector<std::unique_ptr<Member>> members_;
  float update_size_ = 0;
  bool ignore_gamma_max_ = false;
  double updates_ = 0;
  double lost_deltas_ = 0;
};

// Section 2 of the design: sum x_i - sum(DELTAS in flight) = sum x_i(0) + sum(updates), whatever
// interleaves.
TEST(Averaging, MeanIsPreservedUnderConcurrencyWithoutLoss) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const std::uint32_t sends = 1 + static_cast<std::uint32_t>(seed % 5);
    CoreFleet fleet({.seed = seed, .consensus = {.batches = 1, .sends = sends}});
    fleet.set_update_size(0.05f);
    const double before = fleet.Sum();
    for (int step = 0; step < 4000; ++step) fleet.Act();
    ASSERT_GT(fleet.exchanges(), 200u);
    // 4000 operations on 16 floats below 2: rounding of at most 2^-24 each.
    EXPECT_NEAR(fleet.Sum(), before + fleet.updates(), 4000 * 16 * 0x1.0p-24) << seed;
  }
}

// Whatever an encoding loses, both sides add what decodes.
TEST(Averaging, EveryEncodingPreservesTheMeanAndContracts) {
  using tensor::Encoding;
  constexpr Encodings kPairs[] = {
      {Encoding::kFloat16, Encoding::kFloat16}, {Encoding::kBfloat16, Encoding::kBfloat16},
      {Encoding::kInt8, Encoding::kInt8},       {Encoding::kFloat32, Encoding::kTopK},
      {Encoding::kFloat16, Encoding::kTopK},    {Encoding::kInt8, Encoding::kFloat32}};
  for (const Encodings& encoding : kPairs) {
    CoreFleet fleet({.size = 200, .seed = 5, .consensus = {.batches = 1, .encoding = encoding}});
    const double before = fleet.Sum();
    const double variance = fleet.Variance();
    for (int step = 0; step < 8000; ++step) fleet.Act();
    ASSERT_GT(fleet.exchanges(), 500u);
    EXPECT_NEAR(fleet.Sum(), before, 8000 * 200 * 0x1.0p-24) << Name(encoding.deltas);
    // What is left is the noise of int8: steps of 1/127 between nodes that agree.
    EXPECT_LT(fleet.Variance(), 1e-3 * variance)
        << Name(encoding.weights) << " " << Name(encoding.deltas);
  }
}

TEST(Averaging, SegmentsPreserveTheMeanAndContract) {
  using tensor::Encoding;
  for (const Encodings& encoding : {Encodings{}, Encodings{Encoding::kFloat16, Encoding::kInt8}}) {
    for (const std::uint32_t sends : {1u, 3u, 7u}) {
      CoreFleet fleet({.size = 150,
                       .seed = sends,
                       .consensus = {.batches = 1,
                                     .sends = sends,
                                     .segments = 4,
                                     .limit_in_flight = false,
                                     .encoding = encoding}});
      const double before = fleet.Sum();
      const double variance = fleet.Variance();
      for (int step = 0; step < 20000; ++step) fleet.Act();
      ASSERT_GT(fleet.exchanges(), 500u);
      EXPECT_NEAR(fleet.Sum(), before, 20000 * 150 * 0x1.0p-24) << sends;
      EXPECT_LT(fleet.Variance(), 1e-3 * variance) << sends;
    }
  }
}

TEST(Averaging, MeanMovesExactlyByTheLostDeltas) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CoreFleet fleet({.seed = seed,
                     .weights_drop = 0.25,
                     .deltas_drop = 0.25,
                     .consensus = {.batches = 1, .sends = 1}});
    fleet.set_update_size(0.05f);
    const double before = fleet.Sum();
    for (int step = 0; step < 4000; ++step) fleet.Act();
    EXPECT_NE(fleet.lost_deltas(), 0);
    EXPECT_NEAR(fleet.Sum(), before + fleet.updates() + fleet.lost_deltas(), 4000 * 16 * 0x1.0p-24)
        << seed;
  }
}

// docs/consensus.md, 2: one complete exchange between a random pair multiplies V = sum ||x_i -
// mean||^2 by 1 - 4 gamma (1 - gamma) / (N - 1) on average.
TEST(Averaging, SpreadContractsAtTheRateOfTheTheory) {
  constexpr int kFleets = 30;
  constexpr int kExchanges = 60;
  for (const float gamma : {0.25f, 0.5f}) {
    double ratio = 0;
    for (std::uint64_t seed = 1; seed <= kFleets; ++seed) {
      CoreFleet fleet({.nodes = 10,
                       .size = 64,
                       .seed = seed,
                       .consensus = {.batches = 1, .sends = 1, .gamma = gamma}});
      fleet.PauseAll();
      for (int exchange = 0; exchange < kExchanges; ++exchange) {
        const double before = fleet.Variance();
        fleet.ExchangeAlone();
        ratio += fleet.Variance() / before / (kFleets * kExchanges);
      }
    }
    const double g = static_cast<double>(gamma);
    const double contraction = 4 * g * (1 - g) / 9;
    EXPECT_NEAR((1 - ratio) / contraction, 1.0, 0.05) << gamma;
  }
}

// docs/consensus.md, 3: the M replies to one round were all computed against the same x, so at
// gamma = 1/2, M = 5 overshoots by 1.5 and diverges; at the default, 1/(M+1), it does not.
TEST(Averaging, TheDefaultGammaIsStableWhereOneHalfDiverges) {
  const auto contraction = [](std::optional<float> gamma, bool unlimited_receivers) {
    Settings consensus{.batches = 1, .sends = 5, .gamma = gamma, .limit_in_flight = false};
    CoreFleet fleet({.seed = 3, .consensus = consensus});
    fleet.set_ignore_gamma_max(unlimited_receivers);
    const double before = fleet.Variance();
    for (int round = 0; round < 40; ++round) fleet.LockStep();
    return fleet.Variance() / before;
  };
  EXPECT_LT(contraction(std::nullopt, false), 1e-2);
  EXPECT_LT(contraction(0.5f, false), 1e-2) << "the sender's gamma_max protects it";
  EXPECT_GT(contraction(0.5f, true), 1.0) << "the test of the test";
}

}  // namespace
}  // namespace covey::consensus
