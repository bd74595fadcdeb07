#include "data_command.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "covey/config/node_config.h"
#include "covey/config/paths.h"
#include "covey/data/split.h"
#include "covey/store/file_system.h"
#include "data_text.h"
#include "table_options.h"

namespace covey {

struct DataCommand::Options {
  DescribeOptions describe;
  std::string header = "auto";
  std::string table;
  std::string kind = "iid";
  data::SplitSettings split;
  bool json = false;
};

DataCommand::DataCommand(command_line::Command& program) : options_(std::make_unique<Options>()) {
  command_line::Command& data = program.Sub("data", "Look at data files, divide them");
  command_line::Command& describe = data.Sub(
      "describe", "Show what a file holds, what looks wrong, and what to write into a node file");
  DescribeOptions& options = options_->describe;
  describe.Add("FILE", options.file, "CSV file, or IDX file of samples").Required();
  describe.Flag("--json", options.json, "Print JSON");
  describe.Add("--labels", options.labels, "IDX file of the samples' labels");
  AddTableOptions(describe, options.csv, options_->header);
  describe_ = &describe;
  AddSplit(data);
}

DataCommand::~DataCommand() = default;

void DataCommand::AddSplit(command_line::Command& data) {
  command_line::Command& split =
      data.Sub("split", "Divide the rows of a table into files, one for each node");
  data::SplitSettings& settings = options_->split;
  settings.partition.part.count = 2;
  split.Add("FILE", options_->table, "CSV file").Required();
  split.Add("--to", settings.folder, "Folder of the files").Required();
  split.Add("--parts", settings.partition.part.count, "How many").ShowDefault();
  split
      .Add("--kind", options_->kind,
           "iid: shuffled. mix_rate: by class, a fraction of each given to the others. dirichlet: "
           "classes spread at random. blocks: in the order of the file. key: by a column")
      .OneOf({"iid", "mix_rate", "dirichlet", "blocks", "key"})
      .ShowDefault();
  split.Add("--rate", settings.partition.rate, "mix_rate: fraction that is given away")
      .ShowDefault();
  split.Add("--alpha", settings.partition.alpha, "dirichlet: small is skewed").ShowDefault();
  split.Add("--seed", settings.partition.seed, "Of the shuffling").ShowDefault();
  split.Add("--label", settings.csv.label, "Column of the classes, by name or number from 1");
  split.Add("--key", settings.csv.key, "Column to divide by");
  split.Add("--separator", settings.csv.separator, "One character, or tab");
  split.Flag("--force", settings.overwrite, "Replace files that are there");
  split.Flag("--json", options_->json, "Print JSON");
  split_ = &split;
}

std::optional<Status> DataCommand::Run() {
  if (describe_->given()) return Describe();
  if (split_->given()) return Split();
  return std::nullopt;
}

Status DataCommand::Describe() const {
  options_->describe.csv.header = HeaderOf(options_->header);
  config::NodeConfig config;
  config::FillPaths(config, config::Environment::OfProcess());
  options_->describe.cache = config.data.cache;
  const Result<std::string> text = DescribeData(options_->describe);
  if (!text) return tl::unexpected(text.error());
  std::fputs(text->c_str(), stdout);
  return Status();
}

Status DataCommand::Split() const {
  const auto kind = data::ParsePartitionKind(options_->kind);
  if (!kind) return tl::unexpected(kind.error());
  options_->split.partition.kind = *kind;
  if (Status made = store::MakeFolder(options_->split.folder); !made) return made;
  auto parts = data::SplitCsv(options_->table, options_->split);
  if (!parts) {
    // What was wrong stands on the command line.
    if (parts.error().code == ErrorCode::kConfig) parts.error().code = ErrorCode::kUsage;
    return tl::unexpected(parts.error());
  }
  std::string text;
  nlohmann::ordered_json json = {{"schema", "covey.split/1"}};
  for (const data::SplitPart& part : *parts) {
    text += part.path + ": " + std::to_string(part.rows) + " rows\n";
    json["parts"].push_back({{"path", part.path}, {"rows", part.rows}});
  }
  if (options_->json) text = json.dump() + '\n';
  std::fputs(text.c_str(), stdout);
  return Status();
}

}  // namespace covey
