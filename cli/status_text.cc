#include "status_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

namespace covey {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostClassesShown = 12;  // more don't fit on a screen

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

// "accuracy 0.9000, loss 0.1000"; what does not apply is left out.
std::string FiguresText(double loss, const std::optional<double>& accuracy,
                        const api::Metrics& metrics) {
  std::string text;
  const auto add = [&text](const char* name, const std::optional<double>& figure) {
    if (figure) text += (text.empty() ? "" : ", ") + std::string(name) + ' ' + Fixed(*figure, 4);
  };
  add("accuracy", accuracy);
  add("top 5", metrics.top5);
  add("loss", loss);
  add("MAE", metrics.mean_absolute_error);
  add("R2", metrics.r2);
  return text;
}

std::string Text(const api::Evaluation& evaluation) {
  return FiguresText(evaluation.loss, evaluation.accuracy, evaluation.metrics) + " at epoch " +
         Fixed(evaluation.epoch, 2);
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

void LiveLines(const api::LiveStatus& live, Lines& lines) {
  const auto count = [](std::uint64_t value) { return Short(static_cast<double>(value)); };
  lines.emplace_back("live", count(live.to_train) + " samples to train on, " +
                                 count(live.set_aside) + " set aside" +
                                 (live.age_seconds ? ", newest " + Age(*live.age_seconds) + " ago"
                                                   : ", none has come yet"));
  if (live.waiting) {
    lines.emplace_back("waiting", "training begins with " + std::to_string(live.start_at) +
                                      " samples (data.live.start_at)");
  }
  std::string classes;
  for (std::size_t i = 0; i < std::min(live.classes.size(), kMostClassesShown); ++i) {
    classes += (i == 0 ? "" : ", ") + live.classes[i].first + " " + count(live.classes[i].second);
  }
  if (!classes.empty()) lines.emplace_back("classes", classes);
  lines.emplace_back("taken", count(live.accepted) + " accepted, " + count(live.rejected) +
                                  " rejected, " + count(live.quarantined) + " files quarantined");
  if (!live.last_rejected.empty()) lines.emplace_back("last", live.last_rejected);
}

Json LiveJson(const api::LiveStatus& live) {
  Json json = {{"to_train", live.to_train},       {"set_aside", live.set_aside},
               {"start_at", live.start_at},       {"waiting", live.waiting},
               {"accepted", live.accepted},       {"rejected", live.rejected},
               {"quarantined", live.quarantined}, {"last_rejected", live.last_rejected}};
  json["age_seconds"] = live.age_seconds ? Json(*live.age_seconds) : Json();
  json["classes"] = Json::array();
  for (const auto& [label, samples] : live.classes) {
    json["classes"].push_back({{"label", label}, {"samples", samples}});
  }
  return json;
}

void AddTraffic(const api::NodeStatus& status, Lines& lines) {
  const api::Traffic& traffic = status.traffic;
  const auto count = [](std::uint64_t value) { return Short(static_cast<double>(value)); };
  lines.emplace_back("sent", count(traffic.weights_sent) + " weights, " +
                                 count(traffic.deltas_sent) + " deltas, " +
                                 count(traffic.bytes_sent) + "B, " + Short(traffic.send_rate) +
                                 "B/s over the last minute");
  if (traffic.quota_left) {
    lines.emplace_back("quota", count(*traffic.quota_left) + "B may be sent now");
  }
  lines.emplace_back(
      "received",
      count(traffic.weights_received) + " weights, " + count(traffic.deltas_received) +
          " deltas, " + count(traffic.bytes_received) + "B" +
          (traffic.resumed > 0 ? ", " + count(traffic.resumed) + " went on after a broken link"
                               : ""));
  if (traffic.weights_dropped + traffic.deltas_dropped > 0) {
    lines.emplace_back("faults", count(traffic.weights_dropped) + " weights and " +
                                     count(traffic.deltas_dropped) + " deltas lost on purpose");
  }
  if (const auto& word = status.admissions) {
    lines.emplace_back("operator", std::to_string(word->admitted) + " admitted (" +
                                       std::to_string(word->let_in) + " at this door), " +
                                       std::to_string(word->revoked) + " revoked");
  }
  std::string rejects;
  for (const auto& [reason, number] : status.rejects) {
    rejects += (rejects.empty() ? "" : ", ") + reason + ' ' + std::to_string(number);
  }
  if (!rejects.empty()) lines.emplace_back("rejected", rejects);
}

void Put(Json& json, const std::string& name, const std::optional<double>& figure) {
  if (figure) json[name] = *figure;
}

void Put(Json& json, const std::string& prefix, const api::Metrics& metrics) {
  Put(json, prefix + "top5_accuracy", metrics.top5);
  Put(json, prefix + "mean_squared_error", metrics.mean_squared_error);
  Put(json, prefix + "mean_absolute_error", metrics.mean_absolute_error);
  Put(json, prefix + "r2", metrics.r2);
}

Json ToJson(const api::Evaluation& evaluation) {
  Json json = {
      {"epoch", evaluation.epoch}, {"batches", evaluation.batches}, {"loss", evaluation.loss}};
  Put(json, "accuracy", evaluation.accuracy);
  Put(json, "", evaluation.metrics);
  json["time_ns"] = evaluation.time_ns;
  return json;
}

Json ToJson(const api::Score& score) {
  Json json = {{"epoch", score.epoch}};
  Put(json, "validation_loss", score.validation_loss);
  Put(json, "validation_accuracy", score.validation_accuracy);
  Put(json, "validation_", score.validation_metrics);
  Put(json, "test_loss", score.test_loss);
  Put(json, "test_accuracy", score.test_accuracy);
  Put(json, "test_", score.test_metrics);
  return json;
}

// Returns: how many classes the confusion has.
std::size_t Classes(const api::FinalResults& results) {
  return static_cast<std::size_t>(
      std::lround(std::sqrt(static_cast<double>(results.confusion.size()))));
}

Json ToJson(const api::FinalResults& results) {
  Json json = {{"best", ToJson(results.best)}, {"last", ToJson(results.last)}};
  const std::size_t classes = Classes(results);
  for (std::size_t label = 0; label < classes; ++label) {
    const auto row = results.confusion.begin() + static_cast<std::ptrdiff_t>(label * classes);
    json["confusion"].push_back(
        std::vector<std::uint32_t>(row, row + static_cast<std::ptrdiff_t>(classes)));
  }
  return json;
}

Json ToJson(const api::Traffic& traffic) {
  return {{"weights_sent", traffic.weights_sent},
          {"weights_dropped", traffic.weights_dropped},
          {"deltas_sent", traffic.deltas_sent},
          {"deltas_dropped", traffic.deltas_dropped},
          {"weights_received", traffic.weights_received},
          {"deltas_received", traffic.deltas_received},
          {"bytes_sent", traffic.bytes_sent},
          {"bytes_received", traffic.bytes_received},
          {"resumed", traffic.resumed},
          {"send_rate", traffic.send_rate},
          {"quota_left", traffic.quota_left ? Json(*traffic.quota_left) : Json(nullptr)}};
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
  if (const auto& word = status.admissions) {
    json["admissions"] = {
        {"admitted", word->admitted}, {"revoked", word->revoked}, {"let_in", word->let_in}};
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
  if (score.validation_loss) {
    text += "  validation " + FiguresText(*score.validation_loss, score.validation_accuracy,
                                          score.validation_metrics);
  }
  if (score.test_loss) {
    text += "  test " + FiguresText(*score.test_loss, score.test_accuracy, score.test_metrics);
  }
  return text + '\n';
}

// Rows: what samples are. Columns: what the best model took them for.
std::string ConfusionText(const api::FinalResults& results) {
  const std::size_t classes = Classes(results);
  if (classes == 0 || classes > kMostClassesShown) return "";
  std::size_t width = 5;
  for (const std::uint32_t count : results.confusion) {
    width = std::max(width, std::to_string(count).size() + 2);
  }
  const auto cell = [width](std::size_t value) {
    const std::string number = std::to_string(value);
    return std::string(width - number.size(), ' ') + number;
  };
  std::string text = "label, taken for:\n     ";
  for (std::size_t c = 0; c < classes; ++c) text += cell(c);
  for (std::size_t label = 0; label < classes; ++label) {
    text += "\n" + cell(label).substr(width - 5);
    for (std::size_t c = 0; c < classes; ++c) text += cell(results.confusion[label * classes + c]);
  }
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
  if (status.live) LiveLines(*status.live, lines);
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
  if (status.live) json["live"] = LiveJson(*status.live);
  json["checkpoint"] = {{"path", status.checkpoint.path},
                        {"batches", status.checkpoint.batches},
                        {"age_seconds", status.checkpoint.age_seconds},
                        {"written", status.checkpoint.written},
                        {"failures", status.checkpoint.failures}};
  return Dump(json);
}

std::string FinalText(const api::FinalResults& results) {
  return Text("best", results.best) + Text("last", results.last) + ConfusionText(results);
}

std::string FinalJson(const api::FinalResults& results) {
  Json json = ToJson(results);
  Json whole = {{"schema", "covey.final/1"}};
  whole.update(json);
  return Dump(whole);
}

}  // namespace covey
