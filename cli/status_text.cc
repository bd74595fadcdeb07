#include "status_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace covey {
namespace {

using Json = nlohmann::ordered_json;

std::string Fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

// "57.2k": three digits are what a glance takes in.
std::string Short(double value) {
  const char* units[] = {"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(units)) {
    value /= 1000;
    ++unit;
  }
  const int digits = unit == 0 || value >= 99.95 ? 0 : 1;
  return Fixed(value, digits) + units[unit];
}

std::string Age(double seconds) {
  if (seconds < 120) return Fixed(seconds, 0) + "s";
  if (seconds < 7200) return Fixed(seconds / 60, 0) + "min";
  if (seconds < 172800) return Fixed(seconds / 3600, 0) + "h";
  return Fixed(seconds / 86400, 0) + "d";
}

std::string Text(const api::Evaluation& evaluation) {
  return "accuracy " + Fixed(evaluation.accuracy, 4) + ", loss " + Fixed(evaluation.loss, 4) +
         " at epoch " + Fixed(evaluation.epoch, 2);
}

using Lines = std::vector<std::pair<std::string, std::string>>;

void AddProgress(const api::NodeStatus& status, Lines& lines) {
  std::string progress =
      "epoch " + Fixed(status.epochs, 2) + ", batch " + std::to_string(status.batches);
  if (status.until_batches > 0) progress += " of " + std::to_string(status.until_batches);
  lines.emplace_back("progress", progress + ", round " + std::to_string(status.rounds));
  if (status.samples > 0) {
    lines.emplace_back("speed", Short(status.samples_per_second) + " samples/s, training loss " +
                                    Fixed(status.train_loss, 4));
  }
  if (status.last_evaluation) lines.emplace_back("validation", Text(*status.last_evaluation));
  if (status.best_evaluation) lines.emplace_back("best", Text(*status.best_evaluation));
}

void AddTraffic(const api::NodeStatus& status, Lines& lines) {
  const api::Traffic& traffic = status.traffic;
  const auto count = [](std::uint64_t value) { return Short(static_cast<double>(value)); };
  lines.emplace_back("sent", count(traffic.weights_sent) + " weights, " +
                                 count(traffic.deltas_sent) + " deltas, " +
                                 count(traffic.bytes_sent) + "B");
  lines.emplace_back("received", count(traffic.weights_received) + " weights, " +
                                     count(traffic.deltas_received) + " deltas, " +
                                     count(traffic.bytes_received) + "B");
  if (traffic.weights_dropped + traffic.deltas_dropped > 0) {
    lines.emplace_back("faults", count(traffic.weights_dropped) + " weights and " +
                                     count(traffic.deltas_dropped) + " deltas lost on purpose");
  }
  std::string rejects;
  for (const auto& [reason, number] : status.rejects) {
    rejects += (rejects.empty() ? "" : ", ") + reason + ' ' + std::to_string(number);
  }
  if (!rejects.empty()) lines.emplace_back("rejected", rejects);
}

Json ToJson(const api::Evaluation& evaluation) {
  return {{"epoch", evaluation.epoch},
          {"batches", evaluation.batches},
          {"loss", evaluation.loss},
          {"accuracy", evaluation.accuracy},
          {"time_ns", evaluation.time_ns}};
}

Json ToJson(const api::Score& score) {
  Json json = {{"epoch", score.epoch}};
  if (score.validation_loss) json["validation_loss"] = *score.validation_loss;
  if (score.validation_accuracy) json["validation_accuracy"] = *score.validation_accuracy;
  if (score.test_loss) json["test_loss"] = *score.test_loss;
  if (score.test_accuracy) json["test_accuracy"] = *score.test_accuracy;
  return json;
}

Json ToJson(const api::FinalResults& results) {
  return {{"best", ToJson(results.best)}, {"last", ToJson(results.last)}};
}

Json ToJson(const api::Traffic& traffic) {
  return {{"weights_sent", traffic.weights_sent},
          {"weights_dropped", traffic.weights_dropped},
          {"deltas_sent", traffic.deltas_sent},
          {"deltas_dropped", traffic.deltas_dropped},
          {"weights_received", traffic.weights_received},
          {"deltas_received", traffic.deltas_received},
          {"bytes_sent", traffic.bytes_sent},
          {"bytes_received", traffic.bytes_received}};
}

void AddPeers(const api::NodeStatus& status, Json& json) {
  json["peers"] = Json::array();
  for (const api::Peer& peer : status.peers) {
    Json one = {{"key", peer.key},
                {"address", peer.address},
                {"state", peer.state},
                {"since_seconds", peer.since_seconds}};
    if (peer.rtt_seconds) one["rtt_seconds"] = *peer.rtt_seconds;
    json["peers"].push_back(std::move(one));
  }
  json["rejects"] = Json::object();
  for (const auto& [reason, number] : status.rejects) json["rejects"][reason] = number;
}

// A loss may be infinite; JSON has no word for that, and the library writes null.
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string Text(const char* name, const api::Score& score) {
  std::string text = std::string(name) + " model (epoch " + Fixed(score.epoch, 2) + "):";
  const auto add = [&text](const char* set, std::optional<double> accuracy,
                           std::optional<double> loss) {
    if (!accuracy || !loss) return;
    text +=
        std::string("  ") + set + " accuracy " + Fixed(*accuracy, 4) + ", loss " + Fixed(*loss, 4);
  };
  add("validation", score.validation_accuracy, score.validation_loss);
  add("test", score.test_accuracy, score.test_loss);
  return text + '\n';
}

}  // namespace

std::string StatusText(const api::NodeStatus& status) {
  Lines lines;
  lines.emplace_back("node", status.name + " (" + status.key.substr(0, 8) + "), fleet " +
                                 status.fleet + ", pid " + std::to_string(status.pid));
  lines.emplace_back("version", status.version + " (git " + status.build + ", protocol " +
                                    std::to_string(status.protocol) + ", kernels " +
                                    status.kernel_level + ")");
  lines.emplace_back(
      "model", status.model + ", " + Short(static_cast<double>(status.parameters)) + " parameters");
  lines.emplace_back("state", std::string(Name(status.state)) + (status.paused ? ", paused" : "") +
                                  ", up " + Age(status.uptime_seconds));
  AddProgress(status, lines);
  AddTraffic(status, lines);
  for (const std::string& endpoint : status.endpoints) lines.emplace_back("listens", endpoint);
  lines.emplace_back("memory", Fixed(static_cast<double>(status.pss_bytes) / 1e6, 1) + " MB");
  const api::CheckpointInfo& checkpoint = status.checkpoint;
  lines.emplace_back("checkpoint", checkpoint.path.empty()
                                       ? "none yet"
                                       : checkpoint.path + " (batch " +
                                             std::to_string(checkpoint.batches) + ", " +
                                             Age(checkpoint.age_seconds) + " ago)");
  if (checkpoint.failures > 0)
    lines.emplace_back("failed", std::to_string(checkpoint.failures) + " checkpoints");
  std::string text;
  for (const auto& [name, value] : lines) {
    text += name + std::string(12 - name.size(), ' ') + value + '\n';
  }
  text += "peers       " + std::to_string(status.peers.size()) + '\n';
  for (const api::Peer& peer : status.peers) {
    text += "  " + (peer.key.empty() ? std::string(8, '-') : peer.key.substr(0, 8)) + "  " +
            peer.address + "  " + peer.state + " for " + Age(peer.since_seconds);
    if (peer.rtt_seconds) text += "  rtt " + Fixed(*peer.rtt_seconds * 1e3, 2) + " ms";
    text += '\n';
  }
  return text;
}

std::string StatusJson(const api::NodeStatus& status) {
  Json json = {{"schema", "covey.status/1"},
               {"name", status.name},
               {"key", status.key},
               {"fleet", status.fleet},
               {"pid", status.pid},
               {"version", status.version},
               {"build", status.build},
               {"kernel_level", status.kernel_level},
               {"protocol", status.protocol},
               {"model", status.model},
               {"parameters", status.parameters},
               {"state", Name(status.state)},
               {"paused", status.paused},
               {"uptime_seconds", status.uptime_seconds},
               {"epochs", status.epochs},
               {"batches", status.batches},
               {"until_batches", status.until_batches},
               {"rounds", status.rounds},
               {"samples", status.samples},
               {"samples_per_second", status.samples_per_second},
               {"first_batch_ns", status.first_batch_ns},
               {"last_batch_ns", status.last_batch_ns},
               {"train_loss", status.train_loss},
               {"evaluations_skipped", status.evaluations_skipped}};
  if (status.last_evaluation) json["last_evaluation"] = ToJson(*status.last_evaluation);
  if (status.best_evaluation) json["best_evaluation"] = ToJson(*status.best_evaluation);
  if (status.final_results) json["final"] = ToJson(*status.final_results);
  json["traffic"] = ToJson(status.traffic);
  json["fifo"] = {
      {"size", status.fifo_size}, {"bytes", status.fifo_bytes}, {"evicted", status.fifo_evicted}};
  AddPeers(status, json);
  json["endpoints"] = status.endpoints;
  json["api_socket"] = status.api_socket;
  json["pss_bytes"] = status.pss_bytes;
  json["peak_pss_bytes"] = status.peak_pss_bytes;
  json["checkpoint"] = {{"path", status.checkpoint.path},
                        {"batches", status.checkpoint.batches},
                        {"age_seconds", status.checkpoint.age_seconds},
                        {"written", status.checkpoint.written},
                        {"failures", status.checkpoint.failures}};
  return Dump(json);
}

std::string FinalText(const api::FinalResults& results) {
  return Text("best", results.best) + Text("last", results.last);
}

std::string FinalJson(const api::FinalResults& results) {
  Json json = ToJson(results);
  Json whole = {{"schema", "covey.final/1"}};
  whole.update(json);
  return Dump(whole);
}

}  // namespace covey
