// Names of states and drop reasons, as status output and metrics show them.
#pragma once

#include <string_view>

#include "covey/consensus/node.h"

namespace covey::consensus {

constexpr std::string_view Name(State state) {
  switch (state) {
    case State::kJoining:
      return "joining";
    case State::kTraining:
      return "training";
    case State::kSettling:
      return "settling";
    case State::kDone:
      return "done";
  }
  return "unknown";
}

constexpr std::string_view Name(DropReason reason) {
  switch (reason) {
    case DropReason::kNotPending:
      return "not_pending";
    case DropReason::kDuplicate:
      return "duplicate";
    case DropReason::kJoining:
      return "while_joining";
    case DropReason::kUnwantedCopy:
      return "unwanted_copy";
    case DropReason::kWrongSize:
      return "wrong_size";
    case DropReason::kTooFar:
      return "too_far";
    case DropReason::kCount:
      break;
  }
  return "unknown";
}

}  // namespace covey::consensus
