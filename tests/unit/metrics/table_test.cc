#include "covey/metrics/table.h"

#include <gtest/gtest.h>

#include <limits>

namespace covey::metrics {
namespace {

TEST(MetricsTable, WritesJsonInOrderOfRegistration) {
  Table table;
  table.AddGauge("covey_train_loss", "Mean loss").Set(0.5);
  table.AddCounter("covey_rejects_total", "Rejected", "reason=\"busy\"").Add(3);
  table.AddCounter("covey_rejects_total", "Rejected", "reason=\"size\"");
  EXPECT_EQ(table.JsonLine(), R"({"covey_train_loss":0.5,"covey_rejects_total{reason=\"busy\"}":3,)"
                              R"("covey_rejects_total{reason=\"size\"}":0})");
}

TEST(MetricsTable, JsonHasNullForWhatIsNotFinite) {
  Table table;
  table.AddGauge("covey_a", "a").Set(std::numeric_limits<double>::infinity());
  table.AddGauge("covey_b", "b").Set(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(table.JsonLine(), R"({"covey_a":null,"covey_b":null})");
}

TEST(MetricsTable, EmptyTableIsValid) {
  EXPECT_EQ(Table().JsonLine(), "{}");
  EXPECT_EQ(Table().Exposition(), "");
}

TEST(MetricsTable, ExpositionHoldsSamplesOfOneNameTogether) {
  Table table;
  table.AddCounter("covey_rejects_total", "Rejected\nframes", "reason=\"busy\"").Add(2);
  table.AddGauge("covey_loss", "Loss").Set(-std::numeric_limits<double>::infinity());
  table.AddCounter("covey_rejects_total", "Rejected\nframes", "reason=\"size\"").Add(1);
  EXPECT_EQ(table.Exposition(),
            "# HELP covey_rejects_total Rejected\\nframes\n"
            "# TYPE covey_rejects_total counter\n"
            "covey_rejects_total{reason=\"busy\"} 2\n"
            "covey_rejects_total{reason=\"size\"} 1\n"
            "# HELP covey_loss Loss\n"
            "# TYPE covey_loss gauge\n"
            "covey_loss -Inf\n");
}

TEST(MetricsTable, SameNameAndLabelsAreOneMetric) {
  Table table;
  Counter& first = table.AddCounter("covey_a_total", "a");
  for (int i = 0; i < 100; ++i) {
    table.AddCounter("covey_b_total", "b", "i=\"" + std::to_string(i) + "\"");
  }
  EXPECT_EQ(&first, &table.AddCounter("covey_a_total", "a"));
}

TEST(MetricsTableDeath, NamesFollowTheRules) {
  Table table;
  table.AddCounter("covey_a_total", "a");
  EXPECT_DEATH(table.AddCounter("covey_a", "a"), "_total");
  EXPECT_DEATH(table.AddGauge("covey_a_total", "a"), "_total");
  EXPECT_DEATH(table.AddGauge("other_a", "a"), "IsName");
  EXPECT_DEATH(table.AddGauge("covey_", "a"), "IsName");
  EXPECT_DEATH(table.AddGauge("covey_A", "a"), "IsName");
  EXPECT_DEATH(table.AddCounter("covey_a_total", "another help"), "help");
}

TEST(MetricsTableDeath, TableIsBounded) {
  Table table;
  for (std::size_t i = 0; i < Table::kMaxMetrics; ++i) {
    table.AddGauge("covey_g", "g", "i=\"" + std::to_string(i) + "\"");
  }
  EXPECT_DEATH(table.AddGauge("covey_g", "g", "i=\"one more\""), "kMaxMetrics");
}

}  // namespace
}  // namespace covey::metrics
