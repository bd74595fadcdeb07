// The figures of the report.
#pragma once

#include <string>

#include "covey/harness/outcome.h"

namespace covey::harness {

// Each returns a complete <figure>, or "" when the outcome has nothing to draw.
std::string AccuracyFigure(const Outcome& outcome);
std::string LossFigure(const Outcome& outcome);
std::string NodesFigure(const Outcome& outcome);
std::string TrafficFigure(
    const Outcome& outcome);  // messages by kind: arrived, dropped, otherwise lost
std::string SpreadFigure(const Outcome& outcome);  // over virtual time
std::string TopologyFigure(const Outcome& outcome);

}  // namespace covey::harness
