// The file in which a node keeps whom the operator let in and sent away (membership/roster.h).
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "covey/base/result.h"
#include "covey/membership/roster.h"

namespace covey::node {

class RosterStore {
 public:
  explicit RosterStore(std::string path) : path_(std::move(path)) {}

  // Takes every good record of the file into `roster`. What is wrong with a file is told about, and
  // a copy of it kept as <path>.damaged.
  // Errors: those of the system. A node that can't read it must not start: it would let in whom the
  // operator has sent away.
  Status Load(membership::Roster& roster) const;

  // The text that the next Save writes. Thread: any.
  void Change(std::string text);
  // Writes what changed; a failure is told about and tried again.
  void Save();

 private:
  const std::string path_;
  std::mutex mutex_;
  std::optional<std::string> changed_;
};

}  // namespace covey::node
