#include "node/mailbox.h"

#include <gtest/gtest.h>

#include <thread>

#include "node/outbox.h"

namespace covey::node {
namespace {

using namespace std::chrono_literals;

consensus::Message MessageOf(consensus::MessageKind kind, std::uint64_t exchange) {
  consensus::Message message;
  message.kind = kind;
  message.exchange = ExchangeId{exchange};
  message.payload = std::make_shared<const AlignedBuffer>(64);
  return message;
}

TEST(Mailbox, HandsOutMessagesInOrderAndNamesTheEvicted) {
  const Clock clock;
  Mailbox mailbox(clock, {.weights = 2, .deltas = 1});
  EXPECT_FALSE(mailbox.HasMail());
  EXPECT_TRUE(mailbox.Deliver(MessageOf(consensus::MessageKind::kWeights, 1)).empty());
  EXPECT_TRUE(mailbox.Deliver(MessageOf(consensus::MessageKind::kWeights, 2)).empty());
  const auto evicted = mailbox.Deliver(MessageOf(consensus::MessageKind::kWeights, 3));
  ASSERT_EQ(evicted.size(), 1u);
  EXPECT_EQ(evicted[0].exchange.value, 1u);
  EXPECT_EQ(mailbox.report().size, 2u);
  EXPECT_EQ(mailbox.report().counters.evicted_weights, 1u);
  EXPECT_EQ(mailbox.Take()->exchange.value, 2u);
  EXPECT_EQ(mailbox.Take()->exchange.value, 3u);
  EXPECT_FALSE(mailbox.Take().has_value());
}

TEST(Mailbox, NoticesComeInOrderAndOnce) {
  const Clock clock;
  Mailbox mailbox(clock, {});
  EXPECT_FALSE(mailbox.HasNotices());
  mailbox.Notice(consensus::PeerUp{});
  mailbox.Notice(consensus::Commanded{consensus::Command::kPause});
  EXPECT_TRUE(mailbox.HasNotices());
  const auto notices = mailbox.TakeNotices();
  ASSERT_EQ(notices.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<consensus::PeerUp>(notices[0]));
  EXPECT_TRUE(std::holds_alternative<consensus::Commanded>(notices[1]));
  EXPECT_FALSE(mailbox.HasNotices());
  EXPECT_TRUE(mailbox.TakeNotices().empty());
}

TEST(Mailbox, WaitEndsForNoticeMessageOrTime) {
  const Clock clock;
  Mailbox mailbox(clock, {});
  mailbox.Wait(clock.Now());  // the time has come
  mailbox.Notice(consensus::PeerUp{});
  mailbox.Wait(kNever);
  mailbox.TakeNotices();
  mailbox.Deliver(MessageOf(consensus::MessageKind::kWeights, 1));
  mailbox.Wait(kNever);
  mailbox.Take();
  std::thread other([&] { mailbox.Notice(consensus::PeerUp{}); });
  mailbox.Wait(kNever);
  EXPECT_TRUE(mailbox.HasNotices());
  other.join();
}

TEST(Outbox, OnlyTheFirstParcelWakesTheReader) {
  Outbox outbox;
  EXPECT_TRUE(outbox.Put(AskToJoin{}));
  EXPECT_FALSE(outbox.Put(AskToJoin{}));
  EXPECT_EQ(outbox.TakeAll().size(), 2u);
  EXPECT_TRUE(outbox.empty());
  EXPECT_TRUE(outbox.Put(AskToJoin{}));
}

TEST(Outbox, DropsWeightsAtItsLimitAndNeverDeltas) {
  Outbox outbox;
  for (std::size_t i = 0; i < Outbox::kMaxParcels; ++i) {
    outbox.Put(MessageOf(consensus::MessageKind::kWeights, i));
  }
  EXPECT_EQ(outbox.dropped(), 0u);
  outbox.Put(MessageOf(consensus::MessageKind::kWeights, 1000));
  EXPECT_EQ(outbox.dropped(), 1u);
  outbox.Put(MessageOf(consensus::MessageKind::kDeltas, 1001));
  EXPECT_EQ(outbox.dropped(), 1u);
  EXPECT_EQ(outbox.TakeAll().size(), Outbox::kMaxParcels + 1);
}

}  // namespace
}  // namespace covey::node
