// Samples with their labels or targets, mapped from files so that the nodes of one machine share
// their pages.
//
// Equation: value of feature f of sample i = element f of row(i), as normalization() says.
// Source: the IDX format of LeCun, Cortes & Burges, "The MNIST database of handwritten digits".
// Where we differ: a file must end where its header says. Values of several bytes are big-endian in
// the file; a copy in the machine's order is made once (OpenIdx).
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
#include "covey/data/csv.h"
#include "covey/data/normalization.h"
#include "covey/tensor/rows.h"

namespace covey::data {

// Immutable samples, each with a label below classes() or with outputs() targets; cheap to copy
// (copies share the memory).
//
// Shapes: size() rows of features() elements, row-major in shape().
// Thread: const, so any number of threads may read; a row stays valid while any copy of the Dataset
//   lives.
// Cost: a copy is one reference count; row() and label() are one multiplication and one load.
//
// Mapped files must not be shortened in place while a Dataset reads them (the system would answer
// with SIGBUS); replacing them by rename, as Covey's own cache does, is harmless.
class Dataset {
 public:
  // What FromMemory takes.
  // Requires: labels or targets; rows.size() == samples * product(shape) * bytes of an element;
  //   every label < classes; targets.size() == samples * outputs.
  struct Memory {
    std::vector<std::size_t> shape;  // of one sample: {28, 28}
    std::vector<std::uint8_t> rows;  // sample after sample, elements in the machine's order
    std::vector<std::uint8_t> labels;
    std::uint32_t classes = 0;  // 0: greatest label + 1
    Normalize normalize = Normalize::kUnit;
    float scale = 1;  // kScale
    tensor::Element element = tensor::Element::kUint8;
    std::vector<float> targets = {};
    std::size_t outputs = 0;  // targets a sample; 0: labels
    LabelNames label_names = {};
    std::vector<std::string> feature_names = {};
  };

  Dataset() = default;  // no samples
  static Dataset FromMemory(Memory memory);

  std::size_t size() const { return size_; }
  std::size_t features() const { return features_; }
  const std::vector<std::size_t>& shape() const { return shape_; }
  tensor::Element element() const { return element_; }

  // Requires: i < size(). Rows are at any alignment and are not followed by padding.
  const std::uint8_t* row(std::size_t i) const { return rows_ + i * row_bytes_; }

  std::size_t row_bytes() const { return row_bytes_; }

  bool has_labels() const { return targets_ == nullptr; }
  std::uint32_t classes() const { return classes_; }  // 0 with targets
  std::uint32_t label(std::size_t i) const { return labels_[i]; }
  std::span<const std::uint8_t> labels() const { return labels_; }  // empty with targets

  std::size_t outputs() const { return outputs_; }  // targets a sample; 0 with labels
  const float* target(std::size_t i) const { return targets_ + i * outputs_; }

  // What a partition by key divides by, one number a sample; empty: the samples have none.
  std::span<const std::uint32_t> keys() const { return keys_; }
  // Names of the features, or none.
  const std::vector<std::string>& feature_names() const { return feature_names_; }
  // Names of the classes, or none.
  const LabelNames& label_names() const { return label_names_; }

  Normalize normalize() const { return normalize_; }
  const Normalization& normalization() const { return normalization_; }
  // What the kernels apply while they read when all elements are treated alike; other
  // normalisations are applied when a batch is gathered.
  // Requires: normalization().uniform().
  float scale() const { return normalization_.scale[0]; }
  float offset() const { return -normalization_.mean[0] * normalization_.scale[0]; }

  // Returns: the same samples, read in another way.
  // Requires: 1, the last extent of shape(), or features() values.
  Dataset Normalized(Normalize normalize, Normalization normalization) const;
  // Returns: the same samples with names for the classes.
  // Requires: none, or at least classes() of them; classes() becomes their number.
  Dataset Named(LabelNames names) const;

 private:
  friend class DatasetBuilder;

  std::shared_ptr<const void>
      owner_;  // the mapping or the vectors that the pointers below look into
  std::size_t size_ = 0;
  tensor::Element element_ = tensor::Element::kUint8;
  const std::uint8_t* rows_ = nullptr;
  std::size_t row_bytes_ = 0;
  std::span<const std::uint8_t> labels_;
  const float* targets_ = nullptr;
  std::size_t outputs_ = 0;
  std::vector<std::size_t> shape_;
  std::size_t features_ = 0;
  std::uint32_t classes_ = 0;
  Normalize normalize_ = Normalize::kNone;
  Normalization normalization_;
  std::span<const std::uint32_t> keys_;
  std::vector<std::string> feature_names_;
  LabelNames label_names_;
};

// What becomes of an image that has another size than the model reads.
enum class ImageFit : std::uint8_t { kRefuse, kResize };

// How recordings are cut into windows of as many rows as the second last extent of the model's
// input says.
struct WindowSettings {
  std::size_t step = 0;    // rows from one window to the next; 0: half of a window
  std::string key = {};    // what of a file's name is the key: "s(*)_*_(*).csv"; empty: csv.key
  std::string label = {};  // the same for the class; empty: csv.label
  double agree = 0;        // least share of its rows that have the window's class

  bool operator==(const WindowSettings&) const = default;
};

// Where a data set comes from: two files that belong together, samples and labels or targets, each
// IDX (plain or gzipped), NPY (told by its content) or "set.npz:x", an array of an NPZ file; or a
// CSV file; or a folder of images; or the binary files of CIFAR; or a text; or recordings.
struct Source {
  std::string images;
  std::string labels;  // one dimension: whole numbers from 0 to 255, of any type
  Normalize normalize = Normalize::kUnit;
  std::uint32_t classes = 0;  // 0: greatest label + 1; otherwise every label must be below it
  std::string targets = {};   // [samples] or [samples, outputs] of any type; empty: labels
  float scale = 1;            // kScale
  std::string folder = {};    // of images, one folder inside for each class
  ImageFit image_fit = ImageFit::kRefuse;
  std::vector<std::size_t> shape = {};  // folder: what the model reads
  std::string csv = {};                 // instead of images, labels and targets
  std::string cifar = {};               // binary CIFAR-10 or CIFAR-100: a file, or their folder
  std::string text = {};                // UTF-8: windows of characters, and the one that follows
  std::size_t text_step = 3;            // from window to window
  std::string recordings = {};          // tables of sensors: a folder, or a pattern of files
  WindowSettings windows = {};
  CsvSettings csv_settings = {};
  bool wants_labels = true;  // csv: classes; otherwise targets
  // csv: the features and classes of the data set that this one must be like; empty: as found.
  std::vector<std::string> feature_names = {};
  LabelNames label_names = {};

  bool operator==(const Source&) const = default;

  // Whether samples and answers come out of one file or folder.
  bool alone() const { return !csv.empty() || !Single().empty(); }
  // That file or folder, of those that are no table; or nothing.
  const std::string& Single() const {
    return !folder.empty() ? folder : !cifar.empty() ? cifar : !text.empty() ? text : recordings;
  }
};

// Opens and checks the data set that a source names.
// A folder holds one folder for each class, its name, and in it images: PNG, JPEG, PGM or PPM, made
// grey or coloured as the model reads them. Names that begin with a dot are left out. A folder's
// errors are kData with the file: no image, damaged, another size (kRefuse), too large, or a class
// that the source does not name.
//
// Recordings are tables whose rows follow one another in time. Their windows have the class that
// most of their rows have, and names of its columns are the data set's. A row without a value
// (kDrop), another key and the end of a file end a window. Errors: kNoInput when no file fits,
// kConfig when the columns are not as many as the shape says, kData with file and line.
//
// Errors: as OpenIdx; for CSV files as DescribeCsv, and kData for a cell that does not fit, with
// its line and column.
// Cost: IDX: OpenIdx. CSV: the first time one pass over the file, two where what its first 4 MiB
// tell of a column does not hold for all of it; later it is mapped from the cache. Memory beside
// the mapping: some bytes a row while it is converted.
Result<Dataset> Open(const Source& source, const std::string& cache_folder);

// Returns: some samples as a data set of their own, read in the same way. Requires: rows below
// set.size(), not empty.  Cost: a copy of them in memory.
Dataset Extract(const Dataset& set, std::span<const std::uint32_t> rows);

// How many numbers a normalisation of samples of this shape has: their last extent for kPerChannel,
// else their features.
std::size_t PeriodOf(Normalize normalize, const std::vector<std::size_t>& shape);

// Fits mean and standard deviation (kMinMax: minimum and range) on the elements of some samples. A
// number that is the same in all of them gets 1 for its deviation, so that it becomes 0.
// Requires: IsFitted(normalize); rows not empty, below set.size().
// Determinism: sums in double, in the order of rows.  Cost: two passes over the rows.
Standard Fit(const Dataset& set, std::span<const std::uint32_t> rows, Normalize normalize);

// Limits, each checked before anything of that size is allocated or written.
inline constexpr std::size_t kMaxIdxDimensions = 8;
inline constexpr ByteCount kMaxUnpackedBytes{std::uint64_t{8} << 30};  // of one copy in the cache

// Opens and checks a data set.
//
// Elements of samples: bytes (type 0x08) stay bytes; signed bytes (0x09) and 16-bit integers (0x0B)
// become int16; 32-bit integers (0x0C), floats (0x0D) and doubles (0x0E) become float32, rounded to
// nearest. Targets are float32 whatever their type. Every value must be finite as a float32.
//
// A file that is gzipped, or holds anything but unsigned bytes, is copied once into `cache_folder`
// (made when missing, mode 0700) under a name that hashes its absolute path, size and time of
// change; later calls, and other processes, map that copy. Two processes that need it at once wait
// for one another and then share it. A copy of the wrong size or with another header is made anew.
// Plain files of bytes are mapped where they are.
//
// Without labels and targets the samples have no answers.
//
// Errors: kNoInput when a file is missing, kNoPermission when it can't be read, kData for its
//   content: not a regular file, empty, type byte, number of dimensions, sizes that overflow,
//   truncated, longer than its header says, damaged gzip, a copy above kMaxUnpackedBytes, different
//   counts of samples and answers, a value that is not finite, a label that is no whole number or
//   not below `classes`; kCantCreate or kIo when the cache can't be written. `where` is the file
//   and, where it applies, the byte offset in the unpacked file.
// Cost: first time one pass over the file; afterwards a few system calls and one pass over the
// labels.
Result<Dataset> OpenIdx(const Source& source, const std::string& cache_folder);

// Returns: whether a file is an IDX file, plain or gzipped, or an NPY file, by its first bytes.
// Errors: those of opening it: kNoInput, kNoPermission, kIo; kData when it is no regular file or
// empty.
Result<bool> IsIdx(const std::string& path);

// Checks that every element is a symbol: a whole number below `symbols`.
// Errors: kData with the first sample and element that is none; `where` is the caller's.
// Cost: one pass over the samples.
Status CheckSymbols(const Dataset& dataset, std::size_t symbols, const std::string& where);

// Reads a one-dimensional IDX file as whole numbers: the key column of PartitionByKey (device of a
// sample).
// Errors: as OpenIdx.
Result<std::vector<std::uint32_t>> OpenIdxColumn(const std::string& path,
                                                 const std::string& cache_folder);

}  // namespace covey::data
