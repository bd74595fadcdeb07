#include "predict.h"

#include <poll.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "covey/api/server.h"
#include "covey/store/file_system.h"
#include "covey/store/model.h"

namespace covey {
namespace {

using Json = nlohmann::ordered_json;

constexpr ByteCount kMaxCsv{std::uint64_t{1} << 30};
constexpr const char* kBetween = ",; \t\r";

// Numbers of one line. Returns: the word that is none, or nothing.
std::string ParseLine(std::string_view line, std::vector<float>& to) {
  std::size_t at = 0;
  while ((at = line.find_first_not_of(kBetween, at)) != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(kBetween, at), line.size());
    std::string_view word = line.substr(at, end - at);
    if (word.starts_with('+')) word.remove_prefix(1);
    float value = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || stop != word.data() + word.size() || !std::isfinite(value)) {
      return std::string(word.empty() ? "+" : word);
    }
    to.push_back(value);
    at = end;
  }
  return {};
}

Result<std::string> ReadAll(const std::string& path) {
  std::string text;
  if (path != "-") {
    const auto bytes = store::ReadFile(path, kMaxCsv);
    if (!bytes) return tl::unexpected(bytes.error());
    text.assign(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    return text;
  }
  char block[65536];
  while (const std::size_t got = std::fread(block, 1, sizeof block, stdin)) {
    text.append(block, got);
    if (text.size() > kMaxCsv.value) return Fail(ErrorCode::kData, "stdin", "more than 1 GiB");
  }
  return text;
}

Result<api::Predictions> AskFile(const PredictOptions& options, const Samples& samples) {
  const auto model = store::ReadModel(options.model);
  if (!model) return tl::unexpected(model.error());
  nn::Predictor predictor(model->spec, model->input.mean, model->input.scale);
  if (Status fits = store::CheckSamples(predictor, samples.values); !fits) {
    return tl::unexpected(std::move(fits.error()));
  }
  const std::size_t outputs = predictor.outputs();
  std::vector<float> answers(samples.values.size() / predictor.features() * outputs);
  predictor.Run(model->x.view(), samples.values, answers);
  api::Predictions predictions;
  predictions.version = model->facts.version;
  predictions.batches = model->facts.batches;
  predictions.answers = nn::IsClassification(model->spec)
                            ? api::RankAnswers(answers, outputs, model->labels, options.top)
                            : api::ValueAnswers(answers, outputs);
  return predictions;
}

// As many questions as the samples need.
Result<api::Predictions> AskDaemon(const PredictOptions& options, const Samples& samples,
                                   api::Client& client) {
  constexpr std::size_t kAtOnce = 1024;  // whose answers fit into a message
  const std::size_t fit = (api::kMaxRequest - 64) / sizeof(float) / samples.width;
  const std::size_t step = std::clamp<std::size_t>(fit, 1, kAtOnce) * samples.width;
  api::Predictions all;
  for (std::size_t first = 0; first < samples.values.size(); first += step) {
    const auto begin = samples.values.begin() + static_cast<std::ptrdiff_t>(first);
    const std::size_t count = std::min(step, samples.values.size() - first);
    api::Question question;
    question.values.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
    question.top = options.top;
    auto part = client.Predict(question);
    if (!part) return part;
    all.version = part->version;
    all.batches = part->batches;
    for (api::Answer& answer : part->answers) all.answers.push_back(std::move(answer));
  }
  return all;
}

// Asks again and again while there is no daemon yet, or it has no model yet.
Result<api::Predictions> AskWhenReady(const PredictOptions& options, const Samples& samples,
                                      const std::function<Result<api::Client>()>& connect) {
  constexpr Duration kBetweenTries = std::chrono::milliseconds(100);
  for (Duration waited{};; waited += kBetweenTries) {
    auto client = connect();
    auto predictions = client ? AskDaemon(options, samples, *client)
                              : Result<api::Predictions>(tl::unexpected(client.error()));
    if (predictions || waited >= options.wait) return predictions;
    const ErrorCode code = predictions.error().code;
    if (code != ErrorCode::kUnavailable && code != ErrorCode::kTemporary) return predictions;
    ::poll(nullptr, 0, static_cast<int>(kBetweenTries / std::chrono::milliseconds(1)));
  }
}

std::string Percent(float probability) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * static_cast<double>(probability));
  return text;
}

}  // namespace

Result<Samples> ParseSamples(const std::string& text, const std::string& where) {
  Samples samples;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line(text.data() + at, end - at);
    at = end + 1;
    ++number;
    const std::size_t before = samples.values.size();
    const std::string word = ParseLine(line, samples.values);
    const std::string here = where + ":" + std::to_string(number);
    if (!word.empty()) {
      samples.values.resize(before);
      if (before == 0) continue;  // a header
      return Fail(ErrorCode::kData, here, "'" + word + "' is not a finite number");
    }
    const std::size_t width = samples.values.size() - before;
    if (width == 0) continue;
    if (samples.width == 0) samples.width = width;
    if (width != samples.width) {
      return Fail(ErrorCode::kData, here,
                  std::to_string(width) + " numbers, wanted " + std::to_string(samples.width) +
                      " as in the first row");
    }
  }
  if (samples.values.empty()) return Fail(ErrorCode::kData, where, "no row of numbers in it");
  return samples;
}

Result<Samples> ReadSamples(const PredictOptions& options) {
  const int given =
      int{!options.values.empty()} + int{!options.row.empty()} + int{!options.csv.empty()};
  if (given != 1) {
    return Fail(ErrorCode::kUsage, "predict",
                given == 0 ? "nothing to answer" : "more than one source of samples",
                "give the numbers of one sample, or --row=1,2,3, or --csv FILE");
  }
  if (!options.csv.empty()) {
    const auto text = ReadAll(options.csv);
    if (!text) return tl::unexpected(text.error());
    return ParseSamples(*text, options.csv == "-" ? "stdin" : options.csv);
  }
  Samples samples;
  std::string line = options.row;
  for (const std::string& value : options.values) line += value + " ";
  if (const std::string word = ParseLine(line, samples.values); !word.empty()) {
    return Fail(ErrorCode::kUsage, "predict", "'" + word + "' is not a finite number");
  }
  samples.width = samples.values.size();
  if (samples.width == 0) return Fail(ErrorCode::kUsage, "predict", "no number in the sample");
  return samples;
}

Status Predict(const PredictOptions& options, const std::function<Result<api::Client>()>& connect) {
  const auto samples = ReadSamples(options);
  if (!samples) return tl::unexpected(samples.error());
  Result<api::Predictions> predictions;
  if (!options.model.empty()) {
    predictions = AskFile(options, *samples);
  } else {
    predictions = AskWhenReady(options, *samples, connect);
  }
  if (!predictions) return tl::unexpected(predictions.error());
  const std::string text =
      options.json ? PredictionsJson(*predictions) : PredictionsText(*predictions);
  std::fputs(text.c_str(), stdout);
  return {};
}

std::string PredictionsJson(const api::Predictions& predictions) {
  Json json;
  json["schema"] = "covey.predict/1";
  json["version"] = predictions.version;
  json["batches"] = predictions.batches;
  json["answers"] = Json::array();
  for (const api::Answer& answer : predictions.answers) {
    Json one = Json::object();
    for (const api::RankedClass& ranked : answer.classes) {
      one["classes"].push_back(
          {{"index", ranked.index}, {"label", ranked.label}, {"probability", ranked.probability}});
    }
    if (answer.classes.empty()) one["values"] = answer.values;
    json["answers"].push_back(std::move(one));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string PredictionsText(const api::Predictions& predictions) {
  std::size_t width = 0;
  for (const api::Answer& answer : predictions.answers) {
    for (const api::RankedClass& ranked : answer.classes) {
      width = std::max(width, ranked.label.size());
    }
  }
  std::string text;
  for (const api::Answer& answer : predictions.answers) {
    std::string line;
    for (const api::RankedClass& ranked : answer.classes) {
      const std::string percent = Percent(ranked.probability);
      line += ranked.label + std::string(width - ranked.label.size() + 1, ' ');
      line += std::string(percent.size() < 7 ? 7 - percent.size() : 0, ' ') + percent + "   ";
    }
    for (const float value : answer.values) {
      char number[32];
      std::snprintf(number, sizeof number, "%.7g  ", static_cast<double>(value));
      line += number;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace covey
