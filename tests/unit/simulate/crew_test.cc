#include "simulate/crew.h"

#include <gtest/gtest.h>

#include <vector>

namespace covey::simulate {
namespace {

TEST(Crew, AloneTheCallerDoesTheWorkWhenItWaits) {
  Crew crew(1);
  EXPECT_EQ(crew.lanes(), 1u);
  int done = 0;
  const auto job = crew.Start([&done](std::size_t lane) {
    EXPECT_EQ(lane, 0u);
    ++done;
  });
  EXPECT_EQ(done, 0);
  EXPECT_FALSE(Crew::Done(*job));
  crew.Wait(*job);
  crew.Wait(*job);
  EXPECT_EQ(done, 1);
  EXPECT_TRUE(Crew::Done(*job));
}

TEST(Crew, EveryJobIsDoneOnceWhoeverDoesIt) {
  Crew crew(3);
  std::vector<int> counts(2000, 0);
  std::vector<std::shared_ptr<Crew::Job>> jobs;
  for (int& count : counts) {
    jobs.push_back(crew.Start([&count](std::size_t lane) {
      EXPECT_LT(lane, 3u);
      ++count;
    }));
  }
  for (const auto& job : jobs) crew.Wait(*job);
  for (const int count : counts) EXPECT_EQ(count, 1);
}

TEST(Crew, WhatNobodyWaitedForIsDoneBeforeItEnds) {
  int done = 0;
  {
    Crew crew(2);
    crew.Start([&done](std::size_t) { ++done; });
  }
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace covey::simulate
