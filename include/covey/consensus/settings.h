// Settings of Algorithm 1 at one node.
#pragma once

#include <cstdint>
#include <optional>

#include "covey/base/time.h"
#include "covey/consensus/fifo.h"
#include "covey/tensor/codec.h"

namespace covey::consensus {

// When the FIFO is drained. Algorithm 1 drains it at the end of a round; an answer then waits for
// up to a round at each side, and averages what is a round old. Between mini-batches it waits for
// one of N.
enum class DrainAt : std::uint8_t { kRound, kBatch };

// What messages are written in, to peers that take it; to others, f32. Both sides of an exchange
// add what decodes, so the sum over the nodes is kept whatever an encoding loses.
struct Encodings {
  tensor::Encoding weights = tensor::Encoding::kFloat32;  // FitsWeights
  tensor::Encoding deltas = tensor::Encoding::kFloat32;
};

// Whose model counts how much. kSamples: an exchange keeps a_i x_i + a_j x_j, a the number of
// samples, with a_i / a_j held within 1/2 and 2, so that a lie moves little: of u = q - x the
// receiver moves by 2 gamma rho / (1 + rho) u and the sender by -2 gamma / (1 + rho) u,
// rho = a_sender / a_receiver. Source: docs/consensus.md, 8.
enum class Weigh : std::uint8_t { kEqual, kSamples };

struct Settings {
  std::uint32_t batches = 10;  // N: mini-batches of local training in a round, at least 1
  std::uint32_t batches_most =
      0;                    // above N: N follows the data, up to this (adaptive_round.h); 0: fixed
  std::uint32_t sends = 1;  // M: WEIGHTS sent in a round; 0 isolates the node (it still answers)
  // S: an exchange is about one of so many segments of x (segment.h), drawn anew in each round,
  // none twice before all: the M messages of a round meet an element at most ceil(M / S) times.
  std::uint32_t segments = 1;
  std::optional<float> gamma{};  // step of an exchange, (0, 1]; unset: LargestStep
  // gamma_max of our WEIGHTS times (1 + a)^(-1/2), a the mean reply time in rounds. The receiver
  // applies it, so the sum over the nodes is kept. Source: docs/consensus.md, 4; the polynomial
  // staleness of Xie, Koyejo & Gupta 2019, "Asynchronous Federated Optimization", 5.2.
  bool gamma_by_age = false;
  Weigh weigh = Weigh::kEqual;
  std::uint64_t samples = 0;        // of our shard, for weigh
  DrainAt drain = DrainAt::kBatch;  // kRound: Algorithm 1 to the letter
  bool reply = true;                // answer WEIGHTS with DELTAS
  // WEIGHTS whose distance from x is more than this times ||x|| (or 1, if that is more) are
  // dropped, and DELTAS of more than gamma_max times that: no honest node is so far away. 0: off.
  double max_distance = 20;
  bool limit_in_flight = true;                   // at most M+1 young own exchanges (node.h)
  Duration pending_for = std::chrono::hours(1);  // a DELTAS that comes later than this is dropped
  bool join = false;  // copy a peer of the running fleet before averaging
  Duration join_retry =
      std::chrono::seconds(2);      // ask the next peer after this long without an answer
  std::uint64_t until_batches = 0;  // train this many batches, then settle; 0: for ever
  std::uint32_t settle_rounds =
      0;  // rounds of exchange without training after that (the gossip-only tail)
  Duration settle_patience =
      std::chrono::seconds(30);       // ends the tail when peers never stop training
  std::uint64_t publish_batches = 0;  // a snapshot after every so many batches; 0: only at the end
  FifoLimits fifo{};
  Encodings encoding{};  // for the host: the core knows only bytes
};

// Returns: 1/(ceil(M/S)+1): the replies of a round add up at the sender, and this is the largest
// step that never overshoots. Source: docs/consensus.md, 3.
inline float LargestStep(const Settings& settings) {
  const std::uint32_t replies = (settings.sends + settings.segments - 1) / settings.segments;
  return 1.0f / static_cast<float>(replies + 1);
}

// Returns: the gamma that the settings mean.
inline float EffectiveGamma(const Settings& settings) {
  return settings.gamma.value_or(LargestStep(settings));
}

}  // namespace covey::consensus
