// Recordings of sensors, each a table, as a data set of windows.
#pragma once

#include <string>

#include "covey/base/result.h"
#include "covey/data/dataset.h"

namespace covey::data {

// Errors: as Open. Requires: source.recordings is given.
Result<Dataset> OpenRecordings(const Source& source, const std::string& cache_folder);

}  // namespace covey::data
