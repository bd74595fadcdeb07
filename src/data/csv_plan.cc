#include "data/csv_plan.h"

namespace covey::data {

Result<CsvPlan> PlanAs(const std::vector<std::string>& features, const CsvFile& csv,
                       const CsvRoles& roles, const std::string& path) {
  CsvPlan plan;
  for (const std::size_t i : roles.features) {
    const std::string prefix = csv.names[i] + '=';
    std::vector<std::string> names;
    for (const std::string& feature : features) {
      if (feature.starts_with(prefix)) names.push_back(feature.substr(prefix.size()));
    }
    plan.Add(i, csv.names[i], !names.empty(), names);
  }
  if (plan.feature_names == features) return plan;
  return Fail(ErrorCode::kData, path, "its columns are not those of the training data",
              "wanted the same columns with the same names in the same order");
}

Result<CsvPlan> PlanFrom(const CsvSummary& summary, const CsvRoles& roles,
                         const std::string& path) {
  using Type = CsvColumn::Type;
  CsvPlan plan;
  for (const std::size_t i : roles.features) {
    const CsvColumn& column = summary.columns[i];
    const bool listed = !roles.names[i].empty();
    if (!listed && (column.type == Type::kText || column.type == Type::kEmpty)) {
      return Fail(
          ErrorCode::kData, path,
          "column '" + column.name + "' " +
              (column.type == Type::kEmpty
                   ? "has no value at all"
                   : "holds more than " + std::to_string(kMaxCategories) + " different texts"),
          "name it in data.csv.ignore");
    }
    plan.Add(i, column.name, listed || column.type == Type::kCategory,
             listed ? roles.names[i] : column.values);
  }
  if (plan.feature_names.empty()) {
    return Fail(ErrorCode::kData, path, "no column is left for features",
                "is the separator the right one (data.csv.separator)?");
  }
  return plan;
}

}  // namespace covey::data
