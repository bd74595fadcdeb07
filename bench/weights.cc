// Payload rate of WEIGHTS from node to node: all that a message passes but the learner. Encoded
// once, chunked under credit, over loopback, through the gates, and delivered; beside it what
// ZeroMQ moves by itself in messages of the same size.
//
//   bench_weights [BYTES]     of a model; 229 kB, the paper's MLP
//
// Each side has a thread, as two daemons would.
#include <malloc.h>
#include <zmq.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "covey/learner/links.h"
#include "covey/transport_zmq/zmq_transport.h"
#include "covey/wire_pb/codec.h"

namespace {

using namespace covey;
using Clock = std::chrono::steady_clock;
using transport_zmq::KeyPair;
using transport_zmq::ZmqTransport;

constexpr Duration kRun = std::chrono::seconds(2);
constexpr std::uint64_t kAhead = 6;  // messages sent before they arrive
constexpr int kRawAhead = 16;

[[noreturn]] void Die(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::exit(1);
}

// Calls `step` on a thread of its own until the run is over; returns bytes a second of `bytes`.
double Measure(const std::function<void()>& near, const std::function<void()>& far,
               const std::atomic<std::uint64_t>& bytes) {
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) far();
  });
  const auto warm = Clock::now();
  while (Clock::now() - warm < kRun / 4) near();
  const auto start = Clock::now();
  const std::uint64_t before = bytes;
  while (Clock::now() - start < kRun) near();
  const double rate = static_cast<double>(bytes - before) /
                      std::chrono::duration<double>(Clock::now() - start).count();
  stop = true;
  other.join();
  return rate;
}

struct Node final : learner::LinkEvents {
  void PeerUp(const PeerKey& peer, const wire::Hello&) override { up = peer; }
  void PeerDown(const PeerKey&, const std::string& reason, session::Parting) override {
    Die("down: " + reason);
  }
  void Deliver(consensus::Message message) override {
    bytes += message.payload->size();
    ++delivered;
  }
  void Nacked(const PeerKey&, ExchangeId, wire::Reason) override {}
  void JoinAsked(const PeerKey&) override {}
  void Rejected(const std::string&, wire::Reason reason) override {
    Die(std::string(wire::Name(reason)));
  }
  void Refused(const std::string&, wire::Reason, const std::string& text) override { Die(text); }

  void Turn(Duration at_most) {
    const Time now = Clock::now() - start;
    links->SetTime(now);
    links->Tick();
    transport->Poll(*links, at_most);
  }

  Clock::time_point start = Clock::now();
  wire_pb::ProtobufCodec codec;
  std::unique_ptr<ZmqTransport> transport;
  std::unique_ptr<learner::Links> links;
  PeerKey up;
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> delivered{0};
};

void Open(Node* node, const transport_zmq::Settings& settings, std::size_t floats,
          std::uint64_t number) {
  auto opened = ZmqTransport::Open(settings);
  if (!opened) Die(opened.error().Format());
  node->transport = std::move(*opened);
  learner::LinkSettings links;
  links.session.self = settings.keys.public_key;
  links.session.session = SessionId{number};
  links.session.vector_size = floats;
  links.session.checksum = !settings.curve;
  node->links = std::make_unique<learner::Links>(links, *node->transport, node->codec, *node);
}

double Covey(bool curve, std::size_t size) {
  Node a;
  Node b;
  transport_zmq::Settings first;
  transport_zmq::Settings second;
  first.curve = second.curve = curve;
  first.keys = KeyPair::Generate();
  second.keys = KeyPair::Generate();
  first.allowed = second.allowed = {first.keys.public_key, second.keys.public_key};
  const std::size_t floats = size / sizeof(float);
  Open(&a, first, floats, 1);
  second.dial = {{first.keys.public_key, a.transport->endpoint()}};
  Open(&b, second, floats, 2);
  while (b.up == PeerKey{} || a.up == PeerKey{}) {
    a.Turn(std::chrono::milliseconds(1));
    b.Turn(std::chrono::milliseconds(1));
  }
  const auto payload = std::make_shared<AlignedBuffer>(floats * sizeof(float));
  std::memset(payload->data(), 0x3c, payload->size());
  std::uint64_t sent = 0;
  const auto send = [&] {
    // What stands still a moment was overtaken by its successor, which the figure does not count.
    const std::uint64_t arrived = a.delivered + b.links->counters().session.replaced;
    for (; sent < arrived + kAhead; ++sent) {
      consensus::Message message;
      message.kind = consensus::MessageKind::kWeights;
      message.peer = b.up;
      message.exchange = ExchangeId{sent + 1};
      message.no_reply = true;
      message.payload = payload;
      b.links->Send(std::move(message));
    }
    b.Turn(std::chrono::milliseconds(1));
  };
  return Measure(
      send, [&] { a.Turn(std::chrono::milliseconds(1)); }, a.bytes);
}

// A DEALER and a ROUTER with a window of messages, and nothing else.
double Raw(bool curve, std::size_t size) {
  void* context = zmq_ctx_new();
  void* router = zmq_socket(context, ZMQ_ROUTER);
  void* dealer = zmq_socket(context, ZMQ_DEALER);
  if (curve) {
    char public_key[41];
    char secret_key[41];
    zmq_curve_keypair(public_key, secret_key);
    const int yes = 1;
    zmq_setsockopt(router, ZMQ_CURVE_SERVER, &yes, sizeof yes);
    zmq_setsockopt(router, ZMQ_CURVE_SECRETKEY, secret_key, 40);
    zmq_setsockopt(dealer, ZMQ_CURVE_SERVERKEY, public_key, 40);
    zmq_setsockopt(dealer, ZMQ_CURVE_PUBLICKEY, public_key, 40);
    zmq_setsockopt(dealer, ZMQ_CURVE_SECRETKEY, secret_key, 40);
  }
  const int patience = 10;
  zmq_setsockopt(router, ZMQ_RCVTIMEO, &patience, sizeof patience);
  zmq_setsockopt(dealer, ZMQ_SNDHWM, &kRawAhead, sizeof kRawAhead);
  zmq_setsockopt(router, ZMQ_RCVHWM, &kRawAhead, sizeof kRawAhead);
  zmq_setsockopt(dealer, ZMQ_SNDTIMEO, &patience, sizeof patience);
  if (zmq_bind(router, "tcp://127.0.0.1:*") != 0) Die(zmq_strerror(zmq_errno()));
  char endpoint[64];
  std::size_t length = sizeof endpoint;
  zmq_getsockopt(router, ZMQ_LAST_ENDPOINT, endpoint, &length);
  zmq_connect(dealer, endpoint);
  std::atomic<std::uint64_t> bytes{0};
  const std::vector<char> payload(size);
  const auto send = [&] { zmq_send(dealer, payload.data(), payload.size(), 0); };
  const auto receive = [&] {
    zmq_msg_t message;
    zmq_msg_init(&message);
    const int got = zmq_msg_recv(&message, router, 0);
    if (got > 100) bytes += static_cast<std::uint64_t>(got);  // else the routing id
    zmq_msg_close(&message);
  };
  const double rate = Measure(send, receive, bytes);
  const int none = 0;
  zmq_setsockopt(dealer, ZMQ_LINGER, &none, sizeof none);
  zmq_close(dealer);
  zmq_close(router);
  zmq_ctx_term(context);
  return rate;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t size = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 229'000;
  if (size < 1000) Die("usage: bench_weights [BYTES], at least 1000");
  // As in coveyd: with glibc's own thresholds each frame's buffers go back to the kernel and are
  // faulted in again.
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 16 << 20);
  std::printf("WEIGHTS of %zu bytes over loopback, and messages of ZeroMQ alone\n", size);
  for (const bool curve : {false, true}) {
    const double ours = Covey(curve, size);
    const double raw = Raw(curve, size);
    std::printf("%-5s %6.2f GB/s  zeromq %6.2f GB/s  ratio %.2f\n", curve ? "curve" : "plain",
                ours * 1e-9, raw * 1e-9, ours / raw);
  }
  return 0;
}
