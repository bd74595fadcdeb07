#include "store/model_metadata.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

namespace covey::store {
namespace {

using MetaJson = nlohmann::ordered_json;

constexpr const char* kFormat = "covey.model/1";
constexpr const char* kResize = "resize";
constexpr const char* kFormatStem = "covey.model/";

std::string Dump(const MetaJson& json) {
  return json.dump(-1, ' ', false, MetaJson::error_handler_t::replace);
}

// Floats as few digits as read back to the same float.
MetaJson Floats(const std::vector<float>& values) {
  MetaJson list = MetaJson::array();
  for (const float value : values) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
    list.push_back(MetaJson::parse(text, nullptr, false));
  }
  return list;
}

std::string FactsText(const ModelFacts& facts) {
  MetaJson json;
  json["version"] = facts.version;
  if (!facts.fleet.empty()) json["fleet"] = facts.fleet;
  if (!facts.created_by.empty()) json["created_by"] = facts.created_by;
  json["batches"] = facts.batches;
  json["epoch"] = facts.epoch;
  if (facts.accuracy) json["accuracy"] = *facts.accuracy;
  if (facts.loss && std::isfinite(*facts.loss)) json["loss"] = *facts.loss;
  json["held_out"] = facts.held_out;
  return Dump(json);
}

tl::unexpected<Error> BadMetadata(const std::string& where, const std::string& what) {
  return Fail(ErrorCode::kData, where, what);
}

// What is missing or of another type stays as it is: facts are for people.
ModelFacts ReadFacts(const MetaJson& json) {
  ModelFacts facts;
  if (!json.is_object()) return facts;
  const auto text = [&](const char* key, std::string& to) {
    const auto at = json.find(key);
    if (at != json.end() && at->is_string()) to = at->get<std::string>();
  };
  const auto count = [&](const char* key, std::uint64_t& to) {
    const auto at = json.find(key);
    if (at != json.end() && at->is_number_unsigned()) to = at->get<std::uint64_t>();
  };
  const auto real = [&](const char* key) -> std::optional<double> {
    const auto at = json.find(key);
    if (at == json.end() || !at->is_number()) return std::nullopt;
    return at->get<double>();
  };
  count("version", facts.version);
  text("fleet", facts.fleet);
  text("created_by", facts.created_by);
  count("batches", facts.batches);
  facts.epoch = real("epoch").value_or(0);
  facts.accuracy = real("accuracy");
  facts.loss = real("loss");
  count("held_out", facts.held_out);
  return facts;
}

Status ReadFloats(const MetaJson& json, const char* key, const std::string& where,
                  std::vector<float>& to) {
  const std::string name = std::string("covey.input: ") + key;
  const auto at = json.find(key);
  if (at == json.end() || !at->is_array()) {
    return BadMetadata(where, name + " is not a list of numbers");
  }
  to.clear();
  for (const MetaJson& number : *at) {
    const float value = number.is_number() ? number.get<float>() : NAN;
    if (!std::isfinite(value)) {
      return BadMetadata(where, name + " has something that is no finite number");
    }
    to.push_back(value);
  }
  return {};
}

// A list of `count` names, or an empty one.
Status ReadNames(const MetaJson& json, const std::string& key, std::size_t count,
                 const std::string& where, std::vector<std::string>& to) {
  if (!json.is_array()) return BadMetadata(where, key + " is not a JSON list");
  for (const MetaJson& name : json) {
    if (!name.is_string()) return BadMetadata(where, key + " has something that is no text");
    to.push_back(name.get<std::string>());
  }
  if (to.empty() || to.size() == count) return {};
  return BadMetadata(
      where, key + " has " + std::to_string(to.size()) + " names, wanted " + std::to_string(count));
}

Status ReadInput(const std::string& text, const std::string& where, Model& model) {
  const MetaJson json = MetaJson::parse(text, nullptr, false);
  if (!json.is_object()) return BadMetadata(where, "covey.input is not a JSON object");
  if (Status read = ReadFloats(json, "mean", where, model.input.mean); !read) return read;
  if (Status read = ReadFloats(json, "scale", where, model.input.scale); !read) return read;
  const std::size_t n = model.input.mean.size();
  const std::size_t channels = model.spec.input.back(), features = nn::Features(model.spec);
  if (n != model.input.scale.size() || (n != 1 && n != channels && n != features)) {
    return BadMetadata(where, "covey.input has " + std::to_string(n) + " means and " +
                                  std::to_string(model.input.scale.size()) +
                                  " scales, wanted of both 1, " + std::to_string(channels) +
                                  " or " + std::to_string(features));
  }
  if (json.value("image_fit", MetaJson()) == kResize) model.image_fit = data::ImageFit::kResize;
  const auto names = json.find("features");
  if (names == json.end()) return {};
  // Of windows each column has a name.
  const std::size_t count = names->size() == channels ? channels : features;
  return ReadNames(*names, "covey.input: features", count, where, model.features);
}

}  // namespace

Metadata MetadataOf(const Model& model) {
  Metadata metadata;
  metadata["format"] = kFormat;
  metadata[kModelKey] = SpecToJson(model.spec);
  metadata["covey.fingerprint"] = nn::FingerprintOf(model.spec).Hex();
  MetaJson input;
  input["mean"] = Floats(model.input.mean);
  input["scale"] = Floats(model.input.scale);
  if (!model.features.empty()) input["features"] = model.features;
  if (model.image_fit == data::ImageFit::kResize) input["image_fit"] = kResize;
  metadata["covey.input"] = Dump(input);
  metadata["covey.labels"] = Dump(MetaJson(model.labels));
  metadata["covey.facts"] = FactsText(model.facts);
  return metadata;
}

Result<Model> FromMetadata(const Metadata& metadata, std::size_t file_bytes,
                           const std::string& where) {
  const auto find = [&](const char* key) -> const std::string* {
    const auto at = metadata.find(key);
    return at == metadata.end() ? nullptr : &at->second;
  };
  const std::string* spec = find(kModelKey);
  const std::string* format = find("format");
  if (spec == nullptr || format == nullptr) {
    return Fail(ErrorCode::kData, where, "does not say which model it holds (no covey.model)",
                "Covey did not write it; as a start for training it will do");
  }
  if (*format != kFormat && format->starts_with(kFormatStem)) {
    return Fail(ErrorCode::kProtocol, where,
                "has the format " + *format + ", this version reads " + kFormat);
  }
  if (*format != kFormat) return BadMetadata(where, "format is not " + std::string(kFormat));
  Model model;
  auto read = SpecFromJson(*spec, where);
  if (!read) return tl::unexpected(std::move(read.error()));
  model.spec = std::move(*read);
  const std::size_t size = nn::LayoutOf(model.spec).size();
  if (size > file_bytes / sizeof(float)) {
    return BadMetadata(where, "covey.model has " + std::to_string(size) +
                                  " parameters, more than the file can hold");
  }
  const std::string* fingerprint = find("covey.fingerprint");
  if (fingerprint == nullptr || *fingerprint != nn::FingerprintOf(model.spec).Hex()) {
    return BadMetadata(where, "covey.fingerprint does not fit covey.model");
  }
  if (const std::string* input = find("covey.input")) {
    if (Status done = ReadInput(*input, where, model); !done) {
      return tl::unexpected(std::move(done.error()));
    }
  }
  if (const std::string* labels = find("covey.labels")) {
    const MetaJson list = MetaJson::parse(*labels, nullptr, false);
    const std::size_t outputs = nn::Outputs(model.spec);
    if (Status done = ReadNames(list, "covey.labels", outputs, where, model.labels); !done) {
      return tl::unexpected(std::move(done.error()));
    }
  }
  if (const std::string* facts = find("covey.facts")) {
    model.facts = ReadFacts(MetaJson::parse(*facts, nullptr, false));
  }
  return model;
}

}  // namespace covey::store
