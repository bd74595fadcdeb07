// The thread that owns the links and drives the transport.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "covey/learner/links.h"
#include "covey/node/network_driver.h"
#include "covey/node/report.h"
#include "covey/wire_pb/codec.h"
#include "node/clock.h"
#include "node/gate.h"
#include "node/mailbox.h"
#include "node/outbox.h"
#include "node/peer_keeper.h"

namespace covey::node {

class NetworkThread final : private learner::LinkEvents, private transport::Sink {
 public:
  NetworkThread(const Clock& clock, const learner::LinkSettings& settings, NetworkDriver& driver,
                Mailbox& mailbox, Outbox& outbox, PeerPlan plan);
  ~NetworkThread() override;

  void Start();
  // The outbox has something. Thread: any.
  void Wake() { driver_.Wake(); }

  // Asks the thread to send what is in the outbox, say goodbye, close everything, and end. Thread:
  // any.
  void Stop();
  bool WaitEnded(Clock::Source::time_point deadline) { return ended_.WaitUntil(deadline); }

  // Asks the thread for fresh figures and waits for them until `deadline`; then takes older ones.
  // Thread: any.
  NetworkReport GetReport(Clock::Source::time_point deadline);

 private:
  void PeerUp(const PeerKey& peer, const wire::Hello& hello) override;
  void PeerDown(const PeerKey& peer, const std::string& reason, session::Parting parting) override;
  void Told(const PeerKey& peer, const wire::Membership& what) override;
  void Deliver(consensus::Message message) override;
  void Nacked(const PeerKey& peer, ExchangeId exchange, wire::Reason reason) override;
  void JoinAsked(const PeerKey& peer) override;
  void Rejected(const std::string& who, wire::Reason reason) override;
  void Refused(const std::string& address, wire::Reason reason, const std::string& text) override;

  void OnLinkUp(const transport::LinkInfo& link) override;
  void OnLinkDown(transport::LinkId link, const std::string& reason) override;
  void OnFrame(transport::LinkId link, ByteView frame) override;

  void Run();
  void Turn(Time at_most);
  void SendParcels();
  void PublishReport();

  const Clock& clock_;
  NetworkDriver& driver_;
  Mailbox& mailbox_;
  Outbox& outbox_;
  wire_pb::ProtobufCodec codec_;
  learner::Links links_;
  PeerKeeper keeper_;
  Gate ended_;
  std::atomic<bool> stopping_{false};
  Time trim_due_{};
  std::atomic<bool> report_wanted_{false};
  std::atomic<bool> ended_report_{false};  // report_ is the last one

  std::mutex mutex_;
  std::condition_variable reported_;
  std::uint64_t generation_ = 0;
  NetworkReport report_;

  std::thread thread_;
};

}  // namespace covey::node
