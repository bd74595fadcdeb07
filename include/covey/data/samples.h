// Samples that somebody asks a model about, as the numbers that it reads: columns by their names,
// and images.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "covey/base/result.h"
#include "covey/data/dataset.h"

namespace covey::data {

// What the raw samples of a model look like.
struct InputForm {
  std::vector<std::size_t> shape;  // of one sample
  // "height", "colour=red": Dataset::feature_names, one for each number of a sample or, of windows,
  // for each column; or none.
  std::vector<std::string> features;
  ImageFit image_fit = ImageFit::kRefuse;
};

// Name and text of a cell.
using NamedCell = std::pair<std::string, std::string>;

// Finds the columns that a model reads among others, in any order.
class NamedColumns {
 public:
  // names: of the columns that there are. Those that are no feature don't count.
  // Errors: kData: the model knows no names, columns that it reads are missing (all are listed), or
  // one of them stands twice.
  static Result<NamedColumns> Find(const InputForm& form, const std::vector<std::string>& names,
                                   const std::string& where);

  // Appends the numbers of one row, form.features.size() of them, to `values`.
  // Requires: one cell for each name.
  // Errors: kData with the column: no value, no number, not finite, or a text that is none of those
  // that the model knows.
  Status Append(const std::vector<std::string_view>& cells, const std::string& where,
                std::vector<float>& values) const;

 private:
  struct Column {
    std::string name;
    std::size_t cell = 0;
    std::size_t first = 0;           // its first feature
    std::vector<std::string> texts;  // of a category; empty: a number
  };
  static Status Put(const Column& column, std::string_view cell, const std::string& where,
                    float* features);

  std::vector<Column> columns_;
  std::size_t features_ = 0;
};

// Reads one sample given as names with values.
// Errors: as NamedColumns.
Result<std::vector<float>> SampleOf(const InputForm& form, const std::vector<NamedCell>& cells,
                                    const std::string& where);

// Reads rows of a table: by the names of its header when it has one and the model knows names that
// are no numbers, otherwise by their order. A model of windows takes so many rows as one sample,
// one window after the other; rows behind the last whole one are left out. Rows by order hold
// numbers, separated by comma, semicolon, tab or blanks, as many in each as the shape has elements
// (an empty shape: any).
// Returns: [samples][numbers of a sample].
// Errors: kData with `where` and line.
Result<std::vector<float>> SamplesOf(const InputForm& form, std::string_view text,
                                     const std::string& where);

// Reads one row of numbers, separated as there.
// Errors: kData with `where`.
Result<std::vector<float>> NumbersOf(std::string_view row, const std::string& where);

// Reads an image as the data set that the model learned from would have: grey or colour by the
// shape, resized or refused by image_fit.
// Errors: those of image folders (covey/data/dataset.h), and kData when the model reads no images.
Result<std::vector<float>> ImageSampleOf(const InputForm& form, const std::string& path);

}  // namespace covey::data
