// covey push: samples for a node that takes live data.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "covey/api/client.h"
#include "covey/base/result.h"

namespace covey {

struct PushOptions {
  std::vector<std::string> values;  // numbers of one sample
  std::string label;                // its class, or the number to predict
  std::string csv;                  // table, or - for stdin, which is sent as it comes
  bool json = false;
};

// Prints what became of the samples.
// Errors: kData when some were rejected, after the others were accepted; kUsage; those of the node
// and of the file.
Status Push(const PushOptions& options, const std::function<Result<api::Client>()>& connect);

}  // namespace covey
