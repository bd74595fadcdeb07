#include "config/check_model.h"

#include <string_view>

#include "covey/nn/model.h"
#include "covey/optim/settings.h"
#include "covey/tensor/codec.h"

namespace covey::config {
namespace {

using Problems = std::vector<Problem>;

// The model names a layer "model.layers[1] (dense2)"; in a file it is "model.layers[1].dense".
std::string LayerPath(const nn::ModelSpec& model, const std::string& where) {
  const std::string_view list = "model.layers[";
  const std::size_t open = where.find(" (");
  const std::size_t close = where.find(')');
  if (!where.starts_with(list) || open == std::string::npos || close == std::string::npos) {
    return where;
  }
  const auto index = static_cast<std::size_t>(std::stoul(where.substr(list.size())));
  return where.substr(0, open) + "." + std::string(nn::KindOf(model.layers[index])) +
         where.substr(close + 1);
}

// A mean square is tiny: what rounds to 0 would make a step without bound.
void CheckExchangedState(const NodeConfig& c, Problems& problems) {
  if (optim::ExchangedSlots(c.train.optimizer) == 0) return;
  const auto check = [&problems](tensor::Encoding encoding, const std::string& key) {
    if (encoding == tensor::Encoding::kFloat32 || encoding == tensor::Encoding::kBfloat16) return;
    problems.push_back({.path = "consensus.encoding." + key,
                        .reads = {"train.optimizer.exchanged"},
                        .what = "is " + std::string(tensor::Name(encoding)) +
                                ", which has no room for the small numbers of an optimizer",
                        .note = "choose f32 or bf16, or train.optimizer.exchanged: false"});
  };
  check(c.consensus.encoding.weights, "weights");
  check(c.consensus.encoding.deltas, "deltas");
}

void CheckSegments(const NodeConfig& c, std::size_t exchanged, Problems& problems) {
  const std::uint32_t segments = c.consensus.segments;
  const std::size_t most = consensus::MostSegments(exchanged);
  if (segments == 1 || segments <= most) return;
  problems.push_back({.path = "consensus.segments",
                      .reads = {"model"},
                      .what = std::to_string(segments) + " parts of " + std::to_string(exchanged) +
                              " numbers are too small",
                      .note = "at most " + std::to_string(most)});
}

// What docs/consensus.md, 7, measured of it.
void CheckCorrection(const NodeConfig& c, Problems& problems) {
  const float correction = c.train.optimizer.correction;
  if (c.train.optimizer.kind != optim::Settings::Kind::kQuasiGlobal || correction == 0) return;
  const std::string path = "train.optimizer.correction";
  if (c.faults.deltas_drop > 0 || !c.consensus.reply) {
    const std::string key = c.consensus.reply ? "faults.deltas_drop" : "consensus.reply";
    problems.push_back({.path = path,
                        .reads = {key},
                        .what = "lives on replies, and not all of them arrive (" + key +
                                "): what they would have undone piles up, which can diverge",
                        .note = "leave it out where replies are lost",
                        .warning = true});
  }
  constexpr float kMostOfOneBatch = 0.05f;
  if (c.consensus.batches == 1 && correction > kMostOfOneBatch) {
    problems.push_back({.path = path,
                        .reads = {"consensus.batches"},
                        .what = "one batch a round says too little about a node's data for more "
                                "than 0.05, which can diverge",
                        .note = "lower it, or raise consensus.batches",
                        .warning = true});
  }
}

}  // namespace

void TakeOver(const Status& status, const std::string& section, std::vector<Problem>& problems) {
  if (status) return;
  const Error& error = status.error();
  const std::string last = section.substr(section.rfind('.') + 1);
  std::string path = section;
  if (error.where.starts_with(section)) {
    path = error.where;
  } else if (error.where.starts_with(last + ".")) {
    path += error.where.substr(last.size());
  }
  problems.push_back({.path = path, .reads = {section}, .what = error.what, .note = error.hint});
}

void AddModelProblems(const NodeConfig& c, std::vector<Problem>& problems) {
  Status model = nn::Validate(c.model);
  if (!model) model.error().where = LayerPath(c.model, model.error().where);
  TakeOver(model, "model", problems);
  TakeOver(optim::Validate(c.train.optimizer), "train", problems);
  CheckExchangedState(c, problems);
  CheckCorrection(c, problems);
  if (!model) return;
  const std::size_t exchanged =
      optim::ExchangedSize(c.train.optimizer, nn::LayoutOf(c.model).size());
  CheckSegments(c, exchanged, problems);
  const std::uint64_t bytes = 4 * static_cast<std::uint64_t>(exchanged);
  if (c.consensus.fifo.bytes.value < bytes) {
    problems.push_back({.path = "consensus.fifo.bytes",
                        .reads = {"model"},
                        .what = FormatByteCount(c.consensus.fifo.bytes) +
                                " cannot hold one model of " + std::to_string(bytes) + " bytes",
                        .note = "every message would be refused"});
  }
}

}  // namespace covey::config
