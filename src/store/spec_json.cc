// nn::ModelSpec <-> JSON, with the words of configuration files.
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "covey/store/model.h"

namespace covey::store {
namespace {

using SpecJson = nlohmann::ordered_json;

// The fields of every kind of layer, for reading and for writing alike.
template <class F, class Layer>
void SpecFields(F&, Layer&) {}  // none

template <class F>
void SpecFields(F& field, nn::Dense& dense) {
  field("units", dense.units);
  field("activation", dense.activation);
}
template <class F>
void SpecFields(F& field, nn::Conv2d& conv) {
  field("filters", conv.filters);
  field("kernel", conv.kernel);
  field("stride", conv.stride);
  field("padding", conv.padding);
  field("activation", conv.activation);
}
template <class F>
void SpecFields(F& field, nn::Pool2d& pool) {
  field("size", pool.size);
  field("stride", pool.stride);
}
template <class F>
void SpecFields(F& field, nn::Dropout& dropout) {
  field("rate", dropout.rate);
}
template <class F>
void SpecFields(F& field, nn::Activate& activate) {
  field("function", activate.activation);
}
template <class F>
void SpecFields(F& field, nn::OneHot& one_hot) {
  field("symbols", one_hot.symbols);
}
template <class F>
void SpecFields(F& field, nn::Embedding& table) {
  field("symbols", table.symbols);
  field("size", table.size);
}
template <class F>
void SpecFields(F& field, nn::Lstm& lstm) {
  field("units", lstm.units);
  field("output", lstm.output);
  field("gates", lstm.gates);
}
template <class F>
void SpecFields(F& field, nn::GroupNorm& norm) {
  field("groups", norm.groups);
  field("epsilon", norm.epsilon);
}
template <class F>
void SpecFields(F& field, nn::LayerNorm& norm) {
  field("epsilon", norm.epsilon);
}
template <class F>
void SpecFields(F& field, nn::ModelSpec& spec) {
  field("input", spec.input);
  field("layers", spec.layers);
  field("loss", spec.loss);
  field("huber_delta", spec.huber_delta);
  field("init", spec.init);
  field("numerics", spec.numerics);
}

std::string_view WordFor(nn::Lstm::Output output) {
  return output == nn::Lstm::Output::kSequence ? "sequence" : "last";
}
template <class E>
std::string_view WordFor(E value) {
  return Name(value);
}

struct SpecWriter {
  SpecJson json = SpecJson::object();

  void operator()(const char* key, std::size_t& value) { json[key] = value; }
  // As a float is printed: 0.1, not what its double looks like.
  void operator()(const char* key, float& value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
    json[key] = SpecJson::parse(text, nullptr, false);
  }
  void operator()(const char* key, nn::Extent& value) { json[key] = {value.height, value.width}; }
  void operator()(const char* key, std::vector<std::size_t>& value) { json[key] = value; }
  void operator()(const char* key, std::vector<nn::LayerSpec>& layers) {
    SpecJson list = SpecJson::array();
    for (nn::LayerSpec& layer : layers) {
      SpecWriter writer;
      writer.json["kind"] = std::string(nn::KindOf(layer));
      std::visit([&](auto& one) { SpecFields(writer, one); }, layer);
      list.push_back(std::move(writer.json));
    }
    json[key] = std::move(list);
  }
  template <class E>
  void operator()(const char* key, E& value) {
    json[key] = std::string(WordFor(value));
  }
};

template <class E>
struct AllOf;
template <>
struct AllOf<nn::Activation> {
  static constexpr std::initializer_list<nn::Activation> kAll = {
      nn::Activation::kLinear, nn::Activation::kRelu,    nn::Activation::kLeakyRelu,
      nn::Activation::kTanh,   nn::Activation::kSigmoid, nn::Activation::kHardSigmoid,
      nn::Activation::kSoftmax};
};
template <>
struct AllOf<nn::Padding> {
  static constexpr std::initializer_list<nn::Padding> kAll = {nn::Padding::kValid,
                                                              nn::Padding::kSame};
};
template <>
struct AllOf<nn::Lstm::Output> {
  static constexpr std::initializer_list<nn::Lstm::Output> kAll = {nn::Lstm::Output::kLast,
                                                                   nn::Lstm::Output::kSequence};
};
template <>
struct AllOf<nn::Loss> {
  static constexpr std::initializer_list<nn::Loss> kAll = {
      nn::Loss::kSparseCategoricalCrossEntropy, nn::Loss::kCategoricalCrossEntropy,
      nn::Loss::kBinaryCrossEntropy, nn::Loss::kMeanSquaredError, nn::Loss::kHuber};
};
template <>
struct AllOf<nn::Init> {
  static constexpr std::initializer_list<nn::Init> kAll = {
      nn::Init::kGlorotUniform, nn::Init::kGlorotNormal, nn::Init::kHeUniform, nn::Init::kHeNormal};
};
template <>
struct AllOf<tensor::Numerics> {
  static constexpr std::initializer_list<tensor::Numerics> kAll = {tensor::Numerics::kFast,
                                                                   tensor::Numerics::kPortable};
};

std::vector<nn::LayerSpec> AllKinds() {
  return {nn::Dense{},
          nn::Conv2d{},
          nn::Pool2d{.kind = nn::Pool2d::Kind::kMax},
          nn::Pool2d{.kind = nn::Pool2d::Kind::kAverage},
          nn::GlobalAveragePool{},
          nn::Flatten{},
          nn::Dropout{},
          nn::Activate{},
          nn::OneHot{},
          nn::Embedding{},
          nn::Lstm{},
          nn::GroupNorm{},
          nn::LayerNorm{}};
}

// Takes the fields out of an object; what is missing or wrong is in `problem`, the first one.
struct SpecReader {
  const SpecJson& json;
  std::string path;
  std::size_t seen = 0;
  std::string problem = {};

  const SpecJson* Take(const char* key) {
    const auto found = json.find(key);
    if (found == json.end()) return Bad(key, "is missing");
    ++seen;
    return &*found;
  }
  std::nullptr_t Bad(const char* key, const std::string& what) {
    if (problem.empty()) problem = path + key + " " + what;
    return nullptr;
  }
  bool Whole(const char* key, const SpecJson& from, std::size_t& value) {
    if (!from.is_number_unsigned()) {
      Bad(key, "is not a whole number");
      return false;
    }
    value = from.get<std::size_t>();
    return true;
  }

  void operator()(const char* key, std::size_t& value) {
    if (const SpecJson* from = Take(key)) Whole(key, *from, value);
  }
  void operator()(const char* key, float& value) {
    const SpecJson* from = Take(key);
    if (from == nullptr) return;
    if (!from->is_number()) return void(Bad(key, "is not a number"));
    value = from->get<float>();
    if (!std::isfinite(value)) Bad(key, "is not finite");
  }
  void operator()(const char* key, std::vector<std::size_t>& value) {
    const SpecJson* from = Take(key);
    if (from == nullptr) return;
    if (!from->is_array()) return void(Bad(key, "is not a list"));
    value.assign(from->size(), 0);
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (!Whole(key, (*from)[i], value[i])) return;
    }
  }
  void operator()(const char* key, nn::Extent& value) {
    std::vector<std::size_t> pair;
    (*this)(key, pair);
    if (!problem.empty()) return;
    if (pair.size() != 2) return void(Bad(key, "is not a height and a width"));
    value = {pair[0], pair[1]};
  }
  void operator()(const char* key, std::vector<nn::LayerSpec>& layers) {
    const SpecJson* from = Take(key);
    if (from == nullptr) return;
    if (!from->is_array()) return void(Bad(key, "is not a list"));
    for (std::size_t l = 0; l < from->size() && problem.empty(); ++l) {
      layers.emplace_back();
      SpecReader reader{(*from)[l], path + "layers[" + std::to_string(l) + "]."};
      reader.Layer(layers.back());
      problem = std::move(reader.problem);
    }
  }
  void Layer(nn::LayerSpec& layer) {
    if (!json.is_object()) return void(Bad("", "is not an object"));
    const SpecJson* kind = Take("kind");
    if (kind == nullptr) return;
    for (nn::LayerSpec& one : AllKinds()) {
      if (!kind->is_string() || kind->get_ref<const std::string&>() != nn::KindOf(one)) continue;
      layer = std::move(one);
      std::visit([this](auto& fields) { SpecFields(*this, fields); }, layer);
      return Finish();
    }
    Bad("kind", "is none that this version knows");
  }
  void Finish() {
    if (problem.empty() && seen != json.size()) Bad("", "has a key that is not known");
  }
  template <class E>
  void operator()(const char* key, E& value) {
    const SpecJson* from = Take(key);
    if (from == nullptr) return;
    for (const E one : AllOf<E>::kAll) {
      if (!from->is_string() || from->get_ref<const std::string&>() != WordFor(one)) continue;
      value = one;
      return;
    }
    Bad(key, "is no word that this version knows");
  }
};

}  // namespace

std::string SpecToJson(const nn::ModelSpec& spec) {
  nn::ModelSpec copy = spec;
  SpecWriter writer;
  SpecFields(writer, copy);
  return writer.json.dump();
}

Result<nn::ModelSpec> SpecFromJson(const std::string& text, const std::string& where) {
  const SpecJson json = SpecJson::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Fail(ErrorCode::kData, where, "covey.model is not a JSON object");
  nn::ModelSpec spec;
  SpecReader reader{json, ""};
  SpecFields(reader, spec);
  reader.Finish();
  if (!reader.problem.empty()) {
    return Fail(ErrorCode::kData, where, "covey.model: " + reader.problem);
  }
  if (const Status valid = nn::Validate(spec); !valid) {
    return Fail(ErrorCode::kData, where, "covey.model: " + valid.error().Format());
  }
  return spec;
}

}  // namespace covey::store
