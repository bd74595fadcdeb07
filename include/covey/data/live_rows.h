// Lines of a table that arrive one by one, as samples.
//
// The rules of tables hold (covey/data/csv.h), but what columns hold does not follow from their
// cells: features are those that the node has already, or else all other columns, of numbers unless
// CsvSettings::categories lists their names. A line is one row: a cell can't hold a line end. A row
// without a value is refused.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "covey/base/result.h"
#include "covey/data/live.h"

namespace covey::data {

class LiveRows {
 public:
  // first: the first line of a table, which tells separator, columns and whether there is a header.
  // form outlives the object.
  // Errors: kData when the columns are not the node's; kConfig for a column that is not there.
  static Result<LiveRows> Start(std::string_view first, const LiveForm& form);
  LiveRows(LiveRows&&) noexcept;
  LiveRows& operator=(LiveRows&&) noexcept;
  ~LiveRows();

  bool header() const;  // whether `first` is no row

  // Returns: the sample of a line, valid until the next call.
  // Errors: kData with what is wrong and, for a class that was not declared, what to do.
  Result<LiveSample> Parse(std::string_view line);

 private:
  struct State;
  explicit LiveRows(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Whether a line holds nothing but blanks.
bool IsBlank(std::string_view line);

}  // namespace covey::data
