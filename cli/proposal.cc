#include "proposal.h"

#include <algorithm>

#include "yaml.h"

namespace covey {
namespace {

using Type = data::CsvColumn::Type;

std::string HeaderWord(data::CsvSettings::Header header) {
  using Header = data::CsvSettings::Header;
  return header == Header::kYes ? "yes" : header == Header::kNo ? "no" : "";
}

}  // namespace

bool IsClass(const data::CsvColumn& column) {
  return column.type == Type::kCategory ||
         (column.type == Type::kNumber && column.whole && !column.values.empty() &&
          column.values.size() <= data::kMaxCategories && column.least >= 0 && column.most <= 255);
}

bool CountsRows(const data::CsvSummary& summary, const data::CsvColumn& column) {
  return column.type == Type::kNumber && column.rising && summary.rows > 20;
}

std::string SettingsText(const data::CsvSettings& settings) {
  std::string text;
  const auto add = [&text](const char* key, const std::string& value) {
    text += (text.empty() ? "" : ", ") + std::string(key) + ": " + value;
  };
  if (!settings.label.empty()) add("label", Yaml(settings.label));
  if (!settings.targets.empty()) add("targets", YamlList(settings.targets, Yaml));
  if (!settings.key.empty()) add("key", Yaml(settings.key));
  if (!settings.features.empty()) add("features", YamlList(settings.features, Yaml));
  if (!settings.ignore.empty()) add("ignore", YamlList(settings.ignore, Yaml));
  if (!settings.categories.empty()) add("categories", YamlList(settings.categories, Yaml));
  if (!settings.separator.empty()) add("separator", Yaml(settings.separator));
  if (settings.missing == data::CsvSettings::Missing::kDrop) add("missing", "drop");
  if (settings.header != data::CsvSettings::Header::kAuto) {
    add("header", HeaderWord(settings.header));
  }
  return text.empty() ? text : "    csv: {" + text + "}\n";
}

Proposal Propose(const data::CsvSummary& summary, const data::CsvSettings& settings) {
  Proposal proposal;
  std::size_t features = 0;
  const auto named = [](const std::vector<std::string>& names, std::size_t i,
                        const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end() ||
           std::find(names.begin(), names.end(), std::to_string(i + 1)) != names.end();
  };
  for (std::size_t i = 0; i < summary.columns.size(); ++i) {
    const data::CsvColumn& column = summary.columns[i];
    if (i == summary.label || named(settings.ignore, i, column.name) ||
        named({settings.key}, i, column.name) || named(settings.targets, i, column.name) ||
        column.type == Type::kText || column.type == Type::kEmpty) {
      continue;
    }
    if (column.type == Type::kNumber) {
      ++features;
      const auto deviation = static_cast<float>(column.deviation);
      proposal.standard.mean.push_back(static_cast<float>(column.mean));
      proposal.standard.std.push_back(deviation > 0 ? deviation : 1.0f);
      continue;
    }
    features += column.values.size();
    proposal.standard.mean.insert(proposal.standard.mean.end(), column.values.size(), 0.0f);
    proposal.standard.std.insert(proposal.standard.std.end(), column.values.size(), 1.0f);
  }
  proposal.input = {features};
  const data::CsvColumn& label = summary.columns[summary.label];
  proposal.classes = settings.targets.empty() && IsClass(label);
  proposal.outputs = proposal.classes
                         ? (label.type == Type::kNumber ? static_cast<std::size_t>(label.most) + 1
                                                        : label.values.size())
                         : std::max<std::size_t>(settings.targets.size(), 1);
  if (proposal.classes && label.type == Type::kCategory) proposal.labels = label.values;
  return proposal;
}

}  // namespace covey
