// covey predict: answers of a running node or of a model file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "covey/api/client.h"
#include "covey/base/result.h"
#include "covey/base/time.h"

namespace covey {

struct PredictOptions {
  std::vector<std::string> values;  // one sample, in as many words as people like
  std::string row;                  // the same in one word
  std::string csv;                  // file, or - for stdin
  std::string model;                // file; empty: the daemon
  std::uint32_t top = 3;
  Duration wait{};  // for a daemon that starts, and for its first model
  bool json = false;
};

// Samples as numbers. Errors: kUsage for the command line, kNoInput, kNoPermission, kIo, kData with
// line and column for the file.
struct Samples {
  std::vector<float> values;
  std::size_t width = 0;  // numbers of each
};
Result<Samples> ReadSamples(const PredictOptions& options);
// Numbers separated by comma, semicolon, tab or spaces; a first line that has a word in it is a
// header.
Result<Samples> ParseSamples(const std::string& text, const std::string& where);

// connect: called when no model file is given. Prints to stdout.
Status Predict(const PredictOptions& options, const std::function<Result<api::Client>()>& connect);

std::string PredictionsJson(const api::Predictions& predictions);
std::string PredictionsText(const api::Predictions& predictions);

}  // namespace covey
