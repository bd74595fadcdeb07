// Nodes with Links over a network in memory.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "covey/learner/links.h"
#include "covey/wire_pb/codec.h"
#include "support/memory_network.h"
#include "support/session_fixture.h"

namespace covey::test {

struct RecordedEvents final : learner::LinkEvents {
  void PeerUp(const PeerKey& peer, const wire::Hello&) override { Note("up " + Id(peer)); }
  void PeerDown(const PeerKey& peer, const std::string&, session::Parting parting) override {
    Note("down " + Id(peer));
    partings.push_back(parting);
  }
  void Told(const PeerKey& peer, const wire::Membership& membership) override {
    Note("told " + Id(peer));
    told.push_back(membership);
  }
  void Deliver(consensus::Message message) override {
    delivered.push_back(std::move(message));
    if (on_delivered) on_delivered();
  }
  void Nacked(const PeerKey& peer, ExchangeId exchange, wire::Reason reason) override {
    Note("nacked " + Id(peer) + " " + std::to_string(exchange.value) + " " +
         std::string(wire::Name(reason)));
  }
  void JoinAsked(const PeerKey& peer) override { Note("join " + Id(peer)); }
  void Refused(const std::string&, wire::Reason reason, const std::string& text) override {
    Note("refused " + std::string(wire::Name(reason)) + ": " + text);
  }

  void Rejected(const std::string& who, wire::Reason reason) override {
    rejected.push_back(who + " " + std::string(wire::Name(reason)));
  }

  static std::string Id(const PeerKey& peer) { return std::to_string(peer.bytes[0]); }
  void Note(std::string line) { lines.push_back(std::move(line)); }
  // Returns: what was noted since the last call.
  std::vector<std::string> Take() { return std::exchange(lines, {}); }

  std::vector<std::string> lines;
  std::vector<std::string> rejected;
  std::vector<consensus::Message> delivered;
  std::vector<session::Parting> partings;
  std::vector<wire::Membership> told;
  std::function<void()> on_delivered;
};

struct LinksNode {
  LinksNode(MemoryNetwork& network, const learner::LinkSettings& with)
      : port(network.AddNode(with.session.self)),
        settings(with),
        links(std::make_unique<learner::Links>(settings, port, codec, events)) {
    port.sink = links.get();
  }
  ~LinksNode() { port.sink = nullptr; }

  std::uint64_t Rejected(wire::Reason reason) const {
    return links->counters().session.Rejected(reason);
  }

  MemoryNetwork::Port& port;
  wire_pb::ProtobufCodec codec;
  RecordedEvents events;
  learner::LinkSettings settings;
  std::unique_ptr<learner::Links> links;
};

inline learner::LinkSettings LinkSettingsOf(std::uint8_t number, std::size_t vector_size) {
  learner::LinkSettings settings;
  settings.session = SessionSettings(number, vector_size);
  settings.node = number;
  return settings;
}

inline consensus::Message To(std::uint8_t number, consensus::Message message) {
  message.peer = KeyOf(number);
  return message;
}

}  // namespace covey::test
