#include "zmq_driver.h"

#include <utility>

#include "covey/log/log.h"
#include "covey/transport_zmq/knock.h"

namespace covey {

namespace {

constexpr Duration kKnockPatience = std::chrono::seconds(5);

}  // namespace

ZmqDriver::ZmqDriver(std::unique_ptr<transport_zmq::ZmqTransport> transport,
                     std::shared_ptr<Answer> answer, std::shared_ptr<Heard> heard,
                     const transport_zmq::KeyPair& keys)
    : transport_(std::move(transport)),
      answer_(std::move(answer)),
      heard_(std::move(heard)),
      keys_(keys),
      endpoint_(transport_->endpoint()),
      door_(transport_->door_endpoint()) {}

Result<std::unique_ptr<ZmqDriver>> ZmqDriver::Open(transport_zmq::Settings settings) {
  auto answer = std::make_shared<Answer>();
  settings.door.answer = [answer](const PeerKey& key, const std::string& address, ByteView frame) {
    const std::string text = *answer ? (*answer)(key, address, frame) : std::string();
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    return std::vector<std::byte>(bytes, bytes + text.size());
  };
  auto heard = std::make_shared<Heard>();
  settings.beacon.heard = [heard](const PeerKey& key, const std::string& address) {
    if (*heard) (*heard)(key, address);
  };
  const transport_zmq::KeyPair keys = settings.keys;
  auto transport = transport_zmq::ZmqTransport::Open(std::move(settings));
  if (!transport) return tl::unexpected(transport.error());
  return std::unique_ptr<ZmqDriver>(
      new ZmqDriver(std::move(*transport), std::move(answer), std::move(heard), keys));
}

Result<std::vector<std::byte>> ZmqDriver::Knock(const PeerKey& key, const std::string& address,
                                                ByteView frame, const std::atomic<bool>& stop) {
  return transport_zmq::Knock(keys_, {key, "tcp://" + address}, frame, kKnockPatience, stop);
}

void ZmqDriver::Dial(const PeerKey& peer, const std::string& address) {
  if (Status dialled = transport_->Dial({peer, "tcp://" + address}); !dialled) {
    log::WriteLimited(log::Level::kDebug, log::Category::kNetwork, "dial " + peer.Short(),
                      "can't dial a peer: " + dialled.error().Format());
  }
}

std::map<PeerKey, std::string> ZmqDriver::Problems() const {
  std::map<PeerKey, std::string> problems;
  for (const transport_zmq::DialStatus& dial : transport_->dials()) {
    if (!dial.up && !dial.problem.empty()) problems.emplace(dial.key, dial.problem);
  }
  return problems;
}

void ZmqDriver::Wake() {
  const std::lock_guard lock(mutex_);
  if (transport_) transport_->Wake();
}

void ZmqDriver::Close() {
  std::unique_ptr<transport_zmq::ZmqTransport> closing;
  {
    const std::lock_guard lock(mutex_);
    closing = std::move(transport_);
  }
}

}  // namespace covey
