// What must be true of a fleet at any time. Each checker is an object that is told of everything
// and says what it finds wrong.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "covey/base/ids.h"
#include "covey/simulate/probe.h"

namespace covey::simulate {

struct Violation {
  std::string what;
  std::uint32_t node = 0;
  Time at{};
};

// Takes the first violation.
class Findings {
 public:
  void Report(std::uint32_t node, Time at, const std::string& what) {
    if (!first_) first_ = Violation{what, node, at};
  }
  const std::optional<Violation>& first() const { return first_; }

 private:
  std::optional<Violation> first_;
};

// Does nothing about everything: a checker overrides what it looks at.
class Checker : public Probe {
 public:
  explicit Checker(Findings& findings) : findings_(findings) {}

  void Begins(std::uint32_t, Time, const learner::Learner&, const learner::Saved*) override {}
  void Ends(std::uint32_t, Time, const learner::Learner&) override {}
  void Sent(std::uint32_t, Time, const consensus::Message&) override {}
  void Delivered(std::uint32_t, Time, const consensus::Message&, const consensus::Fifo&) override {}
  void Took(std::uint32_t, Time, const consensus::Fifo&) override {}
  void Applied(std::uint32_t, Time, const consensus::Message&) override {}
  void Trains(std::uint32_t, tensor::ConstVectorView) override {}
  void Trained(std::uint32_t, tensor::ConstVectorView) override {}
  void Turn(std::uint32_t, Time, const learner::Learner&, const learner::Links&,
            const consensus::Fifo&) override {}
  bool stop() const override { return findings_.first().has_value(); }

 protected:
  Findings& findings_;
};

// Equation: sum_i x_i - sum(DELTAS made and not applied) = sum_i x_i(0) + sum(local updates), in
//   double, coordinate by coordinate. DELTAS that were lost stay in the second sum; a life that
//   begins brings its x with it and one that ends takes it along.
// Held twice: at every turn of a node for what it moved by (to rounding of its additions, so that
// the whole sum holds by induction), and every so often for the whole fleet, which also checks this
// checker.
class SumInvariant final : public Checker {
 public:
  SumInvariant(Findings& findings, std::map<PeerKey, std::uint32_t> nodes);

  void Begins(std::uint32_t node, Time now, const learner::Learner& learner,
              const learner::Saved* from) override;
  void Ends(std::uint32_t node, Time now, const learner::Learner& learner) override;
  void Sent(std::uint32_t node, Time now, const consensus::Message& message) override;
  void Applied(std::uint32_t node, Time now, const consensus::Message& message) override;
  void Trains(std::uint32_t node, tensor::ConstVectorView before) override;
  void Trained(std::uint32_t node, tensor::ConstVectorView after) override;
  void Turn(std::uint32_t node, Time now, const learner::Learner& learner, const learner::Links&,
            const consensus::Fifo&) override;

 private:
  using Vector = std::vector<double>;
  struct Node {
    Vector x;      // at its last turn
    Vector moves;  // that it should have made since
    Vector size;   // of these, absolute
    double count = 0;
  };
  void Move(Node& node, const Vector& by, double sign);
  void CheckNode(std::uint32_t index, Time now, tensor::ConstVectorView x);
  void CheckFleet(std::uint32_t index, Time now);

  std::map<PeerKey, std::uint32_t> keys_;
  std::map<std::uint32_t, Node> nodes_;
  // DELTAS that were made and not applied, by the node that began the exchange.
  std::multimap<std::pair<std::uint32_t, ExchangeId>, Vector> open_;
  Vector open_sum_;
  Vector expected_;
  Vector before_;
  double additions_ = 0;
  double largest_ = 0;
  std::uint64_t turns_ = 0;
};

// An exchange begins once, its WEIGHTS move their receiver once in a life, and its DELTAS are
// applied once.
class ExactlyOnce final : public Checker {
 public:
  using Checker::Checker;
  void Sent(std::uint32_t node, Time now, const consensus::Message& message) override;
  void Applied(std::uint32_t node, Time now, const consensus::Message& message) override;
  void Ends(std::uint32_t node, Time, const learner::Learner&) override { taken_.erase(node); }
  std::uint64_t completed() const { return answered_.size(); }

 private:
  std::map<std::uint32_t, std::set<std::pair<PeerKey, ExchangeId>>> taken_;  // by receiver
  std::set<std::pair<std::uint32_t, ExchangeId>> begun_;
  std::set<std::pair<std::uint32_t, ExchangeId>> answered_;
};

// No FIFO holds more than its limits say, and who sent what it evicts is told.
class BoundedQueues final : public Checker {
 public:
  BoundedQueues(Findings& findings, consensus::FifoLimits limits)
      : Checker(findings), limits_(limits) {}
  void Delivered(std::uint32_t node, Time now, const consensus::Message&,
                 const consensus::Fifo& fifo) override;
  void Turn(std::uint32_t node, Time now, const learner::Learner&, const learner::Links& links,
            const consensus::Fifo& fifo) override;

 private:
  consensus::FifoLimits limits_;
};

// No model and no message holds a value that is not finite.
class FiniteValues final : public Checker {
 public:
  using Checker::Checker;
  void Sent(std::uint32_t node, Time now, const consensus::Message& message) override;
  void Turn(std::uint32_t node, Time now, const learner::Learner& learner, const learner::Links&,
            const consensus::Fifo&) override;
};

// Whatever waits in a FIFO is taken from it within a time.
class NoStarvation final : public Checker {
 public:
  NoStarvation(Findings& findings, Duration patience) : Checker(findings), patience_(patience) {}
  void Ends(std::uint32_t node, Time, const learner::Learner&) override { waiting_.erase(node); }
  void Delivered(std::uint32_t node, Time now, const consensus::Message&,
                 const consensus::Fifo&) override;
  void Took(std::uint32_t node, Time now, const consensus::Fifo& fifo) override;

 private:
  Duration patience_;
  std::map<std::uint32_t, Time> waiting_;  // since when
};

// Every reply that the core makes is sent, and a restart goes on from its checkpoint.
class NothingForgotten final : public Checker {
 public:
  using Checker::Checker;
  void Begins(std::uint32_t node, Time now, const learner::Learner& learner,
              const learner::Saved* from) override;
  void Sent(std::uint32_t node, Time, const consensus::Message& message) override;
  void Turn(std::uint32_t node, Time now, const learner::Learner& learner, const learner::Links&,
            const consensus::Fifo&) override;

 private:
  std::map<std::uint32_t, std::uint64_t> replies_;  // of the present life
};

// A hash of everything that happens, in its order.
class TraceHash final : public Checker {
 public:
  using Checker::Checker;
  void Begins(std::uint32_t node, Time now, const learner::Learner& learner,
              const learner::Saved*) override;
  void Sent(std::uint32_t node, Time now, const consensus::Message& message) override;
  void Applied(std::uint32_t node, Time now, const consensus::Message& message) override;
  void Trained(std::uint32_t node, tensor::ConstVectorView after) override;
  std::uint64_t value() const { return hash_; }
  Time last() const { return last_; }  // when something happened

 private:
  void Mix(std::uint64_t what, std::uint32_t node, Time now, std::uint64_t more);
  std::uint64_t hash_ = 0;
  Time last_{};
};

// Tells several.
class Everyone final : public Checker {
 public:
  Everyone(Findings& findings, std::vector<Probe*> all) : Checker(findings), all_(std::move(all)) {}
  void Begins(std::uint32_t node, Time now, const learner::Learner& learner,
              const learner::Saved* from) override {
    for (Probe* one : all_) one->Begins(node, now, learner, from);
  }
  void Ends(std::uint32_t node, Time now, const learner::Learner& learner) override {
    for (Probe* one : all_) one->Ends(node, now, learner);
  }
  void Sent(std::uint32_t node, Time now, const consensus::Message& message) override {
    for (Probe* one : all_) one->Sent(node, now, message);
  }
  void Delivered(std::uint32_t node, Time now, const consensus::Message& message,
                 const consensus::Fifo& fifo) override {
    for (Probe* one : all_) one->Delivered(node, now, message, fifo);
  }
  void Took(std::uint32_t node, Time now, const consensus::Fifo& fifo) override {
    for (Probe* one : all_) one->Took(node, now, fifo);
  }
  void Applied(std::uint32_t node, Time now, const consensus::Message& message) override {
    for (Probe* one : all_) one->Applied(node, now, message);
  }
  void Trains(std::uint32_t node, tensor::ConstVectorView before) override {
    for (Probe* one : all_) one->Trains(node, before);
  }
  void Trained(std::uint32_t node, tensor::ConstVectorView after) override {
    for (Probe* one : all_) one->Trained(node, after);
  }
  void Turn(std::uint32_t node, Time now, const learner::Learner& learner,
            const learner::Links& links, const consensus::Fifo& fifo) override {
    for (Probe* one : all_) one->Turn(node, now, learner, links, fifo);
  }

 private:
  std::vector<Probe*> all_;
};

}  // namespace covey::simulate
