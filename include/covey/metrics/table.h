// One table of everything that a daemon counts or measures; each number has one owner and many
// readers.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

namespace covey::metrics {

// Only grows. Thread: any; relaxed, so two counters read together may be a moment apart.
class Counter {
 public:
  void Add(std::uint64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  // For counters whose owner counts elsewhere and copies. Requires: never less than before.
  void Set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// Goes up and down. Thread: any.
class Gauge {
 public:
  void Set(double value) { value_.store(value, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

// Names follow Prometheus: "covey_" first, base units (seconds, bytes), counters end in "_total".
// Thread: any.
class Table {
 public:
  // `labels` is empty or in exposition form: reason="busy",role="sender"; names and label sets come
  // from our code, never from a peer. The reference lives as long as the table; asking again for
  // the same name and labels returns the same metric. Requires: [a-z0-9_]+ that starts with
  // "covey_"; a counter ends in "_total", a gauge does not; one kind and one help text for each
  // name; at most kMaxMetrics.
  Counter& AddCounter(std::string_view name, std::string_view help, std::string_view labels = {});
  Gauge& AddGauge(std::string_view name, std::string_view help, std::string_view labels = {});

  // One JSON object without a line end:
  // {"covey_batches_total":12,"covey_rejects_total{reason=\"busy\"}":1}, in order of registration.
  // A number that JSON does not have (not finite) becomes null.
  std::string JsonLine() const;

  // Prometheus exposition text 0.0.4: HELP and TYPE once for each name, its samples together.
  std::string Exposition() const;

  static constexpr std::size_t kMaxMetrics = 1024;

 private:
  struct Entry {
    std::string name;
    std::string help;
    std::string labels;
    bool is_counter = true;
    Counter counter;
    Gauge gauge;
  };

  Entry& Add(std::string_view name, std::string_view help, std::string_view labels,
             bool is_counter);

  mutable std::mutex mutex_;
  std::deque<Entry> entries_;  // a deque: references stay valid
};

}  // namespace covey::metrics
