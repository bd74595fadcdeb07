#include "hello_gate.h"

#include <string_view>
#include <utility>

namespace covey::session {
namespace {

using wire::Reason;

HelloVerdict No(Reason reason, std::string text) {
  return HelloVerdict{reason, std::move(text), false};
}

HelloVerdict Broken(Reason reason, std::string text) {
  return HelloVerdict{reason, std::move(text), true};
}

std::string Range(std::uint32_t from, std::uint32_t to) {
  return from == to ? std::to_string(from) : std::to_string(from) + " to " + std::to_string(to);
}

// "mlp 12-32-4 against 12-64-4": the first word once when both have it; fingerprints when the texts
// agree.
std::string AgainstEachOther(const Settings& settings, const wire::Hello& hello) {
  const std::string_view ours = settings.model_summary;
  std::string_view theirs = hello.model_summary;
  if (ours == theirs) {
    return std::string(ours) + " (" + settings.model.Hex().substr(0, 8) + ") against (" +
           hello.model.Hex().substr(0, 8) + ")";
  }
  const std::size_t word = ours.find(' ');
  if (word != std::string_view::npos && theirs.substr(0, word + 1) == ours.substr(0, word + 1)) {
    theirs.remove_prefix(word + 1);
  }
  return std::string(ours) + " against " + std::string(theirs);
}

// What a node of an older version leaves out.
std::string Said(const std::string& summary) { return summary.empty() ? "unknown" : summary; }

}  // namespace

HelloVerdict JudgeHello(const Settings& settings, const transport::LinkInfo& link,
                        const wire::Envelope& envelope, const wire::Hello& hello) {
  if (hello.protocol_min > hello.protocol_max || hello.max_chunk < wire::kMinChunk ||
      hello.max_chunk > wire::kMaxBody || hello.credit < wire::kMinCredit ||
      hello.credit > wire::kMaxCredit || envelope.session != hello.session ||
      envelope.fleet != hello.fleet.Prefix() || envelope.model != hello.model.Prefix()) {
    return Broken(Reason::kMalformed, "hello contradicts itself");
  }
  if (hello.protocol_min > wire::kProtocolMax || hello.protocol_max < wire::kProtocolMin) {
    return No(Reason::kVersion, "protocol " + Range(wire::kProtocolMin, wire::kProtocolMax) +
                                    " against " + Range(hello.protocol_min, hello.protocol_max));
  }
  if (hello.fleet != settings.fleet) {
    return No(Reason::kFleet, "fleet " + settings.fleet.Hex().substr(0, 8) + " against " +
                                  hello.fleet.Hex().substr(0, 8));
  }
  if (link.key && *link.key != hello.key) {
    return Broken(Reason::kKey,
                  "key " + link.key->Short() + " says that it is " + hello.key.Short());
  }
  if (hello.key == settings.self) return No(Reason::kSelf, "own key: a node dialled itself");
  if (settings.allowed && !settings.allowed->contains(hello.key)) {
    return No(Reason::kNotAllowed, "key " + hello.key.Short() + " is not on the allow-list");
  }
  if (hello.model != settings.model) {
    return No(Reason::kModel, AgainstEachOther(settings, hello));
  }
  if (hello.normalization != settings.normalization) {
    return No(Reason::kData, "normalisation " + settings.normalization_summary + " against " +
                                 Said(hello.normalization_summary));
  }
  if (hello.labels != settings.labels) {
    return No(Reason::kData,
              "labels " + settings.labels_summary + " against " + Said(hello.labels_summary));
  }
  return {};
}

}  // namespace covey::session
