// A folder of images, one folder inside for each class, as a data set.
#pragma once

#include <string>

#include "covey/base/result.h"
#include "covey/data/dataset.h"

namespace covey::data {

// Errors: as Open. Requires: source.folder is given.
Result<Dataset> OpenImages(const Source& source, const std::string& cache_folder);

}  // namespace covey::data
