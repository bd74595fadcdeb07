#include "covey/wire_pb/membership.h"

#include <algorithm>
#include <string>

#include "covey/base/check.h"
#include "covey/v1/peer.pb.h"
#include "covey/wire/limits.h"
#include "covey/wire_pb/codec.h"

namespace covey::wire_pb {
namespace {

constexpr std::size_t kKeySize = 32;

}  // namespace

std::vector<std::byte> Encode(const wire::Membership& membership) {
  COVEY_CHECK(membership.peers.size() <= wire::kMaxToldPeers, membership.peers.size());
  COVEY_CHECK(membership.records.size() <= wire::kMaxToldRecords, membership.records.size());
  v1::Membership message;
  message.set_own_address(membership.own_address);
  message.set_wants_peers(membership.wants_peers);
  if (membership.records_digest) message.set_records_digest(*membership.records_digest);
  for (const std::vector<std::byte>& record : membership.records) {
    message.add_records(reinterpret_cast<const char*>(record.data()), record.size());
  }
  for (const wire::ToldPeer& peer : membership.peers) {
    v1::Membership::Peer& told = *message.add_peers();
    told.set_key(std::string(peer.key.bytes.begin(), peer.key.bytes.end()));
    told.set_address(peer.address);
    const Duration age = std::clamp(peer.age, Duration::zero(), wire::kMaxAge);
    told.set_age_seconds(
        static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::seconds>(age).count()));
    if (message.ByteSizeLong() <= wire::kMaxStructuredBody) continue;
    message.mutable_peers()->RemoveLast();
    break;
  }
  std::vector<std::byte> bytes(message.ByteSizeLong());
  message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(bytes.data()));
  return bytes;
}

Result<wire::Membership> DecodeMembership(ByteView body) {
  if (body.size() > wire::kMaxStructuredBody) {
    return Fail(ErrorCode::kProtocol, "membership",
                std::to_string(body.size()) + " bytes, at most " +
                    std::to_string(wire::kMaxStructuredBody) + " are read");
  }
  v1::Membership message;
  if (!message.ParseFromArray(body.data(), static_cast<int>(body.size()))) {
    return Fail(ErrorCode::kProtocol, "membership", "can't be parsed");
  }
  wire::Membership membership;
  if (wire::IsPeerAddress(message.own_address())) membership.own_address = message.own_address();
  membership.wants_peers = message.wants_peers();
  if (message.has_records_digest()) membership.records_digest = message.records_digest();
  std::size_t bytes = 0;
  for (const std::string& record : message.records()) {
    bytes += record.size();
    if (membership.records.size() == wire::kMaxToldRecords || bytes > wire::kToldRecordBytes) break;
    std::vector<std::byte>& read = membership.records.emplace_back(record.size());
    std::transform(record.begin(), record.end(), read.begin(),
                   [](char c) { return static_cast<std::byte>(c); });
  }
  for (const v1::Membership::Peer& told : message.peers()) {
    if (membership.peers.size() == wire::kMaxToldPeers) break;
    if (told.key().size() != kKeySize || !wire::IsPeerAddress(told.address())) continue;
    wire::ToldPeer peer;
    std::transform(told.key().begin(), told.key().end(), peer.key.bytes.begin(),
                   [](char c) { return static_cast<std::uint8_t>(c); });
    peer.address = told.address();
    peer.age = std::min<Duration>(std::chrono::seconds(told.age_seconds()), wire::kMaxAge);
    membership.peers.push_back(std::move(peer));
  }
  return membership;
}

std::vector<std::byte> ProtobufCodec::Encode(const wire::Membership& membership) const {
  return wire_pb::Encode(membership);
}

Result<wire::Membership> ProtobufCodec::DecodeMembership(ByteView body) const {
  return wire_pb::DecodeMembership(body);
}

}  // namespace covey::wire_pb
