#include "data_command.h"

#include <cstdio>
#include <string>

#include "covey/config/node_config.h"
#include "covey/config/paths.h"
#include "data_text.h"

namespace covey {

struct DataCommand::Options {
  DescribeOptions describe;
  std::string header = "auto";
};

DataCommand::DataCommand(command_line::Command& program) : options_(std::make_unique<Options>()) {
  command_line::Command& data = program.Sub("data", "Look at data files");
  command_line::Command& describe = data.Sub(
      "describe", "Show what a file holds, what looks wrong, and what to write into a node file");
  DescribeOptions& options = options_->describe;
  describe.Add("FILE", options.file, "CSV file, or IDX file of samples").Required();
  describe.Flag("--json", options.json, "Print JSON");
  describe.Add("--labels", options.labels, "IDX file of the samples' labels");
  describe.Add("--label", options.csv.label, "Column of the classes, by name or number from 1");
  describe.Add("--key", options.csv.key, "Column to divide by, no feature");
  describe.Add("--ignore", options.csv.ignore, "Columns that are no features");
  describe.Add("--categories", options.csv.categories, "Columns of names");
  describe.Add("--separator", options.csv.separator, "One character, or tab");
  describe.Add("--header", options_->header, "Whether the first line names the columns")
      .OneOf({"auto", "yes", "no"});
  describe_ = &describe;
}

DataCommand::~DataCommand() = default;

std::optional<Status> DataCommand::Run() {
  if (!describe_->given()) return std::nullopt;
  using Header = data::CsvSettings::Header;
  options_->describe.csv.header = options_->header == "yes"  ? Header::kYes
                                  : options_->header == "no" ? Header::kNo
                                                             : Header::kAuto;
  config::NodeConfig config;
  config::FillPaths(config, config::Environment::OfProcess());
  options_->describe.cache = config.data.cache;
  const Result<std::string> text = DescribeData(options_->describe);
  if (!text) return tl::unexpected(text.error());
  std::fputs(text->c_str(), stdout);
  return Status();
}

}  // namespace covey
