#include "data/numbered.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "covey/data/csv.h"
#include "data/csv_columns.h"
#include "data/csv_reader.h"

namespace covey::data {
namespace {

bool AreSmallNumbers(const std::vector<std::string>& names, double most) {
  return std::all_of(names.begin(), names.end(), [most](const std::string& name) {
    double value = 0;
    return ParseNumber(name, value) && value >= 0 && value <= most && value == std::floor(value);
  });
}

// Where each name goes: the number that it is, or its rank.
template <class T>
std::vector<T> OrderOf(const std::vector<std::string>& names, bool numbers,
                       const std::vector<std::string>& sorted) {
  std::vector<T> order;
  for (const std::string& name : names) {
    double value = 0;
    if (numbers) {
      ParseNumber(name, value);
    } else {
      value = static_cast<double>(std::find(sorted.begin(), sorted.end(), name) - sorted.begin());
    }
    order.push_back(static_cast<T>(value));
  }
  return order;
}

}  // namespace

ClassNumbers::ClassNumbers(const LabelNames& given) : given_(given) {
  for (const std::string& name : given_) numbers_.Of(name);
}

Result<std::uint32_t> ClassNumbers::Of(std::string_view name) {
  if (given_.empty()) {
    const std::uint32_t number = numbers_.Of(name);
    if (number < kMaxCategories) return number;
    return Fail(ErrorCode::kData, "",
                "more than " + std::to_string(kMaxCategories) + " different classes",
                "name the column of classes in data.csv.label; to predict a number choose "
                "model.loss: mean_squared_error");
  }
  if (const std::optional<std::uint32_t> known = numbers_.Known(name)) return *known;
  // A class may stand in the table by its number and have its name in the configuration.
  double number = 0;
  if (ParseNumber(name, number) && number == std::floor(number) && number >= 0 &&
      number < static_cast<double>(given_.size())) {
    return static_cast<std::uint32_t>(number);
  }
  return Fail(ErrorCode::kData, "", "class '" + std::string(name) + "' is new",
              "known classes are " + Summary(given_, 120) + "; list all of them in data.labels");
}

Status ClassNumbers::Finish(TableWriter& table) const {
  if (!given_.empty()) return table.Finish(given_, static_cast<std::uint32_t>(given_.size()));
  std::vector<std::string> sorted = numbers_.names();
  SortNames(sorted);
  const bool numbers = AreSmallNumbers(sorted, kMaxCategories - 1);
  const auto order = OrderOf<std::uint8_t>(numbers_.names(), numbers, sorted);
  table.Renumber(order);
  const std::uint32_t classes = *std::max_element(order.begin(), order.end()) + 1u;
  return table.Finish(numbers ? LabelNames() : sorted, classes);
}

void FinishKeys(const Numbered& keys, TableWriter& table) {
  std::vector<std::string> sorted = keys.names();
  SortNames(sorted);
  const bool numbers = AreSmallNumbers(sorted, 4294967295.0);
  table.RenumberKeys(OrderOf<std::uint32_t>(keys.names(), numbers, sorted));
}

}  // namespace covey::data
