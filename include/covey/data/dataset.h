// Labelled samples of bytes, mapped from IDX files so that the nodes of one machine share their
// pages.
//
// Equation: value of feature f of sample i = row(i)[f] * scale() + offset().
// Source: the IDX format of LeCun, Cortes & Burges, "The MNIST database of handwritten digits".
// Where we differ: only unsigned bytes (type 0x08) are read, and a file must end where its header
// says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/bytes.h"
#include "covey/base/result.h"

namespace covey::data {

// What a byte becomes before it enters the first layer.
enum class Normalize {
  kNone,  // the byte's value, 0 to 255
  kUnit,  // 0 to 1: value / 255
};

// Returns: the word of configuration files ("none", "unit").
std::string_view Name(Normalize normalize);
// Errors: kConfig with what was got and the known words.
Result<Normalize> ParseNormalize(std::string_view word);

// Immutable samples and labels; cheap to copy (copies share the memory).
//
// Shapes: size() rows of features() bytes, row-major in shape(); one label below classes() for
//   each.
// Thread: const, so any number of threads may read; a row stays valid while any copy of the Dataset
//   lives.
// Cost: a copy is one reference count; row() and label() are one multiplication and one load.
//
// Mapped files must not be shortened in place while a Dataset reads them (the system would answer
// with SIGBUS); replacing them by rename, as Covey's own cache does, is harmless.
class Dataset {
 public:
  // What FromMemory takes.
  // Requires: rows.size() == labels.size() * product(shape); every label < classes.
  struct Memory {
    std::vector<std::size_t> shape;  // of one sample: {28, 28}
    std::vector<std::uint8_t> rows;  // sample after sample
    std::vector<std::uint8_t> labels;
    std::uint32_t classes = 0;  // 0: greatest label + 1
    Normalize normalize = Normalize::kUnit;
  };

  Dataset() = default;  // no samples
  static Dataset FromMemory(Memory memory);

  std::size_t size() const { return labels_.size(); }
  std::size_t features() const { return features_; }
  std::uint32_t classes() const { return classes_; }
  const std::vector<std::size_t>& shape() const { return shape_; }

  // Requires: i < size(). Rows are not aligned and are not followed by padding.
  const std::uint8_t* row(std::size_t i) const { return rows_ + i * features_; }
  std::uint32_t label(std::size_t i) const { return labels_[i]; }
  std::span<const std::uint8_t> labels() const { return labels_; }

  float scale() const { return scale_; }
  float offset() const { return offset_; }

 private:
  friend class DatasetBuilder;

  std::shared_ptr<const void>
      owner_;  // the mapping or the vectors that the pointers below look into
  const std::uint8_t* rows_ = nullptr;
  std::span<const std::uint8_t> labels_;
  std::vector<std::size_t> shape_;
  std::size_t features_ = 0;
  std::uint32_t classes_ = 0;
  float scale_ = 1.0f;
  float offset_ = 0.0f;
};

// Two IDX files that belong together. Either may be gzipped (told by its content, not by its name).
struct Source {
  std::string images;
  std::string labels;
  Normalize normalize = Normalize::kUnit;
  std::uint32_t classes = 0;  // 0: greatest label + 1; otherwise every label must be below it
};

// Limits, each checked before anything of that size is allocated or written.
inline constexpr std::size_t kMaxIdxDimensions = 8;
inline constexpr ByteCount kMaxUnpackedBytes{std::uint64_t{8} << 30};  // of one gzipped file

// Opens and checks a data set.
//
// A gzipped file is unpacked once into `cache_folder` (made when missing, mode 0700) under a name
// that hashes its absolute path, size and time of change; later calls, and other processes, map
// that file. Two processes that need it at once wait for one another and then share it. A cache
// file of the wrong size or with another header is made anew. Plain files are mapped where they
// are.
//
// Errors: kNoInput when a file is missing, kNoPermission when it can't be read, kData for its
// content: not a
//   regular file, empty, type byte, number of dimensions, sizes that overflow, truncated, longer
//   than its header says, damaged gzip, unpacked size above kMaxUnpackedBytes, different counts of
//   images and labels, a label not below `classes`; kCantCreate or kIo when the cache can't be
//   written. `where` is the file and, where it applies, the byte offset.
// Cost: first time one pass over the file; afterwards a few system calls and one pass over the
// labels.
Result<Dataset> OpenIdx(const Source& source, const std::string& cache_folder);

// Reads a one-dimensional IDX file as whole numbers: the key column of PartitionByKey (device of a
// sample).
// Errors: as OpenIdx.
Result<std::vector<std::uint32_t>> OpenIdxColumn(const std::string& path,
                                                 const std::string& cache_folder);

}  // namespace covey::data
