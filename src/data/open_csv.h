// A CSV file as a data set.
#pragma once

#include <string>

#include "covey/base/result.h"
#include "covey/data/dataset.h"

namespace covey::data {

// Errors: as OpenData. Requires: source.csv is given.
Result<Dataset> OpenCsv(const Source& source, const std::string& cache_folder);

}  // namespace covey::data
