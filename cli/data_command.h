// The commands `covey data ...`.
#pragma once

#include <memory>
#include <optional>

#include "covey/base/result.h"
#include "covey/command_line/command.h"

namespace covey {

class DataCommand {
 public:
  // Adds the commands to a program, which outlives the object.
  explicit DataCommand(command_line::Command& program);
  ~DataCommand();
  // Returns: nothing when none of them was given, else what came of it. Requires: parsed.
  std::optional<Status> Run();

 private:
  struct Options;
  void AddSplit(command_line::Command& data);
  Status Describe() const;
  Status Split() const;

  std::unique_ptr<Options> options_;
  const command_line::Command* describe_ = nullptr;
  const command_line::Command* split_ = nullptr;
};

}  // namespace covey
