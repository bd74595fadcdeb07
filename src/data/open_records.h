// Samples out of the binary files of CIFAR and out of texts.
#pragma once

#include <string>

#include "covey/base/result.h"
#include "covey/data/dataset.h"

namespace covey::data {

// Requires: source.cifar is given. Errors: as Open.
Result<Dataset> OpenCifar(const Source& source, const std::string& cache_folder);

// Requires: source.text is given; source.shape is that of the model. Errors: as Open.
Result<Dataset> OpenText(const Source& source, const std::string& cache_folder);

}  // namespace covey::data
