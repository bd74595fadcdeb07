// The choice between one thread and all, on a made-up machine.
#include "covey/gradient/pace.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>

namespace covey::gradient::pace_test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Use = Workers::Use;

// Steps of 100 samples; all threads are `gain` times as fast as one.
struct Machine {
  Duration one = microseconds(500);
  double gain = 1.9;

  Duration Step(Use use) const { return use == Use::kOne ? one : FromSeconds(Seconds(one) / gain); }
};

struct Share {
  std::size_t steps = 0;
  Duration time{0}, on_all{0};
  double all() const { return Seconds(on_all) / Seconds(time); }
};

Share Train(Pace& pace, const Machine& machine, Duration length) {
  Share share;
  while (share.time < length) {
    const Use use = pace.use();
    const Duration took = machine.Step(use);
    pace.Stepped(took, 100);
    share.time += took;
    if (use == Use::kAll) share.on_all += took;
    ++share.steps;
  }
  return share;
}

TEST(Pace, TakesAllThreadsWhereTheyGain) {
  Pace pace;
  const Machine machine;
  Train(pace, machine, milliseconds(50));
  EXPECT_EQ(pace.use(), Use::kAll);
  EXPECT_GT(Train(pace, machine, seconds(10)).all(), 0.94);
  EXPECT_NEAR(pace.rate(Use::kAll) / pace.rate(Use::kOne), 1.9, 0.01);
}

TEST(Pace, KeepsToOneWhereTheyDoNot) {
  for (const double gain : {0.05, 0.5, 1.0, 1.04}) {
    Pace pace;
    const Machine machine{.gain = gain};
    const Share share = Train(pace, machine, seconds(10));
    EXPECT_EQ(pace.use(), Use::kOne) << gain;
    // Over 10 s two threads are not slower than 0.9 of one, also where they are 20 times slower.
    EXPECT_GT(static_cast<double>(share.steps), 0.9 * Seconds(share.time) / Seconds(machine.one))
        << gain;
  }
}

TEST(Pace, FollowsANeighbourThatComesAndGoes) {
  Pace pace;
  Train(pace, {}, seconds(1));
  ASSERT_EQ(pace.use(), Use::kAll);
  const Share busy = Train(pace, {.gain = 0.3}, seconds(10));
  EXPECT_LT(busy.all(), 0.1);
  EXPECT_EQ(pace.use(), Use::kOne);
  Train(pace, {}, milliseconds(400));
  EXPECT_EQ(pace.use(), Use::kAll);
}

TEST(Pace, ASlumpIsNoticedBeforeTheNextProbe) {
  Pace pace;
  while (pace.use() != Use::kAll) Train(pace, {}, milliseconds(1));
  Train(pace, {}, milliseconds(60));
  ASSERT_EQ(pace.use(), Use::kAll);
  Train(pace, {.gain = 0.5}, milliseconds(70));
  EXPECT_EQ(pace.use(), Use::kOne) << "earlier than kKeep";
}

TEST(Pace, LongStepsAreJudgedToo) {
  Pace pace;
  const Machine machine{.one = seconds(1)};
  for (int i = 0; i < 8; ++i) pace.Stepped(machine.Step(pace.use()), 100);
  EXPECT_EQ(pace.use(), Use::kAll);
}

}  // namespace
}  // namespace covey::gradient::pace_test
