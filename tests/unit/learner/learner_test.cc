// What the learner adds to the core: the encodings of messages. All else of it is tested by whole
// fleets (tests/sim).
#include "covey/learner/learner.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "covey/data/dataset.h"

namespace covey::learner {
namespace {

using tensor::Encoding;
using tensor::EncodingSet;

PeerKey Key(std::uint8_t id) {
  PeerKey key;
  key.bytes[0] = id;
  return key;
}

class Post final : public Host {
 public:
  void Send(consensus::Message message) override { sent.push_back(std::move(message)); }
  void AskToJoin(const PeerKey&) override {}
  void Publish(Snapshot) override {}
  std::optional<consensus::Message> Take() override {
    if (mail.empty()) return std::nullopt;
    consensus::Message next = std::move(mail.front());
    mail.erase(mail.begin());
    return next;
  }

  std::vector<consensus::Message> mail;
  std::vector<consensus::Message> sent;
};

Settings With(consensus::Encodings encoding) {
  Settings settings;
  settings.model.input = {2};
  settings.model.layers = {nn::Dense{2, nn::Activation::kLinear}};
  settings.batch = 2;
  settings.consensus.batches = 1;
  settings.consensus.sends = 1;
  settings.consensus.encoding = encoding;
  return settings;
}

data::Dataset FourSamples() {
  data::Dataset::Memory memory;
  memory.shape = {2};
  memory.classes = 2;
  memory.rows = {0, 200, 200, 0, 100, 200, 200, 100};
  memory.labels = {0, 1, 0, 1};
  return data::Dataset::FromMemory(std::move(memory));
}

class EncodedLearner {
 public:
  explicit EncodedLearner(consensus::Encodings encoding)
      : learner_(With(encoding), FourSamples(), {0, 1, 2, 3}, post_) {
    learner_.Start({});
  }

  void Up(std::uint8_t peer, EncodingSet takes) {
    learner_.Handle({}, consensus::PeerUp{Key(peer), takes});
  }
  void Down(std::uint8_t peer) { learner_.Handle({}, consensus::PeerDown{Key(peer)}); }
  // Returns: what was sent in one round, in which a WEIGHTS of `peer` was received.
  std::vector<consensus::Message> RoundWithWeightsOf(std::uint8_t peer) {
    post_.sent.clear();
    consensus::Message weights;
    weights.peer = Key(peer);
    weights.exchange = ExchangeId{++exchange_};
    weights.encoding = Encoding::kFloat16;
    auto payload =
        std::make_shared<AlignedBuffer>(tensor::EncodedSize(weights.encoding, learner_.x().size()));
    tensor::Encode(weights.encoding, learner_.x(), payload->view());
    weights.payload = std::move(payload);
    post_.mail.push_back(std::move(weights));
    learner_.TrainBatch();
    learner_.Trained({}, 1);
    return std::exchange(post_.sent, {});
  }
  // Returns: what a newcomer gets that asks while a round is under way.
  consensus::Message CopyFor(std::uint8_t peer) {
    post_.sent.clear();
    learner_.Handle({}, consensus::JoinAsked{Key(peer)});
    learner_.TrainBatch();
    learner_.Trained({}, 1);
    for (const consensus::Message& message : post_.sent) {
      if (message.copy) return message;
    }
    ADD_FAILURE() << "no copy was sent";
    return {};
  }
  std::size_t size() const { return learner_.x().size(); }

 private:
  Post post_;
  Learner learner_;
  std::uint64_t exchange_ = 100;
};

void ExpectEncodings(const std::vector<consensus::Message>& sent, Encoding weights, Encoding deltas,
                     std::size_t n) {
  ASSERT_EQ(sent.size(), 2u);
  for (const consensus::Message& message : sent) {
    const bool is_weights = message.kind == consensus::MessageKind::kWeights;
    const Encoding wanted = is_weights ? weights : deltas;
    EXPECT_EQ(message.encoding, wanted) << tensor::Name(message.encoding);
    EXPECT_EQ(message.payload->size(), tensor::EncodedSize(wanted, n));
  }
}

TEST(LearnerEncodings, AreThoseOfTheSettingsWherePeersReadThem) {
  EncodedLearner learner({Encoding::kInt8, Encoding::kTopK});
  learner.Up(1, EncodingSet::All());
  ExpectEncodings(learner.RoundWithWeightsOf(1), Encoding::kInt8, Encoding::kTopK, learner.size());
}

TEST(LearnerEncodings, FallBackToFloat32ForAPeerThatReadsNoOther) {
  EncodedLearner learner({Encoding::kFloat16, Encoding::kFloat16});
  learner.Up(1, EncodingSet());
  ExpectEncodings(learner.RoundWithWeightsOf(1), Encoding::kFloat32, Encoding::kFloat32,
                  learner.size());
  // The next life of that peer has learned it.
  learner.Down(1);
  learner.Up(1, EncodingSet::All());
  ExpectEncodings(learner.RoundWithWeightsOf(1), Encoding::kFloat16, Encoding::kFloat16,
                  learner.size());
}

TEST(LearnerEncodings, AreChosenForEachPeer) {
  EncodedLearner learner({Encoding::kFloat16, Encoding::kFloat16});
  learner.Up(1, EncodingSet::All());
  learner.Up(2, EncodingSet());
  for (int round = 0; round < 20; ++round) {
    for (const consensus::Message& message : learner.RoundWithWeightsOf(2)) {
      const bool old = message.peer == Key(2);
      EXPECT_EQ(message.encoding, old ? Encoding::kFloat32 : Encoding::kFloat16);
    }
  }
}

TEST(LearnerEncodings, ANewcomerGetsAnExactCopy) {
  EncodedLearner learner({Encoding::kInt8, Encoding::kInt8});
  learner.Up(1, EncodingSet::All());
  EXPECT_EQ(learner.CopyFor(1).encoding, Encoding::kFloat32);
}

}  // namespace
}  // namespace covey::learner
