// What every session of a node is made with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "covey/base/bytes.h"
#include "covey/base/ids.h"
#include "covey/base/result.h"
#include "covey/base/time.h"
#include "covey/wire/limits.h"

namespace covey::session {

// MEMBERSHIP frames of a peer that are read: so many at once, then so many a second.
inline constexpr double kMostTells = 16;
inline constexpr double kTellsPerSecond = 4;

struct Settings {
  PeerKey self;
  SessionId session;
  Digest fleet;
  Digest model;               // fingerprint
  std::string model_summary;  // "mlp 784-72-10"
  std::string software;       // "covey 0.1.0"
  Digest normalization;       // how samples are read (wire::Hello), and what people are told of it
  std::string normalization_summary;
  Digest labels;
  std::string labels_summary;
  std::size_t vector_size = 0;  // floats of x, at least 1
  bool checksum = true;  // CRC-32C of frames; false where the transport authenticates every frame
  std::optional<std::set<PeerKey>> allowed;  // unset: whoever the transport lets in

  std::uint32_t max_chunk = wire::kMaxBody;  // largest chunk that we send and take, bytes
  std::uint32_t credit = 8;                  // chunks that a peer may have under way to us
  std::size_t deltas_queue = 16;             // DELTAS waiting for one link, at least 1

  Duration ping_every = std::chrono::seconds(5);
  Duration timeout = std::chrono::seconds(20);           // silence that ends a link
  Duration hello_timeout = std::chrono::seconds(10);     // from link up to hello
  Duration progress_timeout = std::chrono::seconds(60);  // from one chunk of a transfer to the next
  ByteCount slowest{2048};  // bytes a second that a transfer must reach after progress_timeout
  Duration refused_for = std::chrono::seconds(60);  // a refused link is held so long, then closed
  Duration join_every = std::chrono::milliseconds(500);    // requests to join of one link, at most
  Duration retry = std::chrono::milliseconds(5);           // after the transport was full
  Duration report_every = std::chrono::milliseconds(250);  // chunks taken are reported by then
};

// Errors: kConfig naming the setting, what was got and the range.
Status Validate(const Settings& settings);

}  // namespace covey::session
