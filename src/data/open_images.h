// A folder of images, one folder inside for each class, as a data set.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "covey/base/result.h"
#include "covey/data/dataset.h"

namespace covey::data {

// Errors: as Open. Requires: source.folder is given.
Result<Dataset> OpenImages(const Source& source, const std::string& cache_folder);

// One image as a model of that input shape reads it: [height][width][channels].
// Errors: kConfig when the shape is none of an image; those of one image of a folder.
Result<std::vector<std::uint8_t>> ReadImageAs(const std::vector<std::size_t>& shape, ImageFit fit,
                                              const std::string& path);

}  // namespace covey::data
