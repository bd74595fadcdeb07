// What a node with a planted bug does to its messages.
#include <limits>
#include <utility>
#include <vector>

#include "covey/tensor/codec.h"
#include "simulate/virtual_node.h"

namespace covey::simulate {

// Every so often, counted for each node: a bug that shows at once would be no test of a swarm.
bool VirtualNode::Now(bool bug, std::uint64_t every) { return bug && ++mischief_ % every == 0; }

// The same message with all values times `factor` and `first` added to the first one.
consensus::Message VirtualNode::WithPayload(consensus::Message message, float factor, float first) {
  const std::size_t size = message.payload->size() / sizeof(float);
  tensor::FlatVector values(size);
  tensor::Decode(message.encoding, message.payload->view(), values.view());
  for (float& value : values.view()) value *= factor;
  values[0] += first;
  auto payload = std::make_shared<AlignedBuffer>(message.payload->size());
  tensor::Encode(message.encoding, values.view(), payload->view());
  message.payload = std::move(payload);
  return message;
}

// Returns: whether the message is not sent at all.
bool VirtualNode::Spoil(consensus::Message& message) {
  const bool reply = message.kind == consensus::MessageKind::kDeltas;
  if (reply && Now(bugs().reply_swallowed, 20)) return true;
  if (reply && Now(bugs().reply_altered, 20)) message = WithPayload(std::move(message), 1.01f, 0);
  if (!reply && Now(bugs().not_a_number, 50)) {
    message = WithPayload(std::move(message), 1, std::numeric_limits<float>::quiet_NaN());
  }
  return false;
}

}  // namespace covey::simulate
