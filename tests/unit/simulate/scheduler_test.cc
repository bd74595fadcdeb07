#include "covey/simulate/scheduler.h"

#include <gtest/gtest.h>

#include <vector>

namespace covey::simulate {
namespace {

TEST(Scheduler, RunsInOrderOfTimeThenOfScheduling) {
  Scheduler scheduler;
  std::vector<int> order;
  scheduler.At(Time(20), [&] { order.push_back(3); });
  scheduler.At(Time(10), [&] {
    order.push_back(1);
    scheduler.After(Duration::zero(), [&] { order.push_back(2); });
    scheduler.At(Time(5), [&] { order.push_back(20); });  // the past means now
  });
  scheduler.At(Time(20), [&] { order.push_back(4); });
  while (scheduler.RunNext()) {
  }
  EXPECT_EQ(order, (std::vector<int>{1, 2, 20, 3, 4}));
  EXPECT_EQ(scheduler.now(), Time(20));
}

}  // namespace
}  // namespace covey::simulate
