#include "setup/live.h"

#include "covey/nn/model.h"

namespace covey::setup {

data::Dataset NoSamplesYet(const config::NodeConfig& config) {
  const bool labels = nn::HasLabels(config.model);
  const std::size_t outputs = nn::Outputs(config.model);
  const data::Source& source = config.data.train;
  data::Dataset::Memory memory{.shape = config.model.input,
                               .rows = {},
                               .labels = {},
                               .classes = labels ? static_cast<std::uint32_t>(outputs) : 0,
                               .normalize = source.normalize,
                               .scale = source.scale,
                               .element = tensor::Element::kFloat32,
                               .outputs = labels ? 0 : outputs,
                               .feature_names = data::FeatureNamesOf(source.csv_settings)};
  memory.targets.reserve(1);  // an address: it tells targets from labels
  if (nn::Symbols(config.model) > 0) memory.normalize = data::Normalize::kNone;
  return data::Dataset::FromMemory(std::move(memory));
}

data::LiveForm LiveFormOf(const config::NodeConfig& config, const data::Dataset& like) {
  data::LiveForm form;
  form.like = like;
  if (nn::HasLabels(config.model)) {
    form.classes = static_cast<std::uint32_t>(nn::Outputs(config.model));
  }
  form.symbols = nn::Symbols(config.model);
  form.share = config.data.validation_share;
  form.seed = config.node.seed;
  form.node = config.node.index;
  form.csv = config.data.train.csv_settings;
  form.image_fit = config.data.train.image_fit;
  return form;
}

}  // namespace covey::setup
