#include "predict.h"

#include <poll.h>

#include <algorithm>
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

// "a=1,b=2" or {"a": 1, "b": "red"}.
Result<std::vector<data::NamedCell>> ParseNamed(const std::string& row) {
  std::vector<data::NamedCell> cells;
  if (row.starts_with('{')) {
    const Json json = Json::parse(row, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) return Fail(ErrorCode::kUsage, "--row", "is no whole JSON object");
    for (const auto& item : json.items()) {
      const Json& value = item.value();
      if (!value.is_number() && !value.is_string()) {
        return Fail(ErrorCode::kUsage, "--row",
                    "'" + item.key() + "' is neither a number nor a text");
      }
      cells.emplace_back(item.key(), value.is_string() ? value.get<std::string>() : value.dump());
    }
    return cells;
  }
  for (std::size_t at = 0; at < row.size();) {
    const std::size_t end = std::min(row.find_first_of(",;", at), row.size());
    const std::string cell = row.substr(at, end - at);
    const std::size_t equals = cell.find('=');
    const std::size_t first = cell.find_first_not_of(' ');
    if (equals == std::string::npos) {
      return Fail(ErrorCode::kUsage, "--row", "'" + cell + "' is not name=value",
                  "names with commas can be given as JSON: --row '{\"a\": 1}'");
    }
    cells.emplace_back(cell.substr(first, equals - first), cell.substr(equals + 1));
    at = end + 1;
  }
  return cells;
}

std::size_t WidthOf(const data::InputForm& form) {
  std::size_t width = 1;
  for (const std::size_t extent : form.shape) width *= extent;
  return width;
}

Result<api::Predictions> AskFile(const PredictOptions& options, const GivenSamples& given) {
  const auto model = store::ReadModel(options.model);
  if (!model) return tl::unexpected(model.error());
  const auto samples = SamplesOf(given, store::InputFormOf(*model));
  if (!samples) return tl::unexpected(samples.error());
  nn::Predictor predictor(model->spec, model->input.mean, model->input.scale);
  if (Status fits = store::CheckSamples(predictor, *samples); !fits) {
    return tl::unexpected(std::move(fits.error()));
  }
  const std::size_t outputs = predictor.outputs();
  std::vector<float> answers(samples->size() / predictor.features() * outputs);
  predictor.Run(model->x.view(), *samples, answers);
  api::Predictions predictions;
  predictions.version = model->facts.version;
  predictions.batches = model->facts.batches;
  predictions.answers = nn::IsClassification(model->spec)
                            ? api::RankAnswers(answers, outputs, model->labels, options.top)
                            : api::ValueAnswers(answers, outputs);
  return predictions;
}

// As many questions as the samples need. width: numbers of each.
Result<api::Predictions> AskDaemon(api::Client& client, std::uint32_t top, std::size_t width,
                                   const std::vector<float>& samples) {
  constexpr std::size_t kAtOnce = 1024;  // whose answers fit into a message
  const std::size_t fit = (api::kMaxRequest - 64) / sizeof(float) / width;
  const std::size_t step = std::clamp<std::size_t>(fit, 1, kAtOnce) * width;
  api::Predictions all;
  for (std::size_t first = 0; first < samples.size(); first += step) {
    const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(first);
    const std::size_t count = std::min(step, samples.size() - first);
    api::Question question;
    question.values.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
    question.top = top;
    auto part = client.Predict(question);
    if (!part) return part;
    all.version = part->version;
    all.batches = part->batches;
    for (api::Answer& answer : part->answers) all.answers.push_back(std::move(answer));
  }
  return all;
}

Result<api::Predictions> AskOnce(const PredictOptions& options, const GivenSamples& given,
                                 const std::function<Result<api::Client>()>& connect) {
  auto client = connect();
  if (!client) return tl::unexpected(client.error());
  const auto input = client->GetInputForm();
  if (!input) return tl::unexpected(input.error());
  const data::InputForm form{
      input->shape, input->features,
      input->resize_images ? data::ImageFit::kResize : data::ImageFit::kRefuse};
  const auto samples = SamplesOf(given, form);
  if (!samples) return tl::unexpected(samples.error());
  return AskDaemon(*client, options.top, WidthOf(form), *samples);
}

// Asks again and again while there is no daemon yet, or it has no model yet.
Result<api::Predictions> AskWhenReady(const PredictOptions& options, const GivenSamples& given,
                                      const std::function<Result<api::Client>()>& connect) {
  constexpr Duration kBetweenTries = std::chrono::milliseconds(100);
  for (Duration waited{};; waited += kBetweenTries) {
    auto predictions = AskOnce(options, given, connect);
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

Result<GivenSamples> ReadGiven(const PredictOptions& options) {
  const int sources = int{!options.values.empty()} + int{!options.row.empty()} +
                      int{!options.csv.empty()} + int{!options.images.empty()};
  if (sources != 1) {
    return Fail(
        ErrorCode::kUsage, "predict",
        sources == 0 ? "nothing to answer" : "more than one source of samples",
        "give the numbers of one sample, or --row=1,2,3, or --row 'a=1,b=2', or --csv FILE, "
        "or --image FILE");
  }
  GivenSamples given;
  given.images = options.images;
  if (!options.csv.empty()) {
    auto text = ReadAll(options.csv);
    if (!text) return tl::unexpected(text.error());
    given.text = std::move(*text);
    given.where = options.csv == "-" ? "stdin" : options.csv;
  } else if (options.row.find_first_of("={") != std::string::npos) {
    auto cells = ParseNamed(options.row);
    if (!cells) return tl::unexpected(cells.error());
    given.cells = std::move(*cells);
  } else if (given.images.empty()) {
    std::string line = options.row;
    for (const std::string& value : options.values) line += value + " ";
    auto numbers = data::NumbersOf(line, "predict");
    if (!numbers) {
      return Fail(ErrorCode::kUsage, "predict", numbers.error().what, numbers.error().hint);
    }
    if (numbers->empty()) return Fail(ErrorCode::kUsage, "predict", "no number in the sample");
    given.values = std::move(*numbers);
  }
  return given;
}

Result<std::vector<float>> SamplesOf(const GivenSamples& given, const data::InputForm& form) {
  if (!given.cells.empty()) return data::SampleOf(form, given.cells, "--row");
  if (!given.values.empty()) {
    const std::size_t width = WidthOf(form);
    if (given.values.size() == width) return given.values;
    return Fail(ErrorCode::kData, "predict",
                std::to_string(given.values.size()) + " numbers, wanted " + std::to_string(width));
  }
  if (given.images.empty()) return data::SamplesOf(form, given.text, given.where);
  std::vector<float> values;
  for (const std::string& path : given.images) {
    const auto image = data::ImageSampleOf(form, path);
    if (!image) return image;
    values.insert(values.end(), image->begin(), image->end());
  }
  return values;
}

Status Predict(const PredictOptions& options, const std::function<Result<api::Client>()>& connect) {
  const auto given = ReadGiven(options);
  if (!given) return tl::unexpected(given.error());
  auto predictions =
      options.model.empty() ? AskWhenReady(options, *given, connect) : AskFile(options, *given);
  if (!predictions) return tl::unexpected(predictions.error());
  const std::string text = options.json ? PredictionsJson(*predictions, options.images)
                                        : PredictionsText(*predictions, options.images);
  std::fputs(text.c_str(), stdout);
  return {};
}

std::string PredictionsJson(const api::Predictions& predictions,
                            const std::vector<std::string>& names) {
  Json json;
  json["schema"] = "covey.predict/1";
  json["version"] = predictions.version;
  json["batches"] = predictions.batches;
  json["answers"] = Json::array();
  for (const api::Answer& answer : predictions.answers) {
    Json one = Json::object();
    if (!names.empty()) one["image"] = names[json["answers"].size()];
    for (const api::RankedClass& ranked : answer.classes) {
      one["classes"].push_back(
          {{"index", ranked.index}, {"label", ranked.label}, {"probability", ranked.probability}});
    }
    if (answer.classes.empty()) one["values"] = answer.values;
    json["answers"].push_back(std::move(one));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string PredictionsText(const api::Predictions& predictions,
                            const std::vector<std::string>& names) {
  std::size_t width = 0, longest = 0, lines = 0;
  for (const std::string& name : names) longest = std::max(longest, name.size());
  for (const api::Answer& answer : predictions.answers) {
    for (const api::RankedClass& ranked : answer.classes) {
      width = std::max(width, ranked.label.size());
    }
  }
  std::string text;
  for (const api::Answer& answer : predictions.answers) {
    std::string line;
    if (!names.empty()) {
      line = names[lines++];
      line.resize(longest + 3, ' ');
    }
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
