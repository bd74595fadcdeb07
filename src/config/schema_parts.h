// The sections of a node file that describe what is learned and how: the other half of schema.cc.
#pragma once

#include "config/visitor.h"
#include "covey/config/node_config.h"

namespace covey::config {

void VisitModel(Visitor& v, nn::ModelSpec& m);
// `whole`: with the keys that an experiment fills for each node.
void VisitPartition(Visitor& v, data::PartitionSettings& p, bool whole);
// `labels`: the model's samples carry class labels, not targets.
void VisitData(Visitor& v, DataSettings& d, bool labels);
void VisitTrain(Visitor& v, TrainSettings& t);
void VisitConsensus(Visitor& v, consensus::Settings& c);
void VisitFaults(Visitor& v, FaultSettings& f);

}  // namespace covey::config
