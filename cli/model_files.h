// covey model info, export, import, diff, rollback.
#pragma once

#include <string>

#include "covey/base/result.h"
#include "covey/config/node_config.h"

namespace covey {

struct ModelFileOptions {
  std::string first;   // a model file, or a folder that holds published models
  std::string second;  // another model file
  bool json = false;
  bool replace = false;
};

// All print to stdout what they did or found.

Status ModelInfo(const ModelFileOptions& options);
// Writes the model of `first` as `second`, in the format of its ending.
Status ModelExport(const ModelFileOptions& options);
// Makes the model of `first` what the node of `config` starts from.
// Errors: kTemporary while the node runs; kCantCreate when it has checkpoints and not `replace`.
Status ModelImport(const ModelFileOptions& options, const config::NodeConfig& config);
// Errors: kProtocol when the architectures differ.
Status ModelDiff(const ModelFileOptions& options);
// Of the node of `config`.
Status ModelRollback(const ModelFileOptions& options, const config::NodeConfig& config);

}  // namespace covey
