#include "node/last_good.h"

#include <string>

#include "covey/nn/model.h"
#include "covey/store/file_system.h"
#include "covey/store/safetensors.h"

namespace covey::node {

Error KeepLastGood(const config::NodeConfig& config, const learner::Snapshot& good, Error error) {
  if (good.x == nullptr) {
    error.hint += "; there are no earlier parameters to keep but those of checkpoints";
    return error;
  }
  const std::string path = config.node.state_dir + "/last-good.safetensors";
  Status written = store::MakeFolder(config.node.state_dir);
  if (written) {
    written = store::WriteSafetensors(
        path, nn::LayoutOf(config.model), good.x->view(),
        {{"model", nn::Summary(config.model)}, {"batches", std::to_string(good.batches)}});
  }
  error.hint +=
      written ? "; the parameters of batch " + std::to_string(good.batches) + " are kept in " + path
              : "; the last good parameters can't be kept: " + written.error().Format();
  return error;
}

}  // namespace covey::node
