#include "covey/nn/network.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "covey/base/check.h"
#include "nn/folded.h"
#include "nn/shapes.h"
#include "nn/stage.h"
#include "nn/transpose.h"

namespace covey::nn {

struct Network::Step {
  Compiled made;
  std::string name;  // of its last layer
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  tensor::FlatVector converted;  // the input in the stage's order, where it comes in another
  tensor::FlatVector output;
  const float* input = nullptr;  // of the last pass; null: rows
};

Network::Network(const ModelSpec& spec, std::size_t batch, tensor::Tasks* tasks, std::uint64_t seed)
    : tasks_(tasks), numerics_(spec.numerics), seed_(seed), batch_(batch) {
  const ModelSpec folded = WithoutFoldedActivation(spec);
  Result<std::vector<LayerInfo>> infos = Infer(folded);
  COVEY_CHECK(infos.has_value());
  COVEY_CHECK(batch > 0, batch);
  if (tasks_ == nullptr) {
    own_tasks_ = std::make_unique<tensor::SerialTasks>();
    tasks_ = own_tasks_.get();
  }
  features_ = Volume(folded.input);
  outputs_ = Volume(infos->back().output);
  parameters_ = 0;
  std::size_t widest = 0;
  for (std::size_t l = 0; l < infos->size();) {
    Step step;
    step.made = Compile({.spec = folded,
                         .layers = folded.layers.data() + l,
                         .infos = infos->data() + l,
                         .count = infos->size() - l,
                         .offset = parameters_,
                         .batch = batch,
                         .width = tasks_->width(),
                         .index = l});
    step.inputs = Volume((*infos)[l].input);
    for (std::size_t i = 0; i < step.made.layers; ++i) parameters_ += (*infos)[l + i].parameters;
    l += step.made.layers;
    if (step.made.stage == nullptr) continue;
    step.name = (*infos)[l - 1].name;
    step.outputs = Volume((*infos)[l - 1].output);
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
  COVEY_CHECK(!steps_.empty() && steps_.back().made.output == Order::kByFeature);
  for (tensor::FlatVector& delta : deltas_) delta = tensor::FlatVector(widest);
}

Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;
Network::~Network() = default;

tensor::LossSum Network::Run(tensor::ConstVectorView x, const Batch& batch, float scale) {
  COVEY_CHECK(x.size() == parameters_, x.size(), parameters_);
  COVEY_CHECK(batch.size > 0 && batch.size <= batch_, batch.size, batch_);
  COVEY_CHECK(batch.labels.size() == batch.size, batch.labels.size(), batch.size);
  last_size_ = batch.size;
  ForwardPass pass{.batch = batch.size,
                   .x = x.data(),
                   .rows = batch.rows,
                   .training = scale != 0,
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
  float* outputs = steps_.back().output.data();
  if (scale != 0) {  // the loss turns a copy into its gradient; the outputs stay
    const std::size_t floats = outputs_ * tensor::PaddedBatch(batch.size);
    std::memcpy(deltas_[0].data(), outputs, floats * sizeof(float));
    outputs = deltas_[0].data();
  }
  return tensor::SoftmaxCrossEntropy(
      {.outputs = outputs_, .batch = batch.size, .scale = scale, .numerics = numerics_},
      batch.labels.data(), outputs);
}

tensor::LossSum Network::Evaluate(tensor::ConstVectorView x, const Batch& batch) {
  return Run(x, batch, 0);
}

tensor::LossSum Network::Forward(tensor::ConstVectorView x, const Batch& batch,
                                 std::uint64_t step) {
  step_ = step;
  return Run(x, batch, 1.0f / static_cast<float>(batch.size));
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

void Network::Backward(const float* x, const Batch& batch, const tensor::UpdateRule& rule,
                       float* target) {
  COVEY_CHECK(batch.size == last_size_, batch.size, last_size_);
  BackwardPass pass{.forward = {.batch = batch.size,
                                .x = x,
                                .rows = batch.rows,
                                .training = true,
                                .step = step_,
                                .seed = seed_,
                                .tasks = tasks_},
                    .rule = rule,
                    .target = target};
  float* delta = deltas_[0].data();  // the loss left its gradient there
  std::size_t spare = 1;
  for (std::size_t s = steps_.size(); s-- > 0;) {
    Step& step = steps_[s];
    pass.forward.input = step.input;
    pass.forward.output = step.output.data();
    pass.delta = delta;
    pass.before = s > 0 ? deltas_[spare].data() : nullptr;
    step.made.stage->Backward(pass);
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
