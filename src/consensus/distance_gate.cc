// The gate against models that no honest node has.
#include <algorithm>

#include "covey/consensus/node.h"
#include "covey/tensor/codec.h"
#include "covey/tensor/kernels.h"

namespace covey::consensus {
namespace {

// Of a DELTAS that was rounded on its way; and the largest 2 / (1 + rho) of Weigh::kSamples.
constexpr double kRounding = 1.01;
constexpr double kWeighed = 4.0 / 3;

}  // namespace

bool Node::TooFar(const Received& event) const {
  if (settings_.max_distance <= 0) return false;
  const Message& message = *event.message;
  const tensor::Coded<ByteView> payload{message.encoding, message.payload->view()};
  double squared = 0;
  double most = settings_.max_distance * settings_.max_distance;
  if (message.kind == MessageKind::kWeights) {
    squared = tensor::SquaredDistance(payload, event.x);
  } else {
    const double weighed = settings_.weigh == Weigh::kSamples ? kWeighed : 1;
    const double gamma = kRounding * weighed * static_cast<double>(LargestStep(settings_));
    squared = tensor::SquaredNorm(payload, event.x.size());
    most *= gamma * gamma;
  }
  // Nearly all pass the first, which spares a pass over x. Not a number passes neither.
  return !(squared <= most) && !(squared <= most * tensor::SquaredNorm(event.x));
}

}  // namespace covey::consensus
