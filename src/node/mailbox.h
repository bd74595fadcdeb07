// Everything on its way to the learner thread: the FIFO, notices for the core, and new data.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "covey/consensus/fifo.h"
#include "covey/consensus/node.h"
#include "covey/data/dataset.h"
#include "covey/data/partition.h"
#include "covey/node/report.h"
#include "node/clock.h"

namespace covey::node {

// Limits: messages as FifoLimits say. Notices: those about exchanges and peers are bounded by links
// and by pending exchanges; the learner takes them between any two batches, also while it trains.
// Thread: any.
class Mailbox {
 public:
  Mailbox(const Clock& clock, consensus::FifoLimits limits) : clock_(clock), fifo_(limits) {}

  // Returns: the messages that did not survive, to be answered BUSY.
  std::vector<consensus::Message> Deliver(consensus::Message message);
  void Notice(consensus::Event event);

  std::optional<consensus::Message> Take();
  // Cheap enough to ask between two batches.
  bool HasNotices() const { return has_notices_.load(std::memory_order_acquire); }
  std::vector<consensus::Event> TakeNotices();
  bool HasMail() const;

  // Data that take the place of all before; what was not taken yet is forgotten.
  struct Data {
    data::Dataset set;
    data::Indices shard;
  };
  void Replace(Data data);
  std::optional<Data> TakeData();

  // Returns when there is a notice, a message or data, or at `until`.
  void Wait(Time until);
  // The same, whatever is in the FIFO.
  void WaitForNotice(Time until);

  FifoReport report() const;

 private:
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  consensus::Fifo fifo_;
  std::vector<consensus::Event> notices_;
  std::atomic<bool> has_notices_{false};
  std::optional<Data> data_;
};

}  // namespace covey::node
