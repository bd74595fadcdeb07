#include "harness/fleet_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/idx_files.h"

namespace covey::harness {
namespace {

class FleetMemoryTest : public testing::Test {
 protected:
  FleetMemoryTest() {
    Result<JobStore> store = JobStore::Open(folder_ / "results.jsonl");
    EXPECT_TRUE(store) << store.error().Format();
    store_.emplace(std::move(*store));
    for (const std::uint64_t memory : {10u, 40u, 30u, 20u}) {
      jobs_.push_back({.id = std::to_string(memory),
                       .title = "M = " + std::to_string(memory),
                       .memory = memory,
                       .run = {}});
    }
  }

  // "2 jobs, 70 bytes"
  std::string Fitting(std::size_t wanted, std::uint64_t machine) {
    const auto fitting = FittingJobs(jobs_, *store_, wanted, machine);
    if (!fitting) return fitting.error().Format();
    return std::to_string(fitting->jobs) + " jobs, " + std::to_string(fitting->needed) + " bytes";
  }

  test::TemporaryFolder folder_;
  std::optional<JobStore> store_;
  std::vector<Job> jobs_;
};

TEST_F(FleetMemoryTest, TheLargestFleetsMayMeet) {
  EXPECT_EQ(Fitting(2, 1000), "2 jobs, 70 bytes");
  EXPECT_EQ(Fitting(2, 70), "2 jobs, 70 bytes");
  EXPECT_EQ(Fitting(2, 69), "1 jobs, 40 bytes");
  EXPECT_EQ(Fitting(8, 90), "3 jobs, 90 bytes");
  EXPECT_EQ(Fitting(8, 0), "4 jobs, 100 bytes") << "nobody knows what the machine has";
}

TEST_F(FleetMemoryTest, OneThatDoesNotFitAloneIsRefused) {
  const auto refused = FittingJobs(jobs_, *store_, 1, 39);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(refused.error().what, testing::HasSubstr("'M = 40' need about 40 B"));
  EXPECT_EQ(Fitting(1, 40), "1 jobs, 40 bytes");
}

TEST_F(FleetMemoryTest, WhatHasAResultNeedsNothing) {
  ASSERT_TRUE(store_->Append("40", "1"));
  EXPECT_EQ(Fitting(2, 50), "2 jobs, 50 bytes");
  for (const char* id : {"10", "20", "30"}) ASSERT_TRUE(store_->Append(id, "1"));
  EXPECT_EQ(Fitting(2, 1), "0 jobs, 0 bytes");
}

}  // namespace
}  // namespace covey::harness
