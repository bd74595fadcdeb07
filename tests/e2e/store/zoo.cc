// Writes a model of every kind in both formats, with samples and what Covey answers to them, for
// other programs to compare with.
//   model_zoo FOLDER: NAME.onnx, NAME.safetensors, NAME.json, and zoo.json with all names
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "covey/nn/predictor.h"
#include "covey/nn/reference.h"
#include "support/model_zoo.h"

namespace covey {
namespace {

using Json = nlohmann::ordered_json;
using test::Numbers;

constexpr std::size_t kSamples = 3;

// Images channels first, as files and other programs have them.
std::vector<float> Outer(const std::vector<float>& samples, const std::vector<std::size_t>& shape) {
  if (shape.size() != 3) return samples;
  const std::size_t places = shape[0] * shape[1], channels = shape[2];
  std::vector<float> turned;
  for (std::size_t b = 0; b < samples.size() / (places * channels); ++b) {
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t p = 0; p < places; ++p) {
        turned.push_back(samples[(b * places + p) * channels + c]);
      }
    }
  }
  return turned;
}

std::vector<float> DrawRaw(const nn::ModelSpec& spec, Stream& stream) {
  std::vector<float> raw(kSamples * nn::Features(spec));
  const std::size_t symbols = nn::Symbols(spec);
  for (float& value : raw) {
    value = symbols > 0 ? static_cast<float>(stream.Below(symbols)) : stream.Uniform(-3.0f, 3.0f);
  }
  return raw;
}

// What the last layer gives in doubles: logits, or the outputs of a regression.
std::vector<double> Plain(const store::Model& model, const std::vector<float>& raw) {
  const std::size_t outputs = nn::Outputs(model.spec);
  std::vector<double> values, x(model.x.data(), model.x.data() + model.x.size());
  const std::size_t n = model.input.mean.size();
  for (std::size_t i = 0; i < raw.size(); ++i) {
    values.push_back(
        static_cast<double>((raw[i] - model.input.mean[i % n]) * model.input.scale[i % n]));
  }
  const std::vector<std::uint32_t> labels(nn::HasLabels(model.spec) ? kSamples : 0);
  const std::vector<double> targets(labels.empty() ? kSamples * outputs : 0, 0.5);
  const nn::ReferenceBatch<double> batch{
      .size = kSamples, .samples = values, .labels = labels, .targets = targets};
  return nn::ReferenceNetwork<double>(model.spec).Run(x, batch, nn::WithGradient::kNo).outputs;
}

const char* Suffix(Numbers numbers) {
  return numbers == Numbers::kOne ? "" : numbers == Numbers::kChannels ? "_channels" : "_features";
}

bool WriteOne(const std::string& folder, const test::ZooModel& one, Numbers numbers) {
  const std::string name = one.name + Suffix(numbers);
  const store::Model model = test::DrawZooModel(one.spec, 11, numbers);
  for (const char* ending : {".onnx", ".safetensors"}) {
    const Status written = store::WriteModel(folder + "/" + name + ending, model);
    if (written) continue;
    std::fprintf(stderr, "%s\n", written.error().Format().c_str());
    return false;
  }
  Stream stream(7, 0, Purpose::kTest);
  const std::vector<float> raw = DrawRaw(one.spec, stream);
  std::vector<float> answers(kSamples * nn::Outputs(one.spec));
  nn::Predictor(one.spec, model.input.mean, model.input.scale).Run(model.x.view(), raw, answers);
  Json json;
  std::vector<std::size_t> shape = one.spec.input;
  if (shape.size() == 3) shape = {shape[2], shape[0], shape[1]};
  shape.insert(shape.begin(), kSamples);
  json["shape"] = shape;
  json["input"] = Outer(raw, one.spec.input);
  json["outputs"] = nn::Outputs(one.spec);
  json["classification"] = nn::IsClassification(one.spec);
  json["answers"] = answers;
  json["plain"] = Plain(model, raw);
  json["mean"] = model.input.mean;
  json["scale"] = model.input.scale;
  std::ofstream(folder + "/" + name + ".json") << json.dump() << '\n';
  return true;
}

bool WriteZoo(const std::string& folder) {
  Json names = Json::array();
  for (const test::ZooModel& one : test::ModelZoo()) {
    for (const Numbers numbers : {Numbers::kOne, Numbers::kChannels, Numbers::kFeatures}) {
      const bool single = nn::Symbols(one.spec) > 0;
      const bool twice = numbers == Numbers::kChannels && one.spec.input.size() == 1;
      if ((single && numbers != Numbers::kOne) || twice) continue;
      if (!WriteOne(folder, one, numbers)) return false;
      names.push_back(one.name + Suffix(numbers));
    }
  }
  std::ofstream(folder + "/zoo.json") << names.dump() << '\n';
  return true;
}

}  // namespace
}  // namespace covey

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  return covey::WriteZoo(argv[1]) ? 0 : 1;
}
