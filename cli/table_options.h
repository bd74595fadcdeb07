// Options that say what the columns of a table are.
#pragma once

#include <string>

#include "covey/command_line/command.h"
#include "covey/data/csv.h"

namespace covey {

// Adds them; what they bind outlives the command.
inline void AddTableOptions(command_line::Command& command, data::CsvSettings& csv,
                            std::string& header) {
  command.Add("--label", csv.label, "Column of the classes, by name or number from 1");
  command.Add("--key", csv.key, "Column to divide by, no feature");
  command.Add("--ignore", csv.ignore, "Columns that are no features");
  command.Add("--categories", csv.categories, "Columns of names");
  command.Add("--separator", csv.separator, "One character, or tab");
  command.Add("--header", header, "Whether the first line names the columns")
      .OneOf({"auto", "yes", "no"});
}

inline data::CsvSettings::Header HeaderOf(const std::string& word) {
  using Header = data::CsvSettings::Header;
  return word == "yes" ? Header::kYes : word == "no" ? Header::kNo : Header::kAuto;
}

}  // namespace covey
