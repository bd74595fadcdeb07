#include "covey/harness/records.h"

#include <nlohmann/json.hpp>

#include "harness/text.h"

namespace covey::harness {
namespace {

// Members keep the order in which they are written: people read these files too.
using Json = nlohmann::ordered_json;

void Put(Json& json, const char* name, const std::optional<double>& figure) {
  if (figure) json[name] = *figure;
}

void PutFigures(Json& json, const Score& score) {
  json["loss"] = score.loss;
  Put(json, "accuracy", score.accuracy);
  Put(json, "r2", score.r2);
  Put(json, "mean_absolute_error", score.mean_absolute_error);
}

Json ToJson(const Score& score) {
  Json json = Json::object();
  PutFigures(json, score);
  return json;
}

Json ToJson(const Selected& selected) {
  Json json = {{"epoch", selected.epoch}};
  if (selected.validation) json["validation"] = ToJson(*selected.validation);
  if (selected.test) json["test"] = ToJson(*selected.test);
  return json;
}

Json ToJson(const Traffic& traffic) {
  return {{"weights_sent", traffic.weights_sent},
          {"weights_dropped", traffic.weights_dropped},
          {"weights_received", traffic.weights_received},
          {"deltas_sent", traffic.deltas_sent},
          {"deltas_dropped", traffic.deltas_dropped},
          {"deltas_received", traffic.deltas_received},
          {"bytes_sent", traffic.bytes_sent}};
}

Json ToJson(const GroupFigures& figures) {
  Json json = ToJson(figures.best);
  const std::string name = figures.best.accuracy ? "accuracy" : "r2";
  Put(json, (name + "_min").c_str(), figures.quality_min);
  Put(json, (name + "_max").c_str(), figures.quality_max);
  json["best_epoch"] = figures.best_epoch;
  if (figures.best_validation) json["validation"] = ToJson(*figures.best_validation);
  json["last"] = ToJson(figures.last);
  json["last"]["epoch"] = figures.last_epoch;
  if (figures.last_validation) json["last"]["validation"] = ToJson(*figures.last_validation);
  json["nodes"] = figures.nodes;
  json["measured_on"] = figures.on_test_set ? "test" : "validation";
  return json;
}

Json ToJson(const NodeOutcome& node) {
  Json json = {{"group", Name(node.group)}, {"node", node.index}, {"end", Name(node.end)}};
  if (!node.reason.empty()) json["reason"] = node.reason;
  if (node.best) json["best"] = ToJson(*node.best);
  if (node.last) json["last"] = ToJson(*node.last);
  json["shard"] = node.shard;
  json["samples"] = node.samples;
  json["epochs"] = node.epochs;
  if (node.samples_per_second > 0) json["samples_per_second"] = node.samples_per_second;
  if (node.life) {
    json["crashes"] = node.life->crashes;
    json["left_early"] = node.life->left;
    json["speed"] = node.life->speed;
    if (node.life->finished > 0) json["finished_virtual_seconds"] = node.life->finished;
  }
  if (node.group == Group::kConsensus) {
    json["rounds"] = node.rounds;
    json["traffic"] = ToJson(node.traffic);
  }
  return json;
}

Json ToJson(const Verdict& verdict) {
  return {{"what", verdict.what},
          {"wanted", verdict.wanted},
          {"got", verdict.got},
          {"holds", verdict.holds}};
}

void PutGroup(Json& json, const Outcome& outcome, Group group) {
  const std::optional<GroupFigures> figures = Figures(outcome, group);
  Json member = figures ? ToJson(*figures) : Json::object();
  if (group == Group::kConsensus && outcome.spread) member["spread"] = *outcome.spread;
  if (!member.empty()) json[std::string(Name(group))] = std::move(member);
}

void PutScore(std::string& row, const std::optional<Score>& score) {
  const auto put = [&row](const std::optional<double>& figure) {
    row += figure ? ',' + Fixed(*figure, 6) : ",";
  };
  put(score ? std::optional(score->loss) : std::nullopt);
  put(score ? score->accuracy : std::nullopt);
  put(score ? score->r2 : std::nullopt);
}

// The fields of a selected model in results.csv, or as many empty ones.
void PutSelected(std::string& row, const std::optional<Selected>& selected) {
  row += selected ? ',' + Fixed(selected->epoch, 3) : ",";
  PutScore(row, selected ? selected->validation : std::nullopt);
  PutScore(row, selected ? selected->test : std::nullopt);
}

void PutLife(std::string& row, const std::optional<NodeLife>& life) {
  if (!life) {
    row += ",,,";
    return;
  }
  row += ',' + std::to_string(life->crashes) + ',' + Fixed(life->speed, 6) + ',';
  if (life->finished > 0) row += Fixed(life->finished, 3);
}

}  // namespace

std::string SummaryJson(const Outcome& outcome, const std::vector<Verdict>& verdicts) {
  Json json = {{"experiment", outcome.experiment},
               {"seed", outcome.seed},
               {"nodes", outcome.nodes},
               {"mode", outcome.mode},
               {"wall_seconds", outcome.wall_seconds}};
  if (outcome.virtual_seconds > 0) json["virtual_seconds"] = outcome.virtual_seconds;
  PutGroup(json, outcome, Group::kMonolithic);
  PutGroup(json, outcome, Group::kConsensus);
  PutGroup(json, outcome, Group::kIsolated);
  json["traffic"] = ToJson(TotalTraffic(outcome));
  json["samples_per_second"] = outcome.samples_per_second;
  json["pss_bytes_per_node"] = LargestPss(outcome);
  json["model"] = outcome.model;
  json["build"] = outcome.build;
  json["interrupted"] = outcome.interrupted;
  json["notes"] = outcome.notes;
  if (!verdicts.empty()) {
    Json list = Json::array();
    for (const Verdict& verdict : verdicts) list.push_back(ToJson(verdict));
    json["expect"] = {{"holds", AllHold(verdicts)}, {"checks", std::move(list)}};
  }
  Json runs = Json::array();
  for (const NodeOutcome& node : outcome.runs) runs.push_back(ToJson(node));
  json["runs"] = std::move(runs);
  // Names come from files: a byte that is no UTF-8 is replaced, not thrown at.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string ResultsCsv(const Outcome& outcome) {
  std::string csv =
      "group,node,end,shard,samples,epochs,rounds,"
      "best_epoch,best_validation_loss,best_validation_accuracy,best_validation_r2,"
      "best_test_loss,best_test_accuracy,best_test_r2,"
      "last_epoch,last_validation_loss,last_validation_accuracy,last_validation_r2,"
      "last_test_loss,last_test_accuracy,last_test_r2,"
      "weights_sent,weights_dropped,weights_received,deltas_sent,deltas_dropped,deltas_received,"
      "bytes_sent,pss_bytes,crashes,speed,finished_virtual_seconds,reason\n";
  for (const NodeOutcome& node : outcome.runs) {
    std::string row = std::string(Name(node.group)) + ',' + std::to_string(node.index) + ',' +
                      std::string(Name(node.end)) + ',' + std::to_string(node.shard) + ',' +
                      std::to_string(node.samples) + ',' + Fixed(node.epochs, 3) + ',' +
                      std::to_string(node.rounds);
    PutSelected(row, node.best);
    PutSelected(row, node.last);
    const Traffic& traffic = node.traffic;
    for (const std::uint64_t value :
         {traffic.weights_sent, traffic.weights_dropped, traffic.weights_received,
          traffic.deltas_sent, traffic.deltas_dropped, traffic.deltas_received, traffic.bytes_sent,
          node.pss_bytes}) {
      row += ',' + std::to_string(value);
    }
    PutLife(row, node.life);
    csv += row + ',' + CsvField(node.reason) + '\n';
  }
  return csv;
}

std::string MetricsLine(Group group, std::uint32_t index, const Point& point) {
  Json json = {
      {"group", Name(group)}, {"node", index}, {"epoch", point.epoch}, {"seconds", point.seconds}};
  PutFigures(json, point.validation);
  return json.dump() + '\n';
}

}  // namespace covey::harness
