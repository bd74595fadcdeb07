#include "model_text.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>
#include <vector>

#include "covey/nn/model.h"
#include "covey/optim/optimizer.h"
#include "covey/tensor/dense.h"

namespace covey {
namespace {

using Json = nlohmann::ordered_json;

struct Figures {
  std::vector<nn::LayerInfo> layers;
  std::uint64_t parameters = 0;
  std::uint64_t multiply_adds = 0;  // of one sample's forward pass
  std::uint64_t optimizer_bytes = 0;
  std::uint64_t activation_bytes = 0;  // of a batch, with the gradients of two layers
};

std::uint64_t Volume(const std::vector<std::size_t>& shape) {
  std::uint64_t volume = 1;
  for (const std::size_t extent : shape) volume *= extent;
  return volume;
}

// Larger batches pass through the model in pieces (gradient/trainer.h).
constexpr std::size_t kPiece = 256;

std::size_t SamplesAtOnce(const config::NodeConfig& config) {
  return config.data.batch == 0 ? kPiece : std::min<std::size_t>(config.data.batch, kPiece);
}

Figures FiguresOf(const config::NodeConfig& config) {
  Figures figures;
  figures.layers = *nn::Infer(config.model);  // the file was checked
  std::uint64_t values = 0;
  std::uint64_t widest = 0;
  for (std::size_t l = 0; l < figures.layers.size(); ++l) {
    const nn::LayerInfo& layer = figures.layers[l];
    figures.parameters += layer.parameters;
    figures.multiply_adds += layer.multiply_adds;
    widest = std::max(widest, Volume(layer.output));
    if (!std::holds_alternative<nn::Flatten>(config.model.layers[l])) {
      values += Volume(layer.output);
    }
  }
  const std::uint64_t padded = tensor::PaddedBatch(SamplesAtOnce(config));
  figures.activation_bytes = (values + 2 * widest) * padded * sizeof(float);
  // Slots have a value for each parameter: counted on an optimizer of a single one.
  optim::Optimizer single(config.train.optimizer, 1);
  for (const optim::NamedState& slot : single.state()) {
    if (slot.values.size() == 1) figures.optimizer_bytes += sizeof(float) * figures.parameters;
  }
  return figures;
}

// "1,234,567".
std::string Grouped(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string Bytes(std::uint64_t bytes) {
  const std::pair<double, const char*> units[] = {{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}};
  char text[48];
  for (const auto& [size, unit] : units) {
    if (static_cast<double>(bytes) < 0.9995 * size) continue;
    std::snprintf(text, sizeof text, "%.1f %s", static_cast<double>(bytes) / size, unit);
    return text;
  }
  return std::to_string(bytes) + " B";
}

// "32 x 32 x 3".
std::string Shape(const std::vector<std::size_t>& shape) {
  std::string text;
  for (const std::size_t extent : shape) {
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  }
  return text;
}

std::string Window(const nn::Extent& extent) {
  return std::to_string(extent.height) + "x" + std::to_string(extent.width);
}

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

// The settings of a layer in a few words.
struct Words {
  static std::string With(nn::Activation activation) {
    return activation == nn::Activation::kLinear ? "" : ", " + std::string(nn::Name(activation));
  }
  static std::string Units(std::size_t units) { return std::to_string(units) + " units"; }

  std::string operator()(const nn::Dense& dense) const {
    return Units(dense.units) + With(dense.activation);
  }
  std::string operator()(const nn::Conv2d& conv) const {
    std::string text = std::to_string(conv.filters) + " filters " + Window(conv.kernel);
    if (conv.stride != nn::Extent{1, 1}) text += ", stride " + Window(conv.stride);
    if (conv.padding == nn::Padding::kSame) text += ", same";
    return text + With(conv.activation);
  }
  std::string operator()(const nn::Pool2d& pool) const {
    const bool as_size = pool.stride == nn::Extent{0, 0} || pool.stride == pool.size;
    return Window(pool.size) + (as_size ? "" : ", stride " + Window(pool.stride));
  }
  std::string operator()(const nn::GlobalAveragePool&) const { return ""; }
  std::string operator()(const nn::Flatten&) const { return ""; }
  std::string operator()(const nn::Dropout& dropout) const {
    return "rate " + Number(static_cast<double>(dropout.rate));
  }
  std::string operator()(const nn::Activate& activate) const {
    return std::string(nn::Name(activate.activation));
  }
  std::string operator()(const nn::OneHot& one_hot) const {
    return std::to_string(one_hot.symbols) + " symbols";
  }
  std::string operator()(const nn::Embedding& table) const {
    return std::to_string(table.symbols) + " symbols";
  }
  std::string operator()(const nn::Lstm& lstm) const {
    return Units(lstm.units) +
           (lstm.output == nn::Lstm::Output::kSequence ? ", sequence" : ", last state") +
           (lstm.gates == nn::Activation::kHardSigmoid ? ", hard sigmoid" : "");
  }
  std::string operator()(const nn::GroupNorm& norm) const {
    return std::to_string(norm.groups) + " groups";
  }
  std::string operator()(const nn::LayerNorm&) const { return ""; }
};

using Row = std::vector<std::string>;

// Columns as wide as their widest cell, two spaces apart; the last two are numbers.
std::string Table(const std::vector<Row>& rows, std::size_t rule_after) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::size_t total = 2 * (widths.size() - 1);
  for (const std::size_t width : widths) total += width;
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      const std::string& cell = rows[r][c];
      const std::string space(widths[c] - cell.size(), ' ');
      const bool number = c + 2 >= rows[r].size();
      line += (c > 0 ? "  " : "") + (number ? space + cell : cell + space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
    if (r == 0 || r == rule_after) text += std::string(total, '-') + '\n';
  }
  return text;
}

std::string OptimizerWords(const optim::Settings& settings) {
  return std::string(optim::Name(settings.kind)) + ", learning rate " +
         Number(static_cast<double>(settings.learning_rate));
}

}  // namespace

std::string ModelText(const config::NodeConfig& config) {
  const nn::ModelSpec& model = config.model;
  const Figures figures = FiguresOf(config);
  std::vector<Row> rows = {{"layer", "kind", "settings", "output", "parameters", "multiply-adds"}};
  const std::size_t symbols = nn::Symbols(model);
  rows.push_back({"input", "", symbols > 0 ? "symbols below " + std::to_string(symbols) : "",
                  Shape(model.input), "", ""});
  const auto count = [](std::uint64_t value) { return value == 0 ? "-" : Grouped(value); };
  for (std::size_t l = 0; l < figures.layers.size(); ++l) {
    const nn::LayerInfo& layer = figures.layers[l];
    rows.push_back({layer.name, std::string(nn::KindOf(model.layers[l])),
                    std::visit(Words(), model.layers[l]), Shape(layer.output),
                    count(layer.parameters), count(layer.multiply_adds)});
  }
  rows.push_back(
      {"total", "", "", "", Grouped(figures.parameters), Grouped(figures.multiply_adds)});

  std::string text = nn::Summary(model) + "\n\n" + Table(rows, rows.size() - 2) + '\n';
  const auto line = [&text](const std::string& name, const std::string& value) {
    text += name + std::string(13 - name.size(), ' ') + value + '\n';
  };
  line("loss", std::string(nn::Name(model.loss)));
  line("optimizer", OptimizerWords(config.train.optimizer));
  line("numerics", std::string(tensor::Name(model.numerics)));
  const std::uint64_t parameter_bytes = sizeof(float) * figures.parameters;
  line("memory", "about " +
                     Bytes(parameter_bytes + figures.optimizer_bytes + figures.activation_bytes) +
                     " while training:");
  line("", Bytes(parameter_bytes) + " parameters, " + Bytes(figures.optimizer_bytes) +
               " optimizer state, " + Bytes(figures.activation_bytes) +
               " activations of a batch of " + std::to_string(SamplesAtOnce(config)));
  line("exchange", Bytes(parameter_bytes) + " a model");
  line("fingerprint", nn::FingerprintOf(model).Hex());
  return text;
}

std::string ModelJson(const config::NodeConfig& config) {
  const nn::ModelSpec& model = config.model;
  const Figures figures = FiguresOf(config);
  Json json = {{"schema", "covey.model/1"}, {"summary", nn::Summary(model)}};
  json["input"] = model.input;
  json["layers"] = Json::array();
  for (std::size_t l = 0; l < figures.layers.size(); ++l) {
    const nn::LayerInfo& layer = figures.layers[l];
    json["layers"].push_back({{"name", layer.name},
                              {"kind", nn::KindOf(model.layers[l])},
                              {"settings", std::visit(Words(), model.layers[l])},
                              {"output", layer.output},
                              {"parameters", layer.parameters},
                              {"multiply_adds", layer.multiply_adds}});
  }
  json["parameters"] = figures.parameters;
  json["multiply_adds"] = figures.multiply_adds;
  json["loss"] = nn::Name(model.loss);
  json["optimizer"] = optim::Name(config.train.optimizer.kind);
  json["numerics"] = tensor::Name(model.numerics);
  if (config.data.batch == 0) {
    json["batch"] = "all";
  } else {
    json["batch"] = config.data.batch;
  }
  json["memory"] = {{"parameters_bytes", sizeof(float) * figures.parameters},
                    {"optimizer_bytes", figures.optimizer_bytes},
                    {"activations_bytes", figures.activation_bytes}};
  json["fingerprint"] = nn::FingerprintOf(model).Hex();
  return json.dump() + '\n';
}

}  // namespace covey
