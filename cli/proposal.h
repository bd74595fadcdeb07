// What a table says about the model and the settings that suit it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "covey/data/csv.h"
#include "covey/data/normalization.h"

namespace covey {

struct Proposal {
  std::vector<std::size_t> input;
  std::size_t outputs = 0;
  bool classes = true;  // otherwise numbers are predicted
  data::LabelNames labels;
  data::Standard standard;
};

// The model's ends and the normalisation for a table that is read by these settings.
Proposal Propose(const data::CsvSummary& summary, const data::CsvSettings& settings);

// The settings by which a file was read, as a line `csv: {...}` of the section `data`; empty when
// they say nothing.
std::string SettingsText(const data::CsvSettings& settings);

// Whether a column holds classes rather than a quantity.
bool IsClass(const data::CsvColumn& column);

// Whether a column rises from row to row, as counters and clocks do.
bool CountsRows(const data::CsvSummary& summary, const data::CsvColumn& column);

}  // namespace covey
