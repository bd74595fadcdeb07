// Kernels alone: the fused update and its neighbours in GB/s beside a STREAM triad of the same run,
// dense layers in GFLOP/s, activations and losses in elements; portable numerics beside fast ones.
//
// Rates are by CPU time, so a busy machine disturbs them less; compare within one run only. Bytes
// an element as STREAM counts them: Pull 16 (q and x read, x and d written), triad 12, Subtract 12,
// AllFinite 4. For another level: COVEY_BENCH_LEVEL=v3.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "covey/tensor/activation.h"
#include "covey/tensor/codec.h"
#include "covey/tensor/dense.h"
#include "covey/tensor/kernels.h"
#include "covey/tensor/loss.h"

namespace covey::tensor {
namespace {

constexpr std::int64_t kSmall = 57250;  // 784-72-10
constexpr std::int64_t kLarge = 1 << 20;

FlatVector Random(std::size_t n, std::uint32_t node) {
  Stream stream(1, node, Purpose::kTest);
  FlatVector values(n);
  for (float& value : values.view()) value = stream.Uniform(-1.0f, 1.0f);
  return values;
}

AlignedBuffer Encoded(const FlatVector& x) {
  AlignedBuffer bytes(EncodedSize(Encoding::kFloat32, x.size()));
  Encode(Encoding::kFloat32, x.view(), bytes.view());
  return bytes;
}

void SetRate(benchmark::State& state, std::int64_t bytes_per_element) {
  state.SetBytesProcessed(state.iterations() * state.range(0) * bytes_per_element);
  state.SetLabel(std::string(KernelLevel()));
}

// Arguments: elements, encoding of WEIGHTS, encoding of DELTAS.
void BM_Pull(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  const auto sent = static_cast<Encoding>(state.range(1));
  const auto replied = static_cast<Encoding>(state.range(2));
  FlatVector x = Random(n, 0);
  const FlatVector other = Random(n, 1);
  AlignedBuffer q(EncodedSize(sent, n));
  Encode(sent, other.view(), q.view());
  AlignedBuffer reply(EncodedSize(replied, n));
  for (auto _ : state) {
    Pull({sent, q.view()}, 0.5f, x.view(), {replied, reply.view()});
    benchmark::ClobberMemory();
  }
  SetRate(state, 16);
}
BENCHMARK(BM_Pull)
    ->Args({kSmall, 0, 0})
    ->Args({kLarge, 0, 0})
    ->Args({kSmall, 1, 1})
    ->Args({kSmall, 2, 2})
    ->Args({kSmall, 3, 3})
    ->Args({kSmall, 1, 4});

// a = b + s c with the compiler's own code for the build's baseline: what STREAM runs.
void BM_Triad(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  FlatVector a(n);
  const FlatVector b = Random(n, 0);
  const FlatVector c = Random(n, 1);
  float s = 0.5f;
  benchmark::DoNotOptimize(s);
  for (auto _ : state) {
    float* to = a.data();
    for (std::size_t i = 0; i < n; ++i) to[i] = b.data()[i] + s * c.data()[i];
    benchmark::ClobberMemory();
  }
  SetRate(state, 12);
}
BENCHMARK(BM_Triad)->Arg(kSmall)->Arg(kLarge);

void BM_Subtract(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  FlatVector x = Random(n, 0);
  const AlignedBuffer d = Encoded(Random(n, 1));
  for (auto _ : state) {
    Subtract(Encoding::kFloat32, d.view(), x.view());
    benchmark::ClobberMemory();
  }
  SetRate(state, 12);
}
BENCHMARK(BM_Subtract)->Arg(kSmall)->Arg(kLarge);

void BM_AllFinite(benchmark::State& state) {
  const FlatVector x = Random(static_cast<std::size_t>(state.range(0)), 0);
  for (auto _ : state) benchmark::DoNotOptimize(AllFinite(x.view()));
  SetRate(state, 4);
}
BENCHMARK(BM_AllFinite)->Arg(kSmall)->Arg(kLarge);

constexpr std::int64_t kFastArg = 0;
constexpr std::int64_t kPortableArg = 1;

Numerics NumericsOf(std::int64_t argument) {
  return argument == kPortableArg ? Numerics::kPortable : Numerics::kFast;
}

void Label(benchmark::State& state, Numerics numerics) {
  state.SetLabel(std::string(KernelLevel()) + " " + std::string(Name(numerics)));
}

// A dense layer: inputs, units, batch, numerics.
struct Layer {
  explicit Layer(const benchmark::State& state)
      : shape{.inputs = static_cast<std::size_t>(state.range(0)),
              .units = static_cast<std::size_t>(state.range(1)),
              .batch = static_cast<std::size_t>(state.range(2)),
              .numerics = NumericsOf(state.range(3))},
        padded(PaddedBatch(shape.batch)),
        x(Random(shape.units * (shape.inputs + 1), 0)),
        slots{FlatVector(x.size()), FlatVector(x.size())},
        output(shape.units * padded),
        delta(Random(shape.units * padded, 1)),
        before(shape.inputs * padded),
        scratch(DenseScratchSize(shape.batch)),
        bytes(shape.inputs * padded) {
    Stream stream(2, 0, Purpose::kTest);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(stream.Next32());
    for (std::size_t b = 0; b < padded; ++b) rows.push_back(bytes.data() + b * shape.inputs);
    input = {.rows = {.rows = rows.data(), .scale = 1.0f / 255}};
  }

  void Report(benchmark::State& state) const {
    const double flops = 2.0 * static_cast<double>(shape.inputs * shape.units * shape.batch);
    state.counters["FLOP/s"] = benchmark::Counter(flops * static_cast<double>(state.iterations()),
                                                  benchmark::Counter::kIsRate);
    Label(state, shape.numerics);
  }

  DenseShape shape;
  std::size_t padded;
  FlatVector x;
  FlatVector slots[2];
  FlatVector output, delta, before, scratch;
  std::vector<std::uint8_t> bytes;
  std::vector<const std::uint8_t*> rows;
  DenseInput input;
};

void BM_DenseForward(benchmark::State& state) {
  Layer layer(state);
  const float* bias = layer.x.data() + layer.shape.units * layer.shape.inputs;
  for (auto _ : state) {
    DenseForward(layer.shape, layer.input, layer.x.data(), bias, Epilogue::kRelu,
                 layer.scratch.data(), layer.output.data());
    benchmark::ClobberMemory();
  }
  layer.Report(state);
}
BENCHMARK(BM_DenseForward)->ArgsProduct({{784}, {72}, {8, 32, 128}, {kFastArg, kPortableArg}});

void BM_DenseBackward(benchmark::State& state) {
  Layer layer(state);
  for (auto _ : state) {
    DenseBackward(layer.shape, layer.x.data(), layer.delta.data(), nullptr, layer.before.data());
    benchmark::ClobberMemory();
  }
  layer.Report(state);
}
BENCHMARK(BM_DenseBackward)
    ->ArgsProduct({{72}, {10}, {32}, {kFastArg, kPortableArg}})
    ->ArgsProduct({{128}, {128}, {32}, {kFastArg, kPortableArg}});

void DenseUpdateWith(benchmark::State& state, UpdateKind kind) {
  Layer layer(state);
  const UpdateRule rule{.kind = kind,
                        .step = 1e-9f,
                        .decay = 0.9f,
                        .beta1 = 0.9f,
                        .beta2 = 0.999f,
                        .epsilon = 1e-7f,
                        .first = layer.slots[0].data(),
                        .second = layer.slots[1].data()};
  const DenseParameters at{
      .x = layer.x.data(), .weights = 0, .bias = layer.shape.units * layer.shape.inputs};
  for (auto _ : state) {
    DenseUpdate(layer.shape, layer.input, layer.delta.data(), rule, at, layer.scratch.data());
    benchmark::ClobberMemory();
  }
  layer.Report(state);
}

void BM_DenseUpdateSgd(benchmark::State& state) { DenseUpdateWith(state, UpdateKind::kSgd); }
void BM_DenseUpdateAdam(benchmark::State& state) { DenseUpdateWith(state, UpdateKind::kAdam); }
BENCHMARK(BM_DenseUpdateSgd)->ArgsProduct({{784}, {72}, {8, 32, 128}, {kFastArg, kPortableArg}});
BENCHMARK(BM_DenseUpdateAdam)->ArgsProduct({{784}, {72}, {8, 32, 128}, {kFastArg, kPortableArg}});

void SetElements(benchmark::State& state, std::size_t elements, Numerics numerics) {
  state.counters["elements/s"] =
      benchmark::Counter(static_cast<double>(elements) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
  Label(state, numerics);
}

// Function, numerics; over values from -4 to 4.
void BM_Activate(benchmark::State& state) {
  const Activation activation{.function = static_cast<Function>(state.range(0)),
                              .numerics = NumericsOf(state.range(1))};
  FlatVector values = Random(4096, 3);
  for (float& value : values.view()) value *= 4;
  FlatVector work = values.Clone();
  for (auto _ : state) {
    std::copy(values.view().begin(), values.view().end(), work.data());
    Activate(activation, work.size(), work.data());
    benchmark::ClobberMemory();
  }
  SetElements(state, work.size(), activation.numerics);
}
BENCHMARK(BM_Activate)
    ->ArgNames({"function", "portable"})
    ->ArgsProduct({{static_cast<std::int64_t>(Function::kRelu),
                    static_cast<std::int64_t>(Function::kTanh),
                    static_cast<std::int64_t>(Function::kSigmoid),
                    static_cast<std::int64_t>(Function::kHardSigmoid)},
                   {kFastArg, kPortableArg}});

void BM_SoftmaxCrossEntropy(benchmark::State& state) {
  const LossBatch batch{.outputs = static_cast<std::size_t>(state.range(0)),
                        .batch = static_cast<std::size_t>(state.range(1)),
                        .scale = 0.01f,
                        .numerics = NumericsOf(state.range(2))};
  const FlatVector logits = Random(batch.outputs * PaddedBatch(batch.batch), 4);
  FlatVector work = logits.Clone();
  const std::vector<std::uint32_t> labels(batch.batch, 0);
  for (auto _ : state) {
    std::copy(logits.view().begin(), logits.view().end(), work.data());
    benchmark::DoNotOptimize(SoftmaxCrossEntropy(batch, labels.data(), work.data()));
  }
  SetElements(state, batch.outputs * batch.batch, batch.numerics);
}
BENCHMARK(BM_SoftmaxCrossEntropy)->ArgsProduct({{10, 100}, {32}, {kFastArg, kPortableArg}});

}  // namespace
}  // namespace covey::tensor

int main(int argc, char** argv) {
  const char* level = std::getenv("COVEY_BENCH_LEVEL");
  if (level != nullptr && !covey::tensor::SetKernelLevel(level)) {
    std::fprintf(stderr, "COVEY_BENCH_LEVEL=%s: not on this machine\n", level);
    return 64;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 64;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
