// covey predict: answers of a running node or of a model file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "covey/api/client.h"
#include "covey/base/result.h"
#include "covey/base/time.h"
#include "covey/data/samples.h"

namespace covey {

struct PredictOptions {
  std::vector<std::string> values;  // one sample, in as many words as people like
  std::string row;  // the same in one word; or names with values: a=1,b=2 or a JSON object
  std::string csv;  // file, or - for stdin
  std::vector<std::string> images;  // files
  std::string model;                // file; empty: the daemon
  std::uint32_t top = 3;
  Duration wait{};  // for a daemon that starts, and for its first model
  bool json = false;
};

// Samples as they were given: one of four.
struct GivenSamples {
  std::vector<float> values;  // of one sample
  std::string text;           // rows of numbers, or a table with a header
  std::string where;          // it comes from
  std::vector<data::NamedCell> cells;
  std::vector<std::string> images;
};
// Errors: kUsage for the command line, kNoInput, kNoPermission, kIo for the file.
Result<GivenSamples> ReadGiven(const PredictOptions& options);
// Returns: their numbers, as the model reads them. Errors: kData; kNoInput for an image.
Result<std::vector<float>> SamplesOf(const GivenSamples& given, const data::InputForm& form);

// connect: called when no model file is given. Prints to stdout.
Status Predict(const PredictOptions& options, const std::function<Result<api::Client>()>& connect);

// names: one an answer, or none.
std::string PredictionsJson(const api::Predictions& predictions,
                            const std::vector<std::string>& names);
std::string PredictionsText(const api::Predictions& predictions,
                            const std::vector<std::string>& names);

}  // namespace covey
