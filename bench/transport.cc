// Throughput of the ZeroMQ transport: two transports of one process over loopback, plain and under
// CURVE.
//
// One way: frames of 229 kB (the paper's MLP) under a window, as credit would be. Exchange: one
// frame there, one back, the next after it; CPU is that of the whole process, so of both sides and
// libzmq's threads.
#include <malloc.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "covey/transport_zmq/zmq_transport.h"

namespace {

using covey::ByteView;
using covey::transport::LinkId;
using covey::transport::LinkInfo;
using covey::transport_zmq::KeyPair;
using covey::transport_zmq::Settings;
using covey::transport_zmq::ZmqTransport;

constexpr std::size_t kBody = 229'000;
constexpr std::size_t kWindow = 16;
constexpr covey::Duration kRun = std::chrono::seconds(2);

struct Side : covey::transport::Sink {
  std::unique_ptr<ZmqTransport> transport;
  LinkId link;
  std::size_t frames = 0;
  std::function<void()> on_frame;

  void OnLinkUp(const LinkInfo& info) override { link = info.id; }
  void OnLinkDown(LinkId, const std::string&) override { link = {}; }
  void OnFrame(LinkId, ByteView) override {
    ++frames;
    if (on_frame) on_frame();
  }
  void Send(std::size_t body) {
    static const std::vector<std::byte> bytes(kBody);
    const ByteView all(bytes);
    if (transport->Send(link, all.first(covey::transport::kHeaderSize), all.first(body)) !=
        covey::transport::SendResult::kSent) {
      std::fprintf(stderr, "not sent\n");
      std::exit(1);
    }
  }
};

double CpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void Open(Side* side, const Settings& settings) {
  auto opened = ZmqTransport::Open(settings);
  if (!opened) {
    std::fprintf(stderr, "%s\n", opened.error().Format().c_str());
    std::exit(1);
  }
  side->transport = std::move(*opened);
}

// Both sides on this thread, as long as `going`.
void Drive(Side* a, Side* b, const std::function<bool()>& going) {
  while (going()) {
    a->transport->Poll(*a, covey::Duration::zero());
    b->transport->Poll(*b, covey::Duration::zero());
  }
}

void Run(bool curve, bool exchange) {
  Side a;
  Side b;
  Settings first;
  Settings second;
  first.curve = second.curve = curve;
  first.keys = KeyPair::Generate();
  second.keys = KeyPair::Generate();
  first.allowed = second.allowed = {first.keys.public_key, second.keys.public_key};
  Open(&a, first);
  second.dial = {{first.keys.public_key, a.transport->endpoint()}};
  Open(&b, second);
  Drive(&a, &b, [&] { return b.link.value == 0; });
  b.Send(0);
  Drive(&a, &b, [&] { return a.link.value == 0; });
  a.frames = b.frames = 0;
  if (exchange) {
    a.on_frame = [&] { a.Send(kBody); };
    b.on_frame = [&] { b.Send(kBody); };
    b.Send(kBody);
  } else {
    a.on_frame = [&] { a.Send(0); };  // credit
    b.on_frame = [&] { b.Send(kBody); };
    for (std::size_t i = 0; i < kWindow; ++i) b.Send(kBody);
  }
  const auto start = std::chrono::steady_clock::now();
  const double cpu = CpuSeconds();
  // Each side waits on a thread of its own, as two daemons would.
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) a.transport->Poll(a, std::chrono::milliseconds(10));
  });
  while (std::chrono::steady_clock::now() - start < kRun) {
    b.transport->Poll(b, std::chrono::milliseconds(10));
  }
  stop = true;
  a.transport->Wake();
  other.join();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double spent = CpuSeconds() - cpu;
  const double frames = static_cast<double>(a.frames);
  std::printf("%-5s %-9s %8.0f /s  %6.2f GB/s  %7.0f us CPU each\n", curve ? "curve" : "plain",
              exchange ? "exchange" : "one way", frames / seconds,
              frames / seconds * static_cast<double>(kBody) * 1e-9, spent / frames * 1e6);
}

}  // namespace

int main() {
  // As in coveyd: with glibc's own thresholds each frame's buffers go back to the kernel and are
  // faulted in again.
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 16 << 20);
  std::printf("229 kB frames over loopback\n");
  for (const bool curve : {false, true}) {
    for (const bool exchange : {false, true}) Run(curve, exchange);
  }
  return 0;
}
