// Samples that come in a table that grows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "covey/base/result.h"
#include "covey/data/live_rows.h"
#include "node/intake.h"

namespace covey::node {

// Follows a table at its end. Only lines that end are taken. When another file has its name
// (rotation) the old one is read to its end first; when it got shorter (truncation) it is read
// anew; its first line is the header again. A row that is wrong is rejected, and the next one read.
class Tail {
 public:
  // The file need not exist yet.
  Tail(Intake& intake, std::string path);
  ~Tail();
  Tail(const Tail&) = delete;
  Tail& operator=(const Tail&) = delete;

  // Takes what has come since.
  // Errors: kIo of the journal: nothing of this call counts as read.
  Status Poll();

 private:
  // Returns: whether there may be more.
  Result<bool> ReadSome();
  void OpenAt(std::uint64_t device, std::uint64_t inode);
  void Close();
  void Forget();
  bool TakeLine(std::string_view line, LiveBatch& batch);

  Intake& intake_;
  const std::string path_;
  int file_ = -1;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  std::uint64_t offset_ = 0;  // behind the last line that was taken
  std::optional<data::LiveRows> rows_;
  bool refused_ = false;  // its columns are wrong: no line of this file is taken
};

}  // namespace covey::node
