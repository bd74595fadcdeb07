// Layers of ReferenceNetwork over [height, width, channels].
#pragma once

#include "nn/reference_layer.h"
#include "nn/shapes.h"

namespace covey::nn::reference {

// Windows over an image. Visits, place by place in row-major order, each tap that lies inside it.
struct Sweep {
  const LayerInfo& info;
  Extent size;
  Extent stride;
  Padding padding;

  // visit(place, tap, pixel): row-major numbers of the window, of the position in the window and of
  // the position in the image.
  template <class Visit>
  void Each(Visit visit) const {
    const std::size_t height = info.input[0], width = info.input[1];
    const Windows rows = WindowsOf(height, size.height, stride.height, padding);
    const Windows columns = WindowsOf(width, size.width, stride.width, padding);
    for (std::size_t i = 0; i < rows.count; ++i) {
      for (std::size_t j = 0; j < columns.count; ++j) {
        for (std::size_t a = 0; a < size.height; ++a) {
          for (std::size_t b = 0; b < size.width; ++b) {
            const std::size_t row = i * stride.height + a;
            const std::size_t column = j * stride.width + b;
            const bool inside = row >= rows.before && row - rows.before < height &&
                                column >= columns.before && column - columns.before < width;
            if (!inside) continue;
            visit(i * columns.count + j, a * size.width + b,
                  (row - rows.before) * width + column - columns.before);
          }
        }
      }
    }
  }
};

template <class T>
struct Layer<T, Conv2d> {
  const Conv2d& spec;

  std::size_t Taps() const { return spec.kernel.height * spec.kernel.width; }

  // visit(output, weight, input): indices of values that are multiplied.
  template <class Visit>
  void EachProduct(const LayerInfo& info, Visit visit) const {
    const std::size_t channels = info.input[2];
    const Sweep sweep{info, spec.kernel, spec.stride, spec.padding};
    sweep.Each([&](std::size_t place, std::size_t tap, std::size_t pixel) {
      for (std::size_t f = 0; f < spec.filters; ++f) {
        for (std::size_t c = 0; c < channels; ++c) {
          visit(place * spec.filters + f, (f * Taps() + tap) * channels + c, pixel * channels + c);
        }
      }
    });
  }

  Values<T> Forward(const Place<T>& at) const {
    const T* bias = at.parameters + spec.filters * Taps() * at.info.input[2];
    Values<T> output(Volume(at.info.output));
    for (std::size_t i = 0; i < output.size(); ++i) output[i] = bias[i % spec.filters];
    EachProduct(at.info, [&](std::size_t o, std::size_t w, std::size_t i) {
      output[o] += at.parameters[w] * at.input[i];
    });
    Activated(spec.activation, output);
    return output;
  }

  Values<T> Backward(const Place<T>& at, Return<T> back) const {
    ThroughActivation(spec.activation, back.output, back.delta);
    Values<T> before(at.input.size());
    EachProduct(at.info, [&](std::size_t o, std::size_t w, std::size_t i) {
      back.gradient[w] += back.delta[o] * at.input[i];
      before[i] += back.delta[o] * at.parameters[w];
    });
    T* bias = back.gradient + spec.filters * Taps() * at.info.input[2];
    for (std::size_t i = 0; i < back.delta.size(); ++i) bias[i % spec.filters] += back.delta[i];
    return before;
  }
};

template <class T>
struct Layer<T, Pool2d> {
  const Pool2d& spec;

  bool IsMax() const { return spec.kind == Pool2d::Kind::kMax; }

  // visit(output, tap, input).
  template <class Visit>
  void EachValue(const LayerInfo& info, Visit visit) const {
    const std::size_t channels = info.input[2];
    const Sweep sweep{info, spec.size, StrideOf(spec), Padding::kValid};
    sweep.Each([&](std::size_t place, std::size_t tap, std::size_t pixel) {
      for (std::size_t c = 0; c < channels; ++c) {
        visit(place * channels + c, tap, pixel * channels + c);
      }
    });
  }

  // Returns: for each output the index of the greatest input, the first of equal ones; a NaN is
  // greater than any number.
  std::vector<std::size_t> Greatest(const Place<T>& at) const {
    std::vector<std::size_t> best(Volume(at.info.output));
    EachValue(at.info, [&](std::size_t o, std::size_t tap, std::size_t i) {
      if (tap == 0 || at.input[i] > at.input[best[o]] || std::isnan(at.input[i])) best[o] = i;
    });
    return best;
  }

  T Share() const { return T{1} / static_cast<T>(spec.size.height * spec.size.width); }

  Values<T> Forward(const Place<T>& at) const {
    Values<T> output(Volume(at.info.output));
    if (IsMax()) {
      const auto best = Greatest(at);
      for (std::size_t o = 0; o < output.size(); ++o) output[o] = at.input[best[o]];
    } else {
      EachValue(at.info, [&](std::size_t o, std::size_t, std::size_t i) {
        output[o] += at.input[i] * Share();
      });
    }
    return output;
  }

  Values<T> Backward(const Place<T>& at, Return<T> back) const {
    Values<T> before(at.input.size());
    if (IsMax()) {
      const auto best = Greatest(at);
      for (std::size_t o = 0; o < best.size(); ++o) before[best[o]] += back.delta[o];
    } else {
      EachValue(at.info, [&](std::size_t o, std::size_t, std::size_t i) {
        before[i] += back.delta[o] * Share();
      });
    }
    return before;
  }
};

template <class T>
struct Layer<T, GlobalAveragePool> {
  const GlobalAveragePool& spec;

  static T Share(const LayerInfo& info) {
    return T{1} / static_cast<T>(info.input[0] * info.input[1]);
  }
  Values<T> Forward(const Place<T>& at) const {
    Values<T> output(at.info.input[2]);
    for (std::size_t i = 0; i < at.input.size(); ++i) {
      output[i % output.size()] += at.input[i] * Share(at.info);
    }
    return output;
  }
  Values<T> Backward(const Place<T>& at, Return<T> back) const {
    Values<T> before(at.input.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      before[i] = back.delta[i % back.delta.size()] * Share(at.info);
    }
    return before;
  }
};

}  // namespace covey::nn::reference
