#include "covey/nn/network.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "covey/base/check.h"
#include "nn/folded.h"
#include "nn/shapes.h"
#include "nn/single_stage.h"
#include "nn/stage.h"
#include "nn/transpose.h"

namespace covey::nn {

struct Network::Step {
  Compiled made;
  std::unique_ptr<SingleStage> single;  // once norms were asked for
  std::string name;                     // of its first layer with parameters, else of its last
  std::size_t layer = 0;                // its first, in the spec
  std::size_t offset = 0;               // of its parameters
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  tensor::FlatVector converted;  // the input in the stage's order, where it comes in another
  tensor::FlatVector output;
  const float* input = nullptr;  // of the last pass; null: rows
};

Network::Network(const ModelSpec& spec, std::size_t batch, tensor::Tasks* tasks, std::uint64_t seed)
    : spec_(WithoutFoldedActivation(spec)), tasks_(tasks), seed_(seed), batch_(batch) {
  Result<std::vector<LayerInfo>> infos = Infer(spec_);
  COVEY_CHECK(infos.has_value());
  infos_ = std::move(*infos);
  COVEY_CHECK(batch > 0, batch);
  if (tasks_ == nullptr) {
    own_tasks_ = std::make_unique<tensor::SerialTasks>();
    tasks_ = own_tasks_.get();
  }
  features_ = Volume(spec_.input);
  outputs_ = Volume(infos_.back().output);
  parameters_ = 0;
  std::size_t widest = 0;
  for (std::size_t l = 0; l < infos_.size();) {
    Step step;
    step.made = Compile({.spec = spec_,
                         .layers = spec_.layers.data() + l,
                         .infos = infos_.data() + l,
                         .count = infos_.size() - l,
                         .offset = parameters_,
                         .batch = batch,
                         .width = tasks_->width(),
                         .index = l});
    step.layer = l;
    step.offset = parameters_;
    step.inputs = Volume(infos_[l].input);
    step.name = infos_[l + step.made.layers - 1].name;
    for (std::size_t i = step.made.layers; i-- > 0;) {
      if (infos_[l + i].parameters > 0) step.name = infos_[l + i].name;
      parameters_ += infos_[l + i].parameters;
    }
    l += step.made.layers;
    if (step.made.stage == nullptr) continue;
    step.outputs = Volume(infos_[l - 1].output);
    const Order before = steps_.empty() ? Order::kBySample : steps_.back().made.output;
    if (steps_.empty() ? !step.made.reads_rows : before != step.made.input) {
      step.converted = tensor::FlatVector(BufferSize(step.made.input, step.inputs, batch));
    }
    step.output = tensor::FlatVector(BufferSize(step.made.output, step.outputs, batch));
    for (const std::size_t values : {steps_.empty() ? 0 : step.inputs, step.outputs}) {
      widest = std::max({widest, BufferSize(Order::kByFeature, values, batch),
                         BufferSize(Order::kBySample, values, batch)});
    }
    steps_.push_back(std::move(step));
  }
  COVEY_CHECK(!steps_.empty());
  if (steps_.back().made.output == Order::kBySample) {
    last_ = tensor::FlatVector(BufferSize(Order::kByFeature, outputs_, batch));
  }
  for (tensor::FlatVector& delta : deltas_) delta = tensor::FlatVector(widest);
  if (!HasLabels(spec_)) {
    targets_ = tensor::FlatVector(BufferSize(Order::kByFeature, outputs_, batch));
  }
}

Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;
Network::~Network() = default;

tensor::LossSum Network::Run(tensor::ConstVectorView x, const Batch& batch, Asked asked) {
  COVEY_CHECK(x.size() == parameters_, x.size(), parameters_);
  COVEY_CHECK(batch.size > 0 && batch.size <= batch_, batch.size, batch_);
  COVEY_CHECK(HasLabels(spec_) ? batch.labels.size() == batch.size : batch.targets != nullptr,
              batch.labels.size(), batch.size);
  COVEY_CHECK(batch.weights.empty() || batch.weights.size() == batch.size, batch.weights.size());
  last_size_ = batch.size;
  ForwardPass pass{.batch = batch.size,
                   .x = x.data(),
                   .rows = batch.rows,
                   .training = asked.scale != 0,
                   .step = step_,
                   .seed = seed_,
                   .tasks = tasks_};
  const float* values = nullptr;  // null: the rows
  for (Step& step : steps_) {
    if (step.converted.size() > 0) {
      float* to = step.converted.data();
      if (values == nullptr) {
        COVEY_CHECK(step.made.input == Order::kBySample);
        LoadRows(batch.rows, step.inputs, batch.size, to);
      } else if (step.made.input == Order::kBySample) {
        ToSamples(values, step.inputs, batch.size, to);
      } else {
        ToFeatures(values, step.inputs, batch.size, to);
      }
      values = to;
    }
    step.input = values;
    pass.input = values;
    pass.output = step.output.data();
    step.made.stage->Forward(pass);
    values = pass.output;
  }
  if (last_.size() > 0) ToFeatures(values, outputs_, batch.size, last_.data());
  if (!HasLabels(spec_)) GatherTargets(batch);
  return LossOf(batch, asked);
}

void Network::GatherTargets(const Batch& batch) {
  const std::size_t padded = tensor::PaddedBatch(batch.size);
  for (std::size_t b = 0; b < batch.size; ++b) {
    for (std::size_t c = 0; c < outputs_; ++c) targets_[c * padded + b] = batch.targets[b][c];
  }
  for (std::size_t c = 0; c < outputs_; ++c) {
    std::fill(targets_.data() + c * padded + batch.size, targets_.data() + (c + 1) * padded, 0.0f);
  }
}

tensor::LossSum Network::LossOf(const Batch& batch, Asked asked) {
  float* outputs = last_.size() > 0 ? last_.data() : steps_.back().output.data();
  if (asked.scale != 0) {  // the loss turns a copy into its gradient; the outputs stay
    const std::size_t floats = outputs_ * tensor::PaddedBatch(batch.size);
    std::memcpy(deltas_[0].data(), outputs, floats * sizeof(float));
    outputs = deltas_[0].data();
  }
  const tensor::LossBatch loss{.outputs = outputs_,
                               .batch = batch.size,
                               .scale = asked.scale,
                               .weights = asked.weights.empty() ? nullptr : asked.weights.data(),
                               .numerics = spec_.numerics};
  switch (spec_.loss) {
    case Loss::kSparseCategoricalCrossEntropy:
      return tensor::SoftmaxCrossEntropy(loss, batch.labels.data(), outputs);
    case Loss::kCategoricalCrossEntropy:
      return tensor::SoftmaxCrossEntropyTargets(loss, targets_.data(), outputs);
    case Loss::kBinaryCrossEntropy:
      return tensor::BinaryCrossEntropy(loss, targets_.data(), outputs);
    case Loss::kMeanSquaredError:
      return tensor::MeanSquaredError(loss, targets_.data(), outputs);
    case Loss::kHuber:
      return tensor::Huber(loss, {spec_.huber_delta}, targets_.data(), outputs);
  }
  return {};
}

tensor::LossSum Network::Evaluate(tensor::ConstVectorView x, const Batch& batch) {
  return Run(x, batch, {.weights = batch.weights});
}

tensor::LossSum Network::Forward(tensor::ConstVectorView x, const Batch& batch,
                                 std::uint64_t step) {
  step_ = step;
  return Run(x, batch, {.scale = 1.0f / static_cast<float>(batch.size), .weights = batch.weights});
}

void Network::Update(tensor::VectorView x, const Batch& batch, const tensor::UpdateRule& rule) {
  COVEY_CHECK(x.size() == parameters_, x.size(), parameters_);
  COVEY_CHECK(rule.kind != tensor::UpdateKind::kStore);
  Backward(x.data(), batch, rule, x.data());
}

void Network::Gradient(tensor::ConstVectorView x, const Batch& batch, tensor::VectorView out) {
  COVEY_CHECK(x.size() == parameters_, x.size(), parameters_);
  COVEY_CHECK(out.size() == parameters_, out.size(), parameters_);
  Backward(x.data(), batch, {.kind = tensor::UpdateKind::kStore, .first = out.data()}, out.data());
}

void Network::PrepareNorms() {
  for (Step& step : steps_) {
    const std::size_t next = &step == &steps_.back() ? parameters_ : (&step + 1)->offset;
    if (step.made.norms || step.single != nullptr || next == step.offset) continue;
    step.single = std::make_unique<SingleStage>(StageSource{.spec = spec_,
                                                            .layers = &spec_.layers[step.layer],
                                                            .infos = &infos_[step.layer],
                                                            .count = infos_.size() - step.layer,
                                                            .offset = step.offset,
                                                            .index = step.layer});
  }
}

void Network::SampleNorms(tensor::ConstVectorView x, const Batch& batch, std::span<double> norms,
                          tensor::VectorView scratch) {
  COVEY_CHECK(x.size() == parameters_, x.size(), parameters_);
  COVEY_CHECK(scratch.size() == parameters_, scratch.size(), parameters_);
  COVEY_CHECK(norms.size() == batch.size, norms.size(), batch.size);
  COVEY_CHECK(batch.size == last_size_, batch.size, last_size_);
  PrepareNorms();
  LossOf(batch, {.scale = 1});
  std::fill(norms.begin(), norms.end(), 0.0);
  // Stages without parameters have nothing to apply a rule to; the others look at `norms`.
  Backward(x.data(), batch, {.kind = tensor::UpdateKind::kStore, .first = scratch.data()},
           scratch.data(), norms.data());
  for (double& norm : norms) norm = std::sqrt(norm);
  last_size_ = 0;  // what the stages kept is used up
}

void Network::Backward(const float* x, const Batch& batch, const tensor::UpdateRule& rule,
                       float* target, double* norms) {
  COVEY_CHECK(batch.size == last_size_, batch.size, last_size_);
  BackwardPass pass{.forward = {.batch = batch.size,
                                .x = x,
                                .rows = batch.rows,
                                .training = true,
                                .step = step_,
                                .seed = seed_,
                                .tasks = tasks_},
                    .rule = rule,
                    .target = target,
                    .norms = norms};
  float* delta = deltas_[0].data();  // the loss left its gradient there
  std::size_t spare = 1;
  if (last_.size() > 0) {
    ToSamples(delta, outputs_, batch.size, deltas_[spare].data());
    delta = deltas_[spare].data();
    spare = 1 - spare;
  }
  for (std::size_t s = steps_.size(); s-- > 0;) {
    Step& step = steps_[s];
    pass.forward.input = step.input;
    pass.forward.output = step.output.data();
    pass.delta = delta;
    pass.before = s > 0 ? deltas_[spare].data() : nullptr;
    if (norms != nullptr && step.single != nullptr) {
      step.single->Backward(pass);
    } else {
      step.made.stage->Backward(pass);
    }
    if (s == 0) break;
    delta = deltas_[spare].data();
    spare = 1 - spare;
    if (step.converted.size() > 0) {
      float* to = deltas_[spare].data();
      if (step.made.input == Order::kBySample) {
        ToFeatures(delta, step.inputs, batch.size, to);
      } else {
        ToSamples(delta, step.inputs, batch.size, to);
      }
      delta = to;
      spare = 1 - spare;
    }
  }
}

const float* Network::LastOutputs() const {
  return last_.size() > 0 ? last_.data() : steps_.back().output.data();
}

std::optional<std::string> Network::FirstNonFinite() const {
  for (const Step& step : steps_) {
    const bool by_feature = step.made.output == Order::kByFeature;
    const std::size_t row =
        by_feature ? tensor::PaddedBatch(last_size_) : SampleStride(step.outputs);
    const std::size_t rows = by_feature ? step.outputs : last_size_;
    const std::size_t used = by_feature ? last_size_ : step.outputs;
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t i = 0; i < used; ++i) {
        if (!std::isfinite(step.output[r * row + i])) return step.name;
      }
    }
  }
  return std::nullopt;
}

}  // namespace covey::nn
