// Samples that come as files: a folder that tables are renamed into, and a table that grows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "covey/base/result.h"
#include "covey/data/live_rows.h"
#include "node/intake.h"

namespace covey::node {

// Takes whole tables. Names that begin with a dot or end in .tmp or .part are passed over: a table
// is written under such a name and then renamed. A table with a single wrong row is not taken at
// all: it goes to <folder>/bad, with <name>.reason beside it; a good one goes to <folder>/done, or
// is removed. A node that is killed in between goes on where it was: every row is taken once.
class Spool {
 public:
  Spool(Intake& intake, std::string folder, bool remove);

  // Makes the folders. Errors: kCantCreate, kNoPermission.
  Status Prepare();
  // Takes what is there, in the order of names.
  // Errors: kIo of the journal: to be tried again later.
  Status Scan();

 private:
  Status TakeFile(const std::string& name);
  Result<std::string> CheckRows(const std::string& text) const;
  Status AddRows(const std::string& text, const std::string& identity, std::size_t done);
  void Quarantine(const std::string& name, const std::string& reason);

  Intake& intake_;
  const std::string folder_;
  const bool remove_;
};

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
