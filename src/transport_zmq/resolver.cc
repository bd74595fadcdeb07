#include "transport_zmq/resolver.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "transport_zmq/clock.h"

namespace covey::transport_zmq {

// What both threads hold; it lives as long as the longer of them.
struct Resolver::Shared {
  struct Entry {
    Answer answer;
    Time at{};
    bool asked = false;
  };

  explicit Shared(std::shared_ptr<Waker> w) : waker(std::move(w)) {}

  void Run() {
    std::unique_lock<std::mutex> lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return stopping || !questions.empty(); });
      if (stopping) return;
      const std::string name = std::move(questions.front());
      questions.pop_front();
      lock.unlock();
      Answer answer;
      answer.pending = false;
      answer.addresses = LookUp(name, &answer.problem);
      lock.lock();
      Entry& entry = entries[name];
      entry.asked = false;
      entry.at = Now();
      // A name server that is away for a while must not make us forget where the peer is.
      if (!answer.addresses.empty() || entry.answer.addresses.empty()) {
        entry.answer = std::move(answer);
      }
      waker->Wake();
    }
  }

  std::shared_ptr<Waker> waker;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> questions;  // at most one for each name
  std::map<std::string, Entry> entries;
  bool stopping = false;
};

std::vector<std::string> LookUp(const std::string& name, std::string* problem) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(name.c_str(), nullptr, &hints, &found);
  std::vector<std::string> addresses;
  if (error != 0) {
    *problem = "can't resolve '" + name + "': " + ::gai_strerror(error);
    return addresses;
  }
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    char text[NI_MAXHOST] = {};
    if (::getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) ==
            0 &&
        std::find(addresses.begin(), addresses.end(), text) == addresses.end()) {
      addresses.emplace_back(text);
    }
  }
  ::freeaddrinfo(found);
  if (addresses.empty()) *problem = "'" + name + "' has no address";
  return addresses;
}

Resolver::Resolver(std::shared_ptr<Waker> waker)
    : shared_(std::make_shared<Shared>(std::move(waker))) {}

Resolver::~Resolver() {
  const std::lock_guard<std::mutex> lock(shared_->mutex);
  shared_->stopping = true;
  shared_->changed.notify_all();
}

Resolver::Answer Resolver::Ask(const std::string& name, Time now) {
  const std::lock_guard<std::mutex> lock(shared_->mutex);
  Shared::Entry& entry = shared_->entries[name];
  const bool answered = !entry.answer.pending;
  // A failure is told once and asked again by the next attempt.
  if (!entry.asked && (!answered || now - entry.at > kFresh)) {
    entry.asked = true;
    shared_->questions.push_back(name);
    shared_->changed.notify_all();
    if (!started_) Start();
  }
  Answer answer = entry.answer;
  if (answered && answer.addresses.empty()) entry.answer = Answer{};
  return answer;
}

void Resolver::Start() {
  started_ = true;
  std::thread([shared = shared_] { shared->Run(); }).detach();
}

}  // namespace covey::transport_zmq
