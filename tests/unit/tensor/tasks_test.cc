#include "covey/tensor/tasks.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace covey::tensor::tasks_test {
namespace {

TEST(SerialTasks, RunEachPartOnceInOrderAsWorkerZero) {
  SerialTasks tasks;
  EXPECT_EQ(tasks.width(), 1u);
  std::vector<std::size_t> parts;
  tasks.Run(5, [&](std::size_t part, std::size_t worker) {
    EXPECT_EQ(worker, 0u);
    parts.push_back(part);
  });
  EXPECT_EQ(parts, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

TEST(SerialTasks, RunNothingForNoParts) {
  SerialTasks tasks;
  std::size_t calls = 0;
  tasks.Run(0, [&](std::size_t) { ++calls; });
  EXPECT_EQ(calls, 0u);
}

TEST(Task, ABodyMayLeaveTheWorkerOutAndTasksMayBePassedOn) {
  std::size_t sum = 0;
  const auto body = [&](std::size_t part) { sum += part; };
  const Task task(body);
  const Task copy = task;
  SerialTasks tasks;
  tasks.Run(4, copy);
  EXPECT_EQ(sum, 6u);
}

}  // namespace
}  // namespace covey::tensor::tasks_test
