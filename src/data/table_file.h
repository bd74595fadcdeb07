// Samples that were converted once from another format, in a file of the cache that is mapped: what
// tables and image folders become.
//
// Layout, in the machine's order: header of 128 bytes, rows; behind them, each from the next
// multiple of 64 on, labels (u8) or targets (float32), keys (u32) where there are some, and texts
// (feature names, label names; u32 number, then u32 length and bytes of each).
// Name: a hash of the source's absolute path, size, time of change and of all settings that the
// content depends on. A file is used when its header and size agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "covey/base/result.h"
#include "covey/data/dataset.h"
#include "covey/tensor/rows.h"
#include "data/cache.h"

namespace covey::data {

// What all rows have in common.
struct TableForm {
  tensor::Element element = tensor::Element::kFloat32;
  std::vector<std::size_t> shape;  // of one sample
  std::size_t outputs = 0;         // targets a sample; 0: labels
  bool keys = false;
  std::vector<std::string> feature_names;
  LabelNames label_names;
  std::uint32_t classes = 0;
};

// A file that a table is written to.
class TableFile {
 public:
  // Requires: a descriptor that is open for writing and outlives the object.
  TableFile(int file, std::string path) : file_(file), path_(std::move(path)) {}
  // Makes it empty.
  Status Restart();
  Status Write(std::uint64_t offset, ByteView bytes);

 private:
  int file_;
  std::string path_;
};

// Takes samples one by one. Rows go to the disk through a small buffer; answers and keys wait in
// memory, some bytes a sample, until the number of rows is known.
class TableWriter {
 public:
  // Requires: file is empty and outlives the writer.
  TableWriter(TableFile& file, TableForm form);

  // bytes: one row. Errors: kIo; kData above kMaxUnpackedBytes.
  Status Row(std::span<const std::uint8_t> bytes);
  void Label(std::uint8_t label) { labels_.push_back(label); }
  void Target(float target) { targets_.push_back(target); }
  void Key(std::uint32_t key) { keys_.push_back(key); }
  std::uint64_t rows() const { return rows_; }

  // Labels and keys were numbered as they came: l becomes order[l].
  void Renumber(const std::vector<std::uint8_t>& order);
  void RenumberKeys(const std::vector<std::uint32_t>& order);
  // Writes what is left and the header. Requires: as many answers as rows.
  Status Finish(LabelNames label_names, std::uint32_t classes);

 private:
  Status Flush();
  Status Append(ByteView bytes);  // from the next multiple of 64 on

  TableFile& file_;
  TableForm form_;
  std::size_t row_bytes_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t at_;  // where the buffer goes
  std::vector<std::uint8_t> buffer_;
  std::vector<std::uint8_t> labels_;
  std::vector<float> targets_;
  std::vector<std::uint32_t> keys_;
};

// Maps the table `key` of the cache folder, after letting `make` fill it when there is none or a
// bad one.  Errors: those of make; kCantCreate, kNoPermission, kIo for the cache.
Result<Dataset> OpenTable(const std::string& key, const std::string& cache_folder,
                          const std::function<Status(TableFile&)>& make);

// Returns: the part of a key that tells one state of a file from all others.
std::string StateOf(const InputFile& file, const std::string& path);

}  // namespace covey::data
