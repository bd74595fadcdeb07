#include "init_command.h"

#include <string>

#include "init.h"
#include "table_options.h"

namespace covey {

struct InitCommand::Options {
  InitOptions init;
  std::string header = "auto";
};

InitCommand::InitCommand(command_line::Command& program) : options_(std::make_unique<Options>()) {
  command_line::Command& init =
      program.Sub("init", "Look at data, and write the files of a node that learns from them");
  InitOptions& options = options_->init;
  init.Add("DATA", options.data, "CSV file, IDX or NPY file, or folder of images").Required();
  init.Add("--to", options.to, "Folder of the node").ShowDefault();
  init.Add("--join", options.join, "join.yaml of a node whose fleet it shall join");
  init.Add("--invitation", options.invitation,
           "Of the operator: the fleet lets the node in by itself");
  init.Add("--name", options.name, "Name of the node; else the folder's");
  init.Add("--fleet", options.fleet, "Name of the fleet; else that of --join, or covey");
  init.Add("--listen", options.listen, "HOST:PORT; 0.0.0.0:7420 lets other machines in");
  init.Add("--advertise", options.advertise, "HOST:PORT where others reach it, if that differs");
  init.Add("--answers", options.answers, "IDX or NPY file of the samples' labels");
  init.Add("--classes", options.classes, "All classes of the fleet, where these data lack some");
  init.Add("--size", options.size, "Height and width that images are resized to").Values(2, 2);
  AddTableOptions(init, options.csv, options_->header);
  init.Flag("--force", options.force, "Write the files anew; the key stays");
  init.Flag("--yes", options.yes, "Ask nothing");
  init.Flag("--json", options.json, "Print JSON; ask nothing");
  command_ = &init;
}

InitCommand::~InitCommand() = default;

std::optional<Status> InitCommand::Run() {
  if (!command_->given()) return std::nullopt;
  options_->init.csv.header = HeaderOf(options_->header);
  return Init(options_->init);
}

}  // namespace covey
