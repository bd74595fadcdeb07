#include "node/network_thread.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "covey/log/log.h"
#include "covey/node/process.h"

namespace covey::node {
namespace {

// A turn ends at the latest then, so that a lost wake-up costs no more than this.
constexpr Duration kLongestTurn = std::chrono::seconds(1);
// How often freed memory goes back to the system.
constexpr Duration kTrimEvery = std::chrono::milliseconds(500);
// Last turns of a node that leaves: answers that are under way still go out.
constexpr Duration kFarewell = std::chrono::milliseconds(100);

}  // namespace

NetworkThread::NetworkThread(const Clock& clock, const learner::LinkSettings& settings,
                             NetworkDriver& driver, Mailbox& mailbox, Outbox& outbox, PeerPlan plan)
    : clock_(clock),
      driver_(driver),
      mailbox_(mailbox),
      outbox_(outbox),
      links_(settings, driver.transport(), codec_, *this),
      keeper_(std::move(plan), driver, links_) {}

NetworkThread::~NetworkThread() {
  if (!thread_.joinable()) return;
  // A thread that was stopped before has ended; the driver may be gone by now.
  if (!stopping_) Stop();
  thread_.join();
}

void NetworkThread::Start() {
  thread_ = std::thread([this] {
    NameThread("network");
    Run();
    ended_.Open();
  });
}

void NetworkThread::Stop() {
  stopping_ = true;
  driver_.Wake();
}

NetworkReport NetworkThread::GetReport(Clock::Source::time_point deadline) {
  std::unique_lock lock(mutex_);
  if (ended_report_) return report_;
  const std::uint64_t before = generation_;
  report_wanted_ = true;
  driver_.Wake();
  reported_.wait_until(lock, deadline, [&] { return generation_ != before; });
  return report_;
}

void NetworkThread::Run() {
  links_.SetTime(clock_.Now());
  keeper_.Start(clock_.Now());
  while (!stopping_) Turn(kLongestTurn);
  const Time end = clock_.Now() + kFarewell;
  for (Time now = clock_.Now(); now < end; now = clock_.Now()) Turn(end - now);
  links_.SetTime(clock_.Now());
  links_.Goodbye();
  ended_report_ = true;
  PublishReport();
  driver_.Close();
}

void NetworkThread::Turn(Time at_most) {
  const Time now = clock_.Now();
  links_.SetTime(now);
  SendParcels();
  const Time due = std::min(keeper_.Tick(now), links_.Tick());
  if (report_wanted_.exchange(false)) PublishReport();
  if (now >= trim_due_) {
    ReturnFreedMemory();
    trim_due_ = now + kTrimEvery;
  }
  const Duration wait = due == kNever ? at_most : std::clamp(due - now, Time::zero(), at_most);
  driver_.Poll(*this, wait);
}

void NetworkThread::SendParcels() {
  for (Parcel& parcel : outbox_.TakeAll()) {
    if (const auto* ask = std::get_if<node::AskToJoin>(&parcel)) {
      links_.AskToJoin(ask->peer);
    } else if (const auto* ping = std::get_if<PingNow>(&parcel)) {
      links_.Ping(ping->peer);
    } else if (auto* taken = std::get_if<TakeRecord>(&parcel)) {
      keeper_.TakeRecord(clock_.Now(), std::move(taken->record));
    } else if (const auto* opened = std::get_if<DoorOpened>(&parcel)) {
      keeper_.DoorOpened(clock_.Now(), opened->owner, opened->address);
    } else {
      links_.Send(std::move(std::get<consensus::Message>(parcel)));
    }
  }
}

void NetworkThread::PublishReport() {
  const Time now = clock_.Now();
  NetworkReport report{links_.counters(),
                       links_.peers(),
                       now,
                       links_.budget().BytesPerSecond(now),
                       links_.budget().QuotaLeft(now),
                       keeper_.peers(),
                       keeper_.Problems(),
                       keeper_.admissions()};
  {
    const std::lock_guard lock(mutex_);
    report_ = std::move(report);
    ++generation_;
  }
  reported_.notify_all();
}

// --- What the links tell ---

void NetworkThread::PeerUp(const PeerKey& peer, const wire::Hello& hello) {
  log::Info(log::Category::kNetwork, "peer up",
            {{"peer", peer.Short()}, {"software", hello.software}});
  mailbox_.Notice(consensus::PeerUp{peer, hello.takes});
  keeper_.Up(clock_.Now(), peer);
}

void NetworkThread::PeerDown(const PeerKey& peer, const std::string& reason,
                             session::Parting parting) {
  log::WriteLimited(log::Level::kInfo, log::Category::kNetwork, "down " + peer.Short(), "peer down",
                    {{"peer", peer.Short()}, {"reason", reason}});
  mailbox_.Notice(consensus::PeerDown{peer});
  keeper_.Down(clock_.Now(), peer, reason, parting);
}

void NetworkThread::Told(const PeerKey& peer, const wire::Membership& what) {
  keeper_.Told(clock_.Now(), peer, what);
}

void NetworkThread::Deliver(consensus::Message message) {
  for (const consensus::Message& evicted : mailbox_.Deliver(std::move(message))) {
    links_.Busy(evicted);
  }
}

void NetworkThread::Nacked(const PeerKey& peer, ExchangeId exchange, wire::Reason reason) {
  if (log::Enabled(log::Level::kDebug, log::Category::kNetwork)) {
    log::Debug(log::Category::kNetwork, "exchange refused",
               {{"peer", peer.Short()}, {"reason", wire::Name(reason)}});
  }
  mailbox_.Notice(consensus::Nacked{peer, exchange});
}

void NetworkThread::Rejected(const std::string& who, wire::Reason reason) {
  const std::string name(wire::Name(reason));
  log::WriteLimited(log::Level::kInfo, log::Category::kNetwork, "rejected " + name + " " + who,
                    "refused what a peer sent", {{"peer", who}, {"reason", name}});
}

void NetworkThread::JoinAsked(const PeerKey& peer) {
  log::Info(log::Category::kNetwork, "a newcomer asks for the model", {{"peer", peer.Short()}});
  mailbox_.Notice(consensus::JoinAsked{peer});
}

void NetworkThread::Refused(const std::string& address, wire::Reason reason,
                            const std::string& text) {
  log::WriteLimited(log::Level::kWarning, log::Category::kNetwork, "refused " + address,
                    "nothing will be exchanged with a peer",
                    {{"address", address}, {"reason", wire::Name(reason)}, {"text", text}});
}

// --- What the transport tells ---

void NetworkThread::OnLinkUp(const transport::LinkInfo& link) {
  links_.SetTime(clock_.Now());
  links_.OnLinkUp(link);
}

void NetworkThread::OnLinkDown(transport::LinkId link, const std::string& reason) {
  links_.SetTime(clock_.Now());
  links_.OnLinkDown(link, reason);
}

void NetworkThread::OnFrame(transport::LinkId link, ByteView frame) {
  links_.SetTime(clock_.Now());
  links_.OnFrame(link, frame);
}

}  // namespace covey::node
