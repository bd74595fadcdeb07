#include "covey/tensor/small_mlp.h"

#include <algorithm>
#include <cstring>

#include "covey/base/check.h"
#include "tensor/small_mlp_plan.h"

namespace covey::tensor {
namespace {

using Loss = SmallMlpShape::Loss;

constexpr std::size_t kMostParts = 64;
constexpr std::size_t kPartSamples = 512;   // of a part, unless that makes too many
constexpr std::size_t kRangeFloats = 4096;  // of the sum of all parts that one task adds up

std::size_t Parameters(const SmallMlpShape& shape) {
  std::size_t sum = 0;
  std::size_t inputs = shape.inputs;
  for (const auto& layer : shape.layers) {
    sum += (inputs + 1) * layer.units;
    inputs = layer.units;
  }
  return sum;
}

// Hands out places one behind the other.
class Places {
 public:
  std::size_t Take(std::size_t floats) {
    const std::size_t place = next_;
    next_ += Padded(floats);
    return place;
  }
  std::size_t size() const { return next_; }

 private:
  std::size_t next_ = 0;
};

SmallMlpPlan PlanOf(const SmallMlpShape& shape) {
  SmallMlpPlan plan;
  plan.loss = shape.loss;
  plan.numerics = shape.numerics;
  Places packed, scratch, part;
  std::size_t x = 0;
  std::size_t inputs = shape.inputs;
  std::size_t input = scratch.Take(kBlock * Padded(inputs));
  for (const auto& [units, curve] : shape.layers) {
    PlanLayer layer{.inputs = inputs,
                    .units = units,
                    .in_stride = Padded(inputs),
                    .out_stride = Padded(units),
                    .curve = curve,
                    .x = x};
    layer.across = packed.Take(inputs * layer.out_stride);
    layer.along = packed.Take(units * layer.in_stride);
    layer.bias = packed.Take(layer.out_stride);
    layer.input = input;
    layer.output = scratch.Take(kBlock * layer.out_stride);
    layer.delta = scratch.Take(kBlock * layer.out_stride);
    layer.gradient = part.Take(GradientRows(units) * layer.in_stride);
    layer.bias_gradient = part.Take(layer.out_stride);
    plan.layers.push_back(layer);
    input = layer.output;
    x += (inputs + 1) * units;
    inputs = units;
  }
  plan.transposed = scratch.Take(kBlock * inputs);
  plan.targets = scratch.Take(kBlock * Padded(inputs));
  plan.loss_lanes = scratch.Take(Padded(inputs));
  plan.packed_size = packed.size();
  plan.scratch_size = scratch.size();
  plan.part_size = part.size();
  return plan;
}

// Samples of a part; depends on nothing but their number.
std::size_t PartLength(std::size_t samples) {
  const std::size_t even = (samples + kMostParts - 1) / kMostParts;
  return std::max(kPartSamples, (even + kBlock - 1) / kBlock * kBlock);
}

}  // namespace

bool IsSmallMlp(const SmallMlpShape& shape) {
  if (shape.layers.empty() || shape.layers.size() > kSmallMlpLayers) return false;
  if (shape.inputs == 0 || shape.inputs > kSmallMlpWidth) return false;
  for (const auto& layer : shape.layers) {
    if (layer.units == 0 || layer.units > kSmallMlpWidth) return false;
  }
  if (shape.loss == Loss::kSoftmaxCrossEntropy && shape.layers.back().curve != Curve::kLinear) {
    return false;
  }
  return Parameters(shape) <= kSmallMlpParameters;
}

struct SmallMlp::Impl {
  Impl(const SmallMlpShape& shape, std::size_t workers)
      : plan(PlanOf(shape)),
        parameters(Parameters(shape)),
        width(workers),
        packed(plan.packed_size),
        scratch(plan.scratch_size * workers) {}

  void Pack(const float* x);
  void Unpack(float* gradient) const;
  void AddParts(std::size_t parts, Tasks& tasks);
  LossSum Run(ConstVectorView x, const SampleSet& samples, Tasks& tasks, bool with_gradient);

  SmallMlpPlan plan;
  std::size_t parameters;
  std::size_t width;
  FlatVector packed;
  FlatVector scratch;  // [width][plan.scratch_size]
  FlatVector parts;    // [parts of the largest set so far][plan.part_size]
  LossSum losses[kMostParts];
};

void SmallMlp::Impl::Pack(const float* x) {
  for (const PlanLayer& layer : plan.layers) {
    const float* weights = x + layer.x;
    float* across = packed.data() + layer.across;
    float* along = packed.data() + layer.along;
    for (std::size_t u = 0; u < layer.units; ++u) {
      for (std::size_t k = 0; k < layer.inputs; ++k) {
        const float weight = weights[u * layer.inputs + k];
        across[k * layer.out_stride + u] = weight;
        along[u * layer.in_stride + k] = weight;
      }
    }
    std::memcpy(packed.data() + layer.bias, weights + layer.units * layer.inputs,
                layer.units * sizeof(float));
  }
}

void SmallMlp::Impl::Unpack(float* gradient) const {
  const float* sum = parts.data();
  for (const PlanLayer& layer : plan.layers) {
    float* out = gradient + layer.x;
    for (std::size_t u = 0; u < layer.units; ++u) {
      std::memcpy(out + u * layer.inputs, sum + layer.gradient + u * layer.in_stride,
                  layer.inputs * sizeof(float));
    }
    std::memcpy(out + layer.units * layer.inputs, sum + layer.bias_gradient,
                layer.units * sizeof(float));
  }
}

// The first part becomes the sum of all, added in their order.
void SmallMlp::Impl::AddParts(std::size_t count, Tasks& tasks) {
  const std::size_t size = plan.part_size;
  tasks.Run((size + kRangeFloats - 1) / kRangeFloats, [&](std::size_t range) {
    const std::size_t begin = range * kRangeFloats;
    const std::size_t end = std::min(size, begin + kRangeFloats);
    float* sum = parts.data();
    for (std::size_t part = 1; part < count; ++part) {
      const float* one = parts.data() + part * size;
      for (std::size_t i = begin; i < end; ++i) sum[i] += one[i];
    }
  });
}

LossSum SmallMlp::Impl::Run(ConstVectorView x, const SampleSet& samples, Tasks& tasks,
                            bool with_gradient) {
  COVEY_CHECK(x.size() == parameters, x.size(), parameters);
  COVEY_CHECK(tasks.width() <= width, tasks.width(), width);
  const bool squared = plan.loss == Loss::kMeanSquaredError;
  COVEY_CHECK(samples.count == 0 || samples.values != nullptr);
  COVEY_CHECK(samples.count == 0 ||
              (squared ? samples.targets != nullptr
                       : samples.labels != nullptr || samples.byte_labels != nullptr));
  const std::size_t length = PartLength(samples.count);
  const std::size_t count = (samples.count + length - 1) / length;
  if (with_gradient && parts.size() < count * plan.part_size) {
    parts = FlatVector(count * plan.part_size);
  }
  Pack(x.data());
  const float scale = 1.0f / static_cast<float>(std::max<std::size_t>(samples.count, 1));
  tasks.Run(count, [&](std::size_t part, std::size_t worker) {
    losses[part] = RunSmallMlpPart(
        plan, {.samples = &samples,
               .begin = part * length,
               .end = std::min(samples.count, (part + 1) * length),
               .scale = scale,
               .packed = packed.data(),
               .scratch = scratch.data() + worker * plan.scratch_size,
               .gradient = with_gradient ? parts.data() + part * plan.part_size : nullptr});
  });
  LossSum total;
  for (std::size_t part = 0; part < count; ++part) {
    total.loss_sum += losses[part].loss_sum;
    total.correct += losses[part].correct;
  }
  if (with_gradient) AddParts(count, tasks);
  return total;
}

SmallMlp::SmallMlp(const SmallMlpShape& shape, std::size_t width) {
  COVEY_CHECK(IsSmallMlp(shape));
  COVEY_CHECK(width > 0, width);
  impl_ = std::make_unique<Impl>(shape, width);
}
SmallMlp::SmallMlp(SmallMlp&&) noexcept = default;
SmallMlp& SmallMlp::operator=(SmallMlp&&) noexcept = default;
SmallMlp::~SmallMlp() = default;

std::size_t SmallMlp::parameters() const { return impl_->parameters; }

LossSum SmallMlp::Gradient(ConstVectorView x, const SampleSet& samples, Tasks& tasks,
                           VectorView gradient) {
  COVEY_CHECK(gradient.size() == impl_->parameters, gradient.size(), impl_->parameters);
  COVEY_CHECK(samples.count > 0, samples.count);
  const LossSum loss = impl_->Run(x, samples, tasks, true);
  impl_->Unpack(gradient.data());
  return loss;
}

LossSum SmallMlp::Loss(ConstVectorView x, const SampleSet& samples, Tasks& tasks) {
  return impl_->Run(x, samples, tasks, false);
}

}  // namespace covey::tensor
