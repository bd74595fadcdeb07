#include "covey/membership/invitation.h"

#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "covey/base/check.h"
#include "covey/base/sha256.h"
#include "covey/wire/membership.h"

namespace covey::membership {
namespace {

constexpr std::size_t kSignature = crypto_sign_BYTES;
constexpr std::size_t kKeyBytes = 32;
constexpr std::string_view kInvitationHead = "covey-invitation-1.";
constexpr std::string_view kRecordHead = "covey-record-1.";
constexpr std::string_view kSignsTerms = "covey invitation 1\n";
constexpr std::string_view kSignsNode = "covey admission 1\n";
constexpr std::string_view kSignsEnd = "covey revocation 1\n";
constexpr std::byte kAdmission{1};
constexpr std::byte kRevocation{2};

static_assert(crypto_sign_SEEDBYTES == kKeyBytes && crypto_sign_PUBLICKEYBYTES == kKeyBytes);

void StartSodium() { COVEY_CHECK(sodium_init() >= 0); }

struct FullKey {
  std::array<std::uint8_t, crypto_sign_SECRETKEYBYTES> secret{};
  PeerKey shown;

  explicit FullKey(const SigningKey& key) {
    StartSodium();
    crypto_sign_seed_keypair(shown.bytes.data(), secret.data(), key.seed.data());
  }
  FullKey(const FullKey&) = delete;
  FullKey& operator=(const FullKey&) = delete;
  ~FullKey() { sodium_memzero(secret.data(), secret.size()); }
};

std::vector<std::uint8_t> Prefixed(std::string_view prefix, ByteView bytes) {
  std::vector<std::uint8_t> all(prefix.begin(), prefix.end());
  for (const std::byte byte : bytes) all.push_back(std::to_integer<std::uint8_t>(byte));
  return all;
}

std::array<std::uint8_t, kSignature> Sign(std::string_view prefix, ByteView bytes,
                                          const SigningKey& key) {
  const FullKey full(key);
  const std::vector<std::uint8_t> message = Prefixed(prefix, bytes);
  std::array<std::uint8_t, kSignature> signature{};
  crypto_sign_detached(signature.data(), nullptr, message.data(), message.size(),
                       full.secret.data());
  return signature;
}

bool IsSigned(std::string_view prefix, ByteView bytes, ByteView signature, const PeerKey& key) {
  StartSodium();
  const std::vector<std::uint8_t> message = Prefixed(prefix, bytes);
  return crypto_sign_verify_detached(reinterpret_cast<const unsigned char*>(signature.data()),
                                     message.data(), message.size(), key.bytes.data()) == 0;
}

template <class Array>
void Append(RecordBytes& to, const Array& bytes) {
  for (const auto byte : bytes) to.push_back(static_cast<std::byte>(byte));
}

void AppendText(RecordBytes& to, const std::string& text) {
  to.push_back(static_cast<std::byte>(text.size()));
  Append(to, text);
}

// Takes fields off the front; once one is missing, every further one is empty and `sound` false.
class Fields {
 public:
  explicit Fields(ByteView bytes) : left_(bytes) {}

  ByteView Take(std::size_t size) {
    if (size > left_.size()) {
      sound_ = false;
      left_ = {};
      return {};
    }
    const ByteView taken = left_.first(size);
    left_ = left_.subspan(size);
    return taken;
  }
  template <std::size_t N>
  void Take(std::array<std::uint8_t, N>& into) {
    const ByteView taken = Take(N);
    std::transform(taken.begin(), taken.end(), into.begin(),
                   [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
  }
  template <class T>
  T Number() {
    const ByteView taken = Take(sizeof(T));
    return taken.empty() ? T{} : LoadLittle<T>(taken.data());
  }
  std::string Text() {
    const ByteView taken = Take(Number<std::uint8_t>());
    std::string text;
    for (const std::byte byte : taken) text += static_cast<char>(byte);
    return text;
  }
  std::size_t left() const { return left_.size(); }
  bool sound() const { return sound_; }

 private:
  ByteView left_;
  bool sound_ = true;
};

bool IsPrintable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7F; });
}

bool WithinLimits(const Terms& terms) {
  return terms.name.size() <= kMaxInvitedName && IsPrintable(terms.name) &&
         terms.doors.size() <= kMaxDoors &&
         std::all_of(terms.doors.begin(), terms.doors.end(),
                     [](const Door& door) { return wire::IsPeerAddress(door.address); });
}

RecordBytes BytesOf(const Terms& terms) {
  RecordBytes bytes;
  Append(bytes, terms.fleet);
  Append(bytes, terms.id.bytes);
  bytes.resize(bytes.size() + 10);
  StoreLittle(bytes.data() + bytes.size() - 10, terms.expires);
  StoreLittle(bytes.data() + bytes.size() - 2, terms.uses);
  AppendText(bytes, terms.name);
  bytes.push_back(static_cast<std::byte>(terms.doors.size()));
  for (const Door& door : terms.doors) {
    Append(bytes, door.key.bytes);
    AppendText(bytes, door.address);
  }
  return bytes;
}

// Takes terms off the front. Returns: whether there were such.
bool TakeTerms(Fields& fields, Terms& terms) {
  fields.Take(terms.fleet);
  fields.Take(terms.id.bytes);
  terms.expires = fields.Number<std::uint64_t>();
  terms.uses = fields.Number<std::uint16_t>();
  terms.name = fields.Text();
  const std::size_t doors = fields.Number<std::uint8_t>();
  if (doors > kMaxDoors) return false;
  terms.doors.resize(doors);
  for (Door& door : terms.doors) {
    fields.Take(door.key.bytes);
    door.address = fields.Text();
  }
  return fields.sound() && WithinLimits(terms);
}

std::string ToText(std::string_view head, ByteView bytes) {
  constexpr int kVariant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
  std::string text(sodium_base64_encoded_len(bytes.size(), kVariant), '\0');
  sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                    bytes.size(), kVariant);
  text.pop_back();  // the library's final zero
  return std::string(head) + text;
}

Result<RecordBytes> FromText(std::string_view head, std::string_view text, const char* what) {
  const auto wrong = [&](const char* why) {
    return Fail(ErrorCode::kData, what, why,
                "copy all of it, from '" + std::string(head) + "' to its last character");
  };
  if (!text.starts_with(head)) return wrong("begins differently");
  text.remove_prefix(head.size());
  RecordBytes bytes(kMaxRecord);
  std::size_t size = 0;
  if (text.empty() || sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()),
                                        bytes.size(), text.data(), text.size(), nullptr, &size,
                                        nullptr, sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0) {
    return wrong("has characters that don't belong there, is cut, or too long");
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace

SigningKey::~SigningKey() { sodium_memzero(seed.data(), seed.size()); }

SigningKey SigningKey::Generate() {
  StartSodium();
  SigningKey key;
  randombytes_buf(key.seed.data(), key.seed.size());
  return key;
}

PeerKey SigningKey::Public() const { return FullKey(*this).shown; }

std::array<std::uint8_t, 16> FleetTag(std::string_view fleet) {
  const Digest digest = Sha256::Of(fleet);
  std::array<std::uint8_t, 16> tag{};
  std::copy_n(digest.bytes.begin(), tag.size(), tag.begin());
  return tag;
}

std::string_view Name(Refusal refusal) {
  constexpr std::array<std::string_view, kRefusals> kNames = {
      "malformed", "other_fleet", "forged", "other_key", "expired", "used_up", "revoked", "full"};
  return kNames[static_cast<std::size_t>(refusal)];
}

// --- What the operator makes ---

Result<Invitation> Invite(Terms terms, const SigningKey& issuer) {
  if (!WithinLimits(terms)) {
    return Fail(ErrorCode::kUsage, "invitation",
                "wanted a name of at most " + std::to_string(kMaxInvitedName) +
                    " printable characters and at most " + std::to_string(kMaxDoors) +
                    " seeds, each HOST:PORT with a port from 1 to 65535");
  }
  Invitation invitation;
  invitation.secret = SigningKey::Generate();
  terms.id = invitation.secret.Public();
  invitation.issuer = issuer.Public();
  invitation.signature = Sign(kSignsTerms, BytesOf(terms), issuer);
  invitation.terms = std::move(terms);
  return invitation;
}

RecordBytes Admit(const Invitation& invitation, const PeerKey& node) {
  RecordBytes record = {kAdmission};
  Append(record, BytesOf(invitation.terms));
  Append(record, invitation.signature);
  Append(record, node.bytes);
  Append(record, Sign(kSignsNode, record, invitation.secret));
  return record;
}

RecordBytes Revoke(std::array<std::uint8_t, 16> fleet, const PeerKey& key,
                   const SigningKey& issuer) {
  RecordBytes record = {kRevocation};
  Append(record, fleet);
  Append(record, key.bytes);
  Append(record, Sign(kSignsEnd, record, issuer));
  return record;
}

// --- Texts ---

std::string FormatInvitation(const Invitation& invitation) {
  RecordBytes bytes = BytesOf(invitation.terms);
  Append(bytes, invitation.signature);
  Append(bytes, invitation.issuer.bytes);
  Append(bytes, invitation.secret.seed);
  std::string text = ToText(kInvitationHead, bytes);
  sodium_memzero(bytes.data(), bytes.size());
  return text;
}

Result<Invitation> ParseInvitation(std::string_view text) {
  constexpr const char* kWhat = "invitation";
  auto bytes = FromText(kInvitationHead, text, kWhat);
  if (!bytes) return tl::unexpected(std::move(bytes.error()));
  Invitation invitation;
  Fields fields(*bytes);
  const bool sound = TakeTerms(fields, invitation.terms);
  const std::size_t signed_size = bytes->size() - fields.left();
  fields.Take(invitation.signature);
  fields.Take(invitation.issuer.bytes);
  fields.Take(invitation.secret.seed);
  const bool whole = sound && fields.sound() && fields.left() == 0;
  const bool genuine =
      whole &&
      IsSigned(kSignsTerms, ByteView(*bytes).first(signed_size),
               ByteView(*bytes).subspan(signed_size, kSignature), invitation.issuer) &&
      invitation.secret.Public() == invitation.terms.id;
  sodium_memzero(bytes->data(), bytes->size());
  if (!whole) return Fail(ErrorCode::kData, kWhat, "is cut or damaged", "copy all of it");
  if (!genuine) {
    return Fail(ErrorCode::kData, kWhat, "its signature does not fit it: it was changed",
                "ask the operator for another one");
  }
  return invitation;
}

std::string FormatRecord(ByteView record) { return ToText(kRecordHead, record); }

Result<RecordBytes> ParseRecord(std::string_view text) {
  return FromText(kRecordHead, text, "record");
}

// --- At a door ---

namespace {

constexpr std::string_view kAdmitted = "admitted ";
constexpr std::string_view kRefused = "refused ";

}  // namespace

std::string FormatAnswer(const tl::expected<std::string, Refusal>& answer) {
  if (answer) return std::string(kAdmitted) + *answer;
  return std::string(kRefused).append(Name(answer.error()));
}

tl::expected<std::string, std::string> ParseAnswer(ByteView answer) {
  const std::string_view text(reinterpret_cast<const char*>(answer.data()), answer.size());
  if (text.starts_with(kAdmitted)) {
    const std::string_view address = text.substr(kAdmitted.size());
    if (address.empty() || wire::IsPeerAddress(address)) return std::string(address);
  }
  for (std::size_t i = 0; i < kRefusals; ++i) {
    const auto refusal = static_cast<Refusal>(i);
    if (text == FormatAnswer(tl::unexpected(refusal))) return tl::unexpected(std::string(text));
  }
  return tl::unexpected(std::string("an answer that this version does not know"));
}

// --- What everybody checks ---

tl::expected<Record, Refusal> CheckRecord(ByteView record, const PeerKey& issuer,
                                          const std::array<std::uint8_t, 16>& fleet) {
  if (record.empty() || record.size() > kMaxRecord) return tl::unexpected(Refusal::kMalformed);
  Fields fields(record.subspan(1));
  if (record[0] == kRevocation) {
    std::array<std::uint8_t, 16> of{};
    Revocation revocation;
    fields.Take(of);
    fields.Take(revocation.key.bytes);
    const ByteView signature = fields.Take(kSignature);
    if (!fields.sound() || fields.left() > 0) return tl::unexpected(Refusal::kMalformed);
    if (of != fleet) return tl::unexpected(Refusal::kOtherFleet);
    const ByteView what = record.first(record.size() - kSignature);
    if (!IsSigned(kSignsEnd, what, signature, issuer)) return tl::unexpected(Refusal::kForged);
    return revocation;
  }
  if (record[0] != kAdmission) return tl::unexpected(Refusal::kMalformed);
  Admission admission;
  if (!TakeTerms(fields, admission.terms)) return tl::unexpected(Refusal::kMalformed);
  const ByteView terms = record.subspan(1, record.size() - 1 - fields.left());
  const ByteView by_issuer = fields.Take(kSignature);
  fields.Take(admission.key.bytes);
  const ByteView by_invitation = fields.Take(kSignature);
  if (!fields.sound() || fields.left() > 0) return tl::unexpected(Refusal::kMalformed);
  if (admission.terms.fleet != fleet) return tl::unexpected(Refusal::kOtherFleet);
  const ByteView what = record.first(record.size() - kSignature);
  if (!IsSigned(kSignsTerms, terms, by_issuer, issuer) ||
      !IsSigned(kSignsNode, what, by_invitation, admission.terms.id)) {
    return tl::unexpected(Refusal::kForged);
  }
  return admission;
}

}  // namespace covey::membership
