// The command `covey init`.
#pragma once

#include <memory>
#include <optional>

#include "covey/base/result.h"
#include "covey/command_line/command.h"

namespace covey {

class InitCommand {
 public:
  // Adds the command to a program, which outlives the object.
  explicit InitCommand(command_line::Command& program);
  ~InitCommand();
  // Returns: nothing when it was not given, else what came of it. Requires: parsed.
  std::optional<Status> Run();

 private:
  struct Options;
  std::unique_ptr<Options> options_;
  const command_line::Command* command_ = nullptr;
};

}  // namespace covey
