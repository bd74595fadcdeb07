#include "covey/session/settings.h"

#include <gtest/gtest.h>

namespace covey::session {
namespace {

Settings Good() {
  Settings settings;
  settings.vector_size = 1;
  return settings;
}

TEST(SessionSettings, DefaultsAreGoodButForTheVector) {
  EXPECT_TRUE(Validate(Good()).has_value());
  EXPECT_FALSE(Validate(Settings{}).has_value());
}

TEST(SessionSettings, ChunkAndCreditHaveLimits) {
  Settings settings = Good();
  for (const std::uint32_t good : {1024u, 262144u}) {
    settings.max_chunk = good;
    EXPECT_TRUE(Validate(settings).has_value()) << good;
  }
  for (const std::uint32_t bad : {0u, 1023u, 262145u}) {
    settings.max_chunk = bad;
    EXPECT_FALSE(Validate(settings).has_value()) << bad;
  }
  settings = Good();
  for (const std::uint32_t good : {1u, 1u << 20}) {
    settings.credit = good;
    EXPECT_TRUE(Validate(settings).has_value()) << good;
  }
  for (const std::uint32_t bad : {0u, (1u << 20) + 1}) {
    settings.credit = bad;
    EXPECT_FALSE(Validate(settings).has_value()) << bad;
  }
  settings = Good();
  settings.deltas_queue = 0;
  EXPECT_FALSE(Validate(settings).has_value());
}

TEST(SessionSettings, DurationsArePositiveAndErrorsNameThem) {
  for (Duration Settings::*const duration :
       {&Settings::ping_every, &Settings::timeout, &Settings::hello_timeout,
        &Settings::progress_timeout, &Settings::refused_for, &Settings::join_every,
        &Settings::retry}) {
    Settings settings = Good();
    settings.*duration = Duration::zero();
    EXPECT_FALSE(Validate(settings).has_value());
    settings.*duration = Duration::max();
    EXPECT_FALSE(Validate(settings).has_value());
  }
  Settings settings = Good();
  settings.hello_timeout = Duration::zero();
  EXPECT_EQ(Validate(settings).error().where, "network.hello_timeout");
}

TEST(SessionSettings, SilenceIsJudgedAfterAPing) {
  Settings settings = Good();
  settings.timeout = settings.ping_every;
  EXPECT_FALSE(Validate(settings).has_value());
  settings.timeout += Duration(1);
  EXPECT_TRUE(Validate(settings).has_value());
}

}  // namespace
}  // namespace covey::session
