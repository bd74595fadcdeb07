#include "transport_zmq/core.h"

#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>

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

void Terminate(void* context, Duration deadline) {
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
  };
  auto state = std::make_shared<State>();
  std::thread([state, context] {
    while (zmq_ctx_term(context) != 0 && zmq_errno() == EINTR) {
    }
    const std::lock_guard<std::mutex> lock(state->mutex);
    state->done = true;
    state->changed.notify_all();
  }).detach();
  std::unique_lock<std::mutex> lock(state->mutex);
  state->changed.wait_for(lock, deadline, [&] { return state->done; });
}

std::uint64_t RandomSeed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

std::uint16_t PortOf(const std::string& endpoint) {
  const std::size_t colon = endpoint.rfind(':');
  if (colon == std::string::npos) return 0;
  return static_cast<std::uint16_t>(std::strtoul(endpoint.c_str() + colon + 1, nullptr, 10));
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
