// Who may take part because the operator of the fleet says so: invitations, admissions,
// revocations. Signed with Ed25519, so that anybody who has the operator's public key can check
// them without asking anybody.
//
//     invitation   = terms, operator's signature; with the secret of the invitation: a secret text
//     admission    = 1, terms, operator's signature, node's key, invitation's signature
//     revocation   = 2, fleet, key of a node or an invitation, operator's signature
//     terms        = fleet[16] id[32] expires u64 uses u16 name doors
//     name, door   = length u8 and text; doors: count u8, and key[32] before each text
//
// All little-endian. Each invitation has a key pair of its own: `id` is its public half, the secret
// half is in the text that the newcomer gets. The newcomer signs its own key with it, so whoever
// sees an admission can't let another key in with it, and whoever lets it in signs nothing.
// A revocation of an invitation takes in everybody who came with it: nobody can prove when.
//
// Source: RFC 8032 (Ed25519), by libsodium. Where we differ: signed bytes have a prefix that names
// what they are, so that one is never taken for another.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "covey/base/bytes.h"
#include "covey/base/ids.h"
#include "covey/base/result.h"

namespace covey::membership {

inline constexpr std::size_t kMaxInvitedName = 40;
inline constexpr std::size_t kMaxDoors = 4;
// The longest admission: one frame at the door, one entry of a telling.
inline constexpr std::size_t kMaxRecord = 1024;

using RecordBytes = std::vector<std::byte>;

// Half of a pair for signatures: 32 secret bytes; every copy is overwritten when it goes away.
struct SigningKey {
  std::array<std::uint8_t, 32> seed{};

  SigningKey() = default;
  SigningKey(const SigningKey&) = default;
  SigningKey& operator=(const SigningKey&) = default;
  ~SigningKey();

  static SigningKey Generate();  // from the system's random source
  PeerKey Public() const;        // an Ed25519 key here, no CURVE key
};

// A member, and where it takes newcomers.
struct Door {
  PeerKey key;
  std::string address;  // "host:port", as wire::IsPeerAddress

  bool operator==(const Door&) const = default;
};

struct Terms {
  std::array<std::uint8_t, 16> fleet{};  // FleetTag of its name
  PeerKey id;                            // public key of the invitation itself
  std::uint64_t expires = 0;             // seconds since 1970; a door takes it before
  std::uint16_t uses = 1;                // nodes that it lets in, as a door counts; 0: any number
  std::string name;         // for people; at most kMaxInvitedName bytes of printable ASCII
  std::vector<Door> doors;  // at most kMaxDoors; whoever is named is a member

  bool operator==(const Terms&) const = default;
};

std::array<std::uint8_t, 16> FleetTag(std::string_view fleet);

// What the newcomer gets. Whoever has it can join.
struct Invitation {
  Terms terms;
  PeerKey issuer;  // the operator's public key
  std::array<std::uint8_t, 64> signature{};
  SigningKey secret;  // of terms.id
};

struct Admission {
  Terms terms;
  PeerKey key;  // of the node that was let in

  bool operator==(const Admission&) const = default;
};
struct Revocation {
  PeerKey key;  // of a node, or an invitation's id

  bool operator==(const Revocation&) const = default;
};
using Record = std::variant<Admission, Revocation>;

// A new invitation with a new pair; terms.id is filled in.
// Errors: kUsage for terms beyond the limits above.
Result<Invitation> Invite(Terms terms, const SigningKey& issuer);
RecordBytes Admit(const Invitation& invitation, const PeerKey& node);
RecordBytes Revoke(std::array<std::uint8_t, 16> fleet, const PeerKey& key,
                   const SigningKey& issuer);

// "covey-invitation-1." and base64 of URLs.
std::string FormatInvitation(const Invitation& invitation);
// Errors: kData for anything else, for a signature that is not the issuer's, for a secret that is
//   not the invitation's. Whether the issuer is the fleet's operator is for the caller to say.
Result<Invitation> ParseInvitation(std::string_view text);

// Why a record, or a newcomer, is refused.
enum class Refusal : std::uint8_t {
  kMalformed,   // no record: cut, too long, or of a later version
  kOtherFleet,  // of another fleet
  kForged,      // a signature is wrong
  kOtherKey,    // an admission of another key than that of the newcomer
  kExpired,
  kUsedUp,   // as many as the invitation is for were let in
  kRevoked,  // the key, or the invitation
  kFull,     // no room for more
};
inline constexpr std::size_t kRefusals = 8;

// "malformed", "other_fleet", "forged", "other_key", "expired", "used_up", "revoked", "full".
std::string_view Name(Refusal refusal);

// Returns: what the record says, once both signatures were checked.
// Cost: two signatures, 0.1 ms.
tl::expected<Record, Refusal> CheckRecord(ByteView record, const PeerKey& issuer,
                                          const std::array<std::uint8_t, 16>& fleet);

// What a door answers: "admitted ADDRESS", where its node is to be dialled (as own_address of
// wire::Membership), or "refused REASON".
std::string FormatAnswer(const tl::expected<std::string, Refusal>& answer);
// Returns: the address, or why not, in printable words.
tl::expected<std::string, std::string> ParseAnswer(ByteView answer);

// A record as a text for people to carry: "covey-record-1." and base64 of URLs.
std::string FormatRecord(ByteView record);
// Errors: kData. The signatures are not looked at.
Result<RecordBytes> ParseRecord(std::string_view text);

}  // namespace covey::membership
