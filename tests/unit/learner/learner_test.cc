// What the learner adds to the core: the encodings of messages, the published average. All else of
// it is tested by whole fleets (tests/sim).
#include "covey/learner/learner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
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
  void Publish(Snapshot snapshot) override { published.push_back(std::move(snapshot)); }
  void TooFar(const PeerKey& peer) override { too_far.push_back(peer); }
  std::optional<consensus::Message> Take() override {
    if (mail.empty()) return std::nullopt;
    consensus::Message next = std::move(mail.front());
    mail.erase(mail.begin());
    return next;
  }

  std::vector<consensus::Message> mail;
  std::vector<consensus::Message> sent;
  std::vector<Snapshot> published;
  std::vector<PeerKey> too_far;
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
  // Returns: what was sent in one round, in which a WEIGHTS of `peer` was received: our x, and
  // `more` in every element.
  std::vector<consensus::Message> RoundWithWeightsOf(std::uint8_t peer, float more = 0) {
    post_.sent.clear();
    consensus::Message weights;
    weights.peer = Key(peer);
    weights.exchange = ExchangeId{++exchange_};
    weights.encoding = Encoding::kFloat16;
    auto payload =
        std::make_shared<AlignedBuffer>(tensor::EncodedSize(weights.encoding, learner_.x().size()));
    tensor::FlatVector theirs(learner_.x().size());
    for (std::size_t i = 0; i < theirs.size(); ++i) theirs[i] = learner_.x()[i] + more;
    tensor::Encode(weights.encoding, theirs.view(), payload->view());
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
  const std::vector<PeerKey>& too_far() const { return post_.too_far; }

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

// y <- y + w (x - y) recomputed beside; the settled model is x itself.
TEST(Learner, TellsWhoSentSomethingTooFarAway) {
  EncodedLearner learner({});
  learner.Up(1, EncodingSet::All());
  learner.RoundWithWeightsOf(1);
  EXPECT_TRUE(learner.too_far().empty());
  learner.RoundWithWeightsOf(1, 1000);
  EXPECT_EQ(learner.too_far(), std::vector<PeerKey>{Key(1)});
}

TEST(LearnerAverage, IsPublishedUntilTheNodeHasSettled) {
  Settings settings = With({});
  settings.average = 0.75f;
  settings.consensus.publish_batches = 1;
  settings.consensus.until_batches = 8;
  settings.optimizer.learning_rate = 0.1f;
  Post post;
  Learner learner(settings, FourSamples(), {0, 1, 2, 3}, post);
  std::vector<double> y(learner.x().begin(), learner.x().end());
  learner.Start({});
  double apart = 0;
  for (int round = 1; round <= 8; ++round) {
    learner.TrainBatch();
    learner.Trained({}, 1);
    ASSERT_FALSE(post.published.empty());
    const Snapshot& last = post.published.back();
    const double weight = std::max(0.25, 1.0 / (1 + round));
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] += weight * (static_cast<double>(learner.x()[i]) - y[i]);
      if (last.state != consensus::State::kTraining) continue;
      EXPECT_NEAR(static_cast<double>((*last.x)[i]), y[i], 1e-5);
      apart = std::max(apart, std::abs(y[i] - static_cast<double>(learner.x()[i])));
    }
  }
  EXPECT_GT(apart, 0.05) << "the average is not the model itself";
  const Snapshot& settled = post.published.back();
  EXPECT_EQ(settled.state, consensus::State::kDone);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ((*settled.x)[i], learner.x()[i]);
}

TEST(LearnerEncodings, ANewcomerGetsAnExactCopy) {
  EncodedLearner learner({Encoding::kInt8, Encoding::kInt8});
  learner.Up(1, EncodingSet::All());
  EXPECT_EQ(learner.CopyFor(1).encoding, Encoding::kFloat32);
}

TEST(LearnerWithExchangedState, SendsItAndPublishesParametersOnly) {
  Settings settings = With({});
  settings.optimizer.exchanged = true;  // adam: m and v
  Post post;
  Learner learner(settings, FourSamples(), {0, 1, 2, 3}, post);
  const std::size_t parameters = 2 * 2 + 2;
  ASSERT_EQ(learner.x().size(), 2 * optim::kSliceAlignment + parameters);
  learner.Start({});
  learner.Handle({}, consensus::PeerUp{Key(1), {}});
  learner.TrainBatch();
  learner.Trained({}, 1);
  ASSERT_EQ(post.sent.size(), 1u);
  EXPECT_EQ(post.sent[0].payload->size(), learner.x().size() * sizeof(float));
  EXPECT_EQ(learner.TakeSnapshot().x->size(), parameters);

  // A peer, one of two, whose moments are all 1 pulls ours half-way; a restart has them.
  learner.Handle({}, consensus::PeerUp{Key(2), {}});
  consensus::Message weights;
  weights.peer = Key(1);
  weights.exchange = ExchangeId{7};
  weights.gamma_max = 0.5f;
  auto payload = std::make_shared<AlignedBuffer>(learner.x().size() * sizeof(float));
  std::vector<float> ones(learner.x().size(), 1.0f);
  std::memcpy(payload->view().data(), ones.data(), payload->size());
  weights.payload = std::move(payload);
  post.mail.push_back(std::move(weights));
  const float m_before = learner.x()[optim::kSliceAlignment];
  learner.TrainBatch();
  learner.Trained({}, 1);
  const Saved saved = learner.Save();
  EXPECT_EQ(saved.x.size(), parameters);
  ASSERT_EQ(saved.optimizer.size(), 2u);
  const float m = saved.optimizer[0].second[0];
  EXPECT_EQ(m, learner.x()[optim::kSliceAlignment]);
  EXPECT_NEAR(m, 0.5f, 0.2f) << m_before;

  Learner again(settings, FourSamples(), {0, 1, 2, 3}, post);
  ASSERT_TRUE(again.Restore(saved));
  const Saved once_more = again.Save();
  EXPECT_TRUE(std::equal(saved.x.view().begin(), saved.x.view().end(), once_more.x.view().begin()));
  for (std::size_t slot = 0; slot < 2; ++slot) {
    const tensor::FlatVector& values = saved.optimizer[slot].second;
    EXPECT_TRUE(std::equal(values.view().begin(), values.view().end(),
                           again.x().subspan((slot + 1) * optim::kSliceAlignment).begin()));
  }
}

}  // namespace
}  // namespace covey::learner
