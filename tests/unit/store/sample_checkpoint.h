// A small checkpoint with everything in it.
#pragma once

#include <cstdint>
#include <utility>

#include "covey/base/sha256.h"
#include "covey/store/checkpoint.h"

namespace covey::test {

inline tensor::FlatVector Values(std::size_t size, float first) {
  tensor::FlatVector values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = first + 0.25f * static_cast<float>(i);
  return values;
}

inline constexpr std::size_t kSampleSize = 50;

inline store::Checkpoint SampleCheckpoint(std::uint64_t batches = 1234) {
  store::Checkpoint sample;
  sample.model = Sha256::Of(std::string_view("model"));
  sample.model_summary = "mlp 4-8-2";
  sample.created_by = "test";
  sample.session = SessionId{0xfedcba9876543210};
  sample.x = Values(kSampleSize, -3);
  for (const char* name : {"adam.m", "adam.v"}) {
    store::NamedVector slice;
    slice.name = name;
    slice.values = Values(kSampleSize, 7);
    sample.optimizer.push_back(std::move(slice));
  }
  sample.optimizer_steps = 99;
  sample.batches = batches;
  sample.rounds = 123;
  sample.cursor = data::Cursor{5, 64};
  store::Best best;
  best.loss = 0.35;
  best.accuracy = 0.875;
  best.epoch = 4.5;
  best.x = Values(kSampleSize, 1);
  sample.best = std::move(best);
  sample.counters = {{"weights_dropped", 17}, {"peers.position", 1ull << 40}};
  return sample;
}

inline store::Expected SampleExpected() {
  store::Expected expected;
  expected.model = SampleCheckpoint().model;
  expected.model_summary = "mlp 4-8-2";
  expected.size = kSampleSize;
  return expected;
}

}  // namespace covey::test
