// An operator, its fleet and its newcomers, for tests.
#pragma once

#include <string>
#include <utility>

#include "covey/membership/invitation.h"

namespace covey::test {

inline PeerKey KeyOf(std::uint8_t number) {
  PeerKey key;
  key.bytes.fill(number);
  return key;
}

struct Operator {
  static constexpr std::uint64_t kExpires = 1000;

  std::string fleet = "robots";
  membership::SigningKey key = membership::SigningKey::Generate();

  membership::Invitation Invite(std::uint16_t uses = 1) const {
    membership::Terms terms;
    terms.fleet = membership::FleetTag(fleet);
    terms.expires = kExpires;
    terms.uses = uses;
    terms.name = "crawler 7";
    terms.doors = {{KeyOf(201), "10.0.0.1:7430"}, {KeyOf(202), "[::1]:7430"}};
    return *membership::Invite(std::move(terms), key);
  }
  membership::RecordBytes Admission(std::uint8_t node) const {
    return membership::Admit(Invite(), KeyOf(node));
  }
  membership::RecordBytes Revocation(const PeerKey& whom) const {
    return membership::Revoke(membership::FleetTag(fleet), whom, key);
  }
};

}  // namespace covey::test
