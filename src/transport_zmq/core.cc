#include "transport_zmq/core.h"

#include <cerrno>
#include <cstring>

#include "covey/base/check.h"

namespace covey::transport_zmq {

bool ReadRest(Socket& socket, const Message& message) {
  if (!message.more()) return false;
  bool more = true;
  while (more) {  // libzmq shows a message only when all its parts have come
    Message part;
    if (!part.Receive(socket)) break;
    more = part.more();
  }
  return true;
}

int SendFrame(Socket& socket, ByteView header, ByteView body) {
  zmq_msg_t message;
  COVEY_CHECK(zmq_msg_init_size(&message, header.size() + body.size()) == 0, body.size());
  char* to = static_cast<char*>(zmq_msg_data(&message));
  std::memcpy(to, header.data(), header.size());
  if (!body.empty()) std::memcpy(to + header.size(), body.data(), body.size());
  if (zmq_msg_send(&message, socket.get(), ZMQ_DONTWAIT) >= 0) return 0;
  const int error = zmq_errno();
  zmq_msg_close(&message);
  return error;
}

}  // namespace covey::transport_zmq
