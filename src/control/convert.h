// What a daemon reports -> what the API says.
#pragma once

#include <cstdint>
#include <functional>

#include "covey/api/types.h"
#include "covey/node/daemon.h"
#include "covey/node/report.h"
#include "covey/setup/assemble.h"

namespace covey::control {

// CLOCK_MONOTONIC in nanoseconds of a time of the daemon.
using ToMonotonic = std::function<std::uint64_t(Time)>;

api::State ToState(node::Stage stage);
api::Evaluation ToEvaluation(const learner::Score& score, std::uint64_t time_ns);
api::FinalResults ToFinal(const learner::FinalScores& scores);

// Fills everything that comes from the report and the assembly; identity and build stay as they
// are.
void Fill(const node::Report& report, const setup::Assembly& assembly, const ToMonotonic& monotonic,
          api::NodeStatus& status);

// Asks the published model.
Result<api::Predictions> AnswerFrom(node::Daemon& daemon, const api::Question& question);

// Takes samples into the live shard.
Result<api::Pushed> PushTo(node::Daemon& daemon, const api::Samples& samples);

}  // namespace covey::control
