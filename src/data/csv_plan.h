// Which cells of a table become which features.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "covey/base/result.h"
#include "covey/data/csv.h"
#include "data/csv_columns.h"
#include "data/numbered.h"

namespace covey::data {

// One column of features.
struct FeatureColumn {
  std::size_t column = 0;
  bool category = false;
  std::size_t first = 0;  // its first feature
  Numbered names;         // of a category
};

struct CsvPlan {
  std::vector<FeatureColumn> columns;
  std::vector<std::string> feature_names;

  void Add(std::size_t column, const std::string& name, bool category,
           const std::vector<std::string>& names) {
    FeatureColumn feature;
    feature.column = column;
    feature.category = category;
    feature.first = feature_names.size();
    if (!category) feature_names.push_back(name);
    for (const std::string& value : names) {
      if (!category) break;
      feature.names.Of(value);
      feature_names.push_back(name + '=' + value);
    }
    columns.push_back(std::move(feature));
  }
};

// The features that the training data had, for data that are read as those.
// Errors: kData when the columns differ.
Result<CsvPlan> PlanAs(const std::vector<std::string>& features, const CsvFile& csv,
                       const CsvRoles& roles, const std::string& path);

// The features that follow from what the columns hold.
// Errors: kData for a column without values or with too many names, and when none is left.
Result<CsvPlan> PlanFrom(const CsvSummary& summary, const CsvRoles& roles, const std::string& path);

}  // namespace covey::data
