// Pooling at every level against plain loops; the same bits at all of them.
#include "covey/tensor/pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "covey/base/random.h"
#include "covey/tensor/conv.h"
#include "support/levels.h"

namespace covey::tensor::pool_test {
namespace {

using test::AtEveryLevel;

constexpr std::size_t kSamples = 2;
constexpr double kTolerance = 1e-5;

std::vector<PoolShape> Shapes() {
  std::vector<PoolShape> shapes = {
      {},
      {.height = 6,
       .width = 6,
       .channels = 16,
       .size_height = 2,
       .size_width = 2,
       .stride_height = 2,
       .stride_width = 2},
      {.height = 7, .width = 5, .channels = 35, .size_height = 7, .size_width = 5},  // global
      {.height = 1, .width = 128, .channels = 6, .size_width = 4, .stride_width = 4},
  };
  Stream stream(6, 0, Purpose::kTest);
  for (int i = 0; i < 30; ++i) {
    const auto draw = [&](std::size_t most) {
      return 1 + static_cast<std::size_t>(stream.Below(most));
    };
    PoolShape shape{.height = draw(9), .width = draw(9), .channels = draw(36)};
    shape.size_height = draw(shape.height);
    shape.size_width = draw(shape.width);
    shape.stride_height = draw(4);
    shape.stride_width = draw(4);
    shapes.push_back(shape);
  }
  return shapes;
}

struct Fixture {
  explicit Fixture(const PoolShape& drawn)
      : s(drawn),
        in(SampleStride(s.features())),
        out(SampleStride(s.outputs())),
        input(kSamples * in),
        delta(kSamples * out),
        output(kSamples * out),
        gradient(kSamples * in),
        choice(kSamples * out, -1) {
    Stream stream(7, static_cast<std::uint32_t>(s.features()), Purpose::kTest);
    // Few distinct values: ties must go to the first place.
    for (std::size_t i = 0; i < input.size(); ++i) {
      input[i] = static_cast<float>(stream.Below(9)) - 4.0f;
    }
    for (float& d : delta.view()) d = stream.Uniform(-1.0f, 1.0f);
    for (float& g : gradient.view()) g = 9;  // to be overwritten
  }

  // body(index of the output, its first place) for each output of sample n.
  template <class Body>
  void ForOutputs(std::size_t n, Body body) const {
    std::size_t at = n * out;
    for (std::size_t y = 0; y < s.out_height(); ++y) {
      for (std::size_t x = 0; x < s.out_width(); ++x) {
        for (std::size_t c = 0; c < s.channels; ++c) {
          body(at++, y * s.stride_height * s.width + x * s.stride_width, c);
        }
      }
    }
    for (; at < (n + 1) * out; ++at) ASSERT_EQ(output[at], 0) << "padding";
  }

  template <class Body>
  void ForPlaces(std::size_t first, Body body) const {
    for (std::size_t a = 0; a < s.size_height; ++a) {
      for (std::size_t b = 0; b < s.size_width; ++b) body(first + a * s.width + b);
    }
  }

  void ExpectGradient(const std::vector<double>& expected) const {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(static_cast<double>(gradient[i]), expected[i], kTolerance) << i;
    }
  }

  PoolShape s;
  std::size_t in, out;
  FlatVector input, delta, output, gradient;
  std::vector<std::int32_t> choice;
};

std::string Bits(const Fixture& f) {
  std::string bits(reinterpret_cast<const char*>(f.output.data()), f.output.size() * 4);
  return bits.append(reinterpret_cast<const char*>(f.gradient.data()), f.gradient.size() * 4);
}

TEST(PoolProperty, MaxEqualsOracle) {
  AtEveryLevel([] {
    for (const PoolShape& shape : Shapes()) {
      Fixture f(shape);
      MaxPoolForward(shape, kSamples, f.input.data(), f.output.data(), f.choice.data());
      MaxPoolBackward(shape, kSamples, f.delta.data(), f.choice.data(), f.gradient.data());
      std::vector<double> expected(f.input.size());
      for (std::size_t n = 0; n < kSamples; ++n) {
        f.ForOutputs(n, [&](std::size_t at, std::size_t first, std::size_t c) {
          std::size_t best = first;
          const auto value = [&](std::size_t place) {
            return f.input[n * f.in + place * shape.channels + c];
          };
          f.ForPlaces(first, [&](std::size_t place) {
            if (value(place) > value(best)) best = place;
          });
          ASSERT_EQ(f.output[at], value(best)) << at;
          ASSERT_EQ(f.choice[at], static_cast<std::int32_t>(best)) << at;
          expected[n * f.in + best * shape.channels + c] += static_cast<double>(f.delta[at]);
        });
      }
      f.ExpectGradient(expected);
    }
  });
}

TEST(PoolProperty, AverageEqualsOracle) {
  AtEveryLevel([] {
    for (const PoolShape& shape : Shapes()) {
      Fixture f(shape);
      AveragePoolForward(shape, kSamples, f.input.data(), f.output.data());
      AveragePoolBackward(shape, kSamples, f.delta.data(), f.gradient.data());
      std::vector<double> expected(f.input.size());
      const double count = static_cast<double>(shape.size_height * shape.size_width);
      for (std::size_t n = 0; n < kSamples; ++n) {
        f.ForOutputs(n, [&](std::size_t at, std::size_t first, std::size_t c) {
          double sum = 0;
          f.ForPlaces(first, [&](std::size_t place) {
            const std::size_t i = n * f.in + place * shape.channels + c;
            sum += static_cast<double>(f.input[i]);
            expected[i] += static_cast<double>(f.delta[at]) / count;
          });
          ASSERT_NEAR(static_cast<double>(f.output[at]), sum / count, kTolerance) << at;
        });
      }
      f.ExpectGradient(expected);
    }
  });
}

TEST(PoolProperty, SameBitsAtEveryLevel) {
  for (const PoolShape& shape : Shapes()) {
    std::string first;
    AtEveryLevel([&] {
      Fixture f(shape);
      MaxPoolForward(shape, kSamples, f.input.data(), f.output.data(), f.choice.data());
      MaxPoolBackward(shape, kSamples, f.delta.data(), f.choice.data(), f.gradient.data());
      std::string bits = Bits(f);
      AveragePoolForward(shape, kSamples, f.input.data(), f.output.data());
      AveragePoolBackward(shape, kSamples, f.delta.data(), f.gradient.data());
      bits += Bits(f);
      if (first.empty()) first = bits;
      ASSERT_TRUE(bits == first);
    });
  }
}

TEST(PoolProperty, NaNPasses) {
  const PoolShape shape{.height = 3, .width = 3, .channels = 5, .size_height = 2, .size_width = 2};
  AtEveryLevel([&] {
    for (std::size_t place = 0; place < 9; ++place) {
      Fixture f(shape);
      f.input[place * 5 + 2] = std::numeric_limits<float>::quiet_NaN();
      MaxPoolForward(shape, 1, f.input.data(), f.output.data(), f.choice.data());
      for (std::size_t i = 0; i < shape.outputs(); ++i) {
        const std::size_t row = i / 5 / 2;
        const std::size_t column = i / 5 % 2;
        const bool sees = i % 5 == 2 && place / 3 >= row && place / 3 < row + 2 &&
                          place % 3 >= column && place % 3 < column + 2;
        ASSERT_EQ(std::isnan(f.output[i]), sees) << place << " " << i;
      }
    }
  });
}

}  // namespace
}  // namespace covey::tensor::pool_test
