// CURVE key pairs: a node's identity, the file that keeps it, and its Z85 form.
//
// Source: ZeroMQ RFC 26 (CurveZMQ), RFC 32 (Z85). Where we differ: files and command lines show
// hex, Z85 is seen by libzmq only.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "covey/base/ids.h"
#include "covey/base/result.h"

namespace covey::transport_zmq {

// 32 secret bytes; every copy is overwritten when it goes away.
struct SecretKey {
  std::array<std::uint8_t, 32> bytes{};

  SecretKey() = default;
  SecretKey(const SecretKey&) = default;
  SecretKey& operator=(const SecretKey&) = default;
  ~SecretKey();
};

struct KeyPair {
  PeerKey public_key;
  SecretKey secret;

  // A fresh pair from the system's random source.
  static KeyPair Generate();
  // The pair that belongs to a secret (Curve25519 base point multiplication).
  static KeyPair FromSecret(const SecretKey& secret);
};

// Reads the pair at `path`; makes and stores a new one when there is no such file.
//
// The file is text: comment lines (#), `public = <64 hex digits>`, `secret = <64 hex digits>`. It
// is created beside with mode 0600 and O_EXCL, written, synced, linked to its name, and its
// directory synced, so that a node never starts with an identity that a power cut takes back.
//
// Errors: kNoPermission when others may read the file (the hint is the chmod), kData when a line is
//   wrong or the public key isn't the secret's, kCantCreate and kIo from the system.
Result<KeyPair> LoadOrCreateKeys(const std::string& path);

// Z85 of 32 bytes: 40 printable characters.
std::string ToZ85(const PeerKey& key);
// Errors: kData when it is not exactly 40 characters of Z85.
Result<PeerKey> FromZ85(std::string_view text);

}  // namespace covey::transport_zmq
