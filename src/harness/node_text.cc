#include "harness/node_text.h"

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

namespace covey::harness {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kEnds = {End::kDone, End::kDied, End::kInterrupted};

Json NodePart(const Score& score) {
  Json json = {{"loss", score.loss}};
  if (score.accuracy) json["accuracy"] = *score.accuracy;
  if (score.r2) json["r2"] = *score.r2;
  if (score.mean_absolute_error) json["mean_absolute_error"] = *score.mean_absolute_error;
  return json;
}

Json NodePart(const Selected& selected) {
  Json json = {{"epoch", selected.epoch}};
  if (selected.validation) json["validation"] = NodePart(*selected.validation);
  if (selected.test) json["test"] = NodePart(*selected.test);
  return json;
}

// Reads members and remembers whether one was not what it has to be.
class Members {
 public:
  bool sound() const { return sound_; }

  // Null reads as no number: JSON has no word for one that is not finite.
  double Real(const Json& json, const char* name) {
    if (json.contains(name) && json[name].is_null()) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    if (!json.contains(name) || !json[name].is_number()) return Wrong<double>();
    return json[name].get<double>();
  }
  std::uint64_t Count(const Json& json, const char* name) {
    if (!json.contains(name) || !json[name].is_number_unsigned()) return Wrong<std::uint64_t>();
    return json[name].get<std::uint64_t>();
  }
  std::string Text(const Json& json, const char* name) {
    if (!json.contains(name) || !json[name].is_string()) return Wrong<std::string>();
    return json[name].get<std::string>();
  }
  std::optional<double> Maybe(const Json& json, const char* name) {
    if (!json.contains(name)) return std::nullopt;
    return Real(json, name);
  }
  Score ReadScore(const Json& json) {
    if (!json.is_object()) return Wrong<Score>();
    return Score{.loss = Real(json, "loss"),
                 .accuracy = Maybe(json, "accuracy"),
                 .r2 = Maybe(json, "r2"),
                 .mean_absolute_error = Maybe(json, "mean_absolute_error")};
  }
  std::optional<Selected> ReadSelected(const Json& json, const char* name) {
    if (!json.contains(name)) return std::nullopt;
    const Json& from = json[name];
    if (!from.is_object()) return Wrong<std::optional<Selected>>();
    Selected selected{
        .epoch = Real(from, "epoch"), .validation = std::nullopt, .test = std::nullopt};
    if (from.contains("validation")) selected.validation = ReadScore(from["validation"]);
    if (from.contains("test")) selected.test = ReadScore(from["test"]);
    if (!selected.validation && !selected.test) return Wrong<std::optional<Selected>>();
    return selected;
  }

 private:
  template <class T>
  T Wrong() {
    sound_ = false;
    return T{};
  }

  bool sound_ = true;
};

End EndOf(const std::string& name, bool& known) {
  for (const End end : kEnds) {
    if (Name(end) == name) return end;
  }
  known = false;
  return End::kDied;
}

}  // namespace

std::string ToJsonText(const NodeOutcome& node) {
  Json json = {{"node", node.index},    {"end", Name(node.end)},      {"reason", node.reason},
               {"shard", node.shard},   {"samples", node.samples},    {"epochs", node.epochs},
               {"rounds", node.rounds}, {"pss_bytes", node.pss_bytes}};
  if (node.best) json["best"] = NodePart(*node.best);
  if (node.last) json["last"] = NodePart(*node.last);
  const Traffic& traffic = node.traffic;
  json["traffic"] = {{"weights_sent", traffic.weights_sent},
                     {"weights_dropped", traffic.weights_dropped},
                     {"weights_received", traffic.weights_received},
                     {"deltas_sent", traffic.deltas_sent},
                     {"deltas_dropped", traffic.deltas_dropped},
                     {"deltas_received", traffic.deltas_received},
                     {"bytes_sent", traffic.bytes_sent}};
  Json curve = Json::array();
  for (const Point& point : node.curve) {
    Json item = NodePart(point.validation);
    item["epoch"] = point.epoch;
    item["seconds"] = point.seconds;
    curve.push_back(std::move(item));
  }
  json["curve"] = std::move(curve);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<NodeOutcome> NodeFromJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  const auto wrong = [] {
    return Fail(ErrorCode::kData, "outcome of a node", "is not what a node writes");
  };
  if (!json.is_object()) return wrong();
  Members members;
  NodeOutcome node;
  node.index = static_cast<std::uint32_t>(members.Count(json, "node"));
  bool known = true;
  node.end = EndOf(members.Text(json, "end"), known);
  node.reason = members.Text(json, "reason");
  node.shard = members.Count(json, "shard");
  node.samples = members.Count(json, "samples");
  node.epochs = members.Real(json, "epochs");
  node.rounds = members.Count(json, "rounds");
  node.pss_bytes = members.Count(json, "pss_bytes");
  node.best = members.ReadSelected(json, "best");
  node.last = members.ReadSelected(json, "last");
  const Json traffic = json.value("traffic", Json());
  node.traffic = {.weights_sent = members.Count(traffic, "weights_sent"),
                  .weights_dropped = members.Count(traffic, "weights_dropped"),
                  .weights_received = members.Count(traffic, "weights_received"),
                  .deltas_sent = members.Count(traffic, "deltas_sent"),
                  .deltas_dropped = members.Count(traffic, "deltas_dropped"),
                  .deltas_received = members.Count(traffic, "deltas_received"),
                  .bytes_sent = members.Count(traffic, "bytes_sent")};
  const Json curve = json.value("curve", Json());
  if (!curve.is_array()) return wrong();
  for (const Json& item : curve) {
    node.curve.push_back({.epoch = members.Real(item, "epoch"),
                          .seconds = members.Real(item, "seconds"),
                          .validation = members.ReadScore(item)});
  }
  if (!members.sound() || !known) return wrong();
  return node;
}

}  // namespace covey::harness
