#include "store/portable_tensors.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace covey::store {
namespace {

using Extents = std::vector<std::size_t>;

std::size_t Product(const Extents& extents) {
  std::size_t product = 1;
  for (const std::size_t extent : extents) product *= extent;
  return product;
}

// Strides of a row-major tensor.
Extents RowMajor(const Extents& extents) {
  Extents strides(extents.size(), 1);
  for (std::size_t k = extents.size(); k-- > 1;) strides[k - 1] = strides[k] * extents[k];
  return strides;
}

PortableTensor Plain(std::string name, const tensor::Slice& slice) {
  PortableTensor plain;
  plain.name = std::move(name);
  plain.shape = slice.shape;
  plain.extents = slice.shape;
  plain.strides = RowMajor(slice.shape);
  plain.offset = slice.offset;
  return plain;
}

// [n, height, width, channels] as [n, channels, height, width].
PortableTensor ChannelsFirst(const tensor::Slice& slice, const Extents& inner) {
  const std::size_t n = slice.shape[0];
  const std::size_t height = inner[0], width = inner[1], channels = inner[2];
  PortableTensor turned = Plain(slice.name, slice);
  turned.extents = {n, channels, height, width};
  turned.strides = {height * width * channels, 1, width * channels, channels};
  return turned;
}

// f(i, place in x) for every element i of the view.
template <class F>
void ForEach(const PortableTensor& tensor, F f) {
  Extents at(tensor.extents.size(), 0);
  std::size_t place = tensor.offset;
  const std::size_t size = tensor.size();
  for (std::size_t i = 0; i < size; ++i) {
    f(i, place);
    for (std::size_t k = at.size(); k-- > 0;) {
      place += tensor.strides[k];
      if (++at[k] < tensor.extents[k]) break;
      place -= tensor.strides[k] * tensor.extents[k];
      at[k] = 0;
    }
  }
}

}  // namespace

std::size_t PortableTensor::size() const { return Product(extents); }

bool KeepsOrder(const nn::LayerSpec& layer) {
  return std::holds_alternative<nn::Flatten>(layer) || std::holds_alternative<nn::Dropout>(layer) ||
         std::holds_alternative<nn::Activate>(layer);
}

bool IsReordered(const Extents& shape) {
  return shape.size() == 3 && shape[2] > 1 && shape[0] * shape[1] > 1;
}

std::optional<Extents> ImageBefore(const nn::ModelSpec& spec,
                                   const std::vector<nn::LayerInfo>& infos, std::size_t at) {
  while (at > 0 && KeepsOrder(spec.layers[at - 1])) --at;
  if (!IsReordered(infos[at].input)) return std::nullopt;
  return infos[at].input;
}

std::vector<PortableTensor> PortableTensors(const nn::ModelSpec& spec) {
  const std::vector<nn::LayerInfo> infos = *nn::Infer(spec);
  const tensor::Layout layout = nn::LayoutOf(spec);
  std::vector<PortableTensor> tensors;
  std::size_t next = 0;  // slice
  const auto slice = [&]() -> const tensor::Slice& { return layout.slices()[next++]; };
  const auto plain = [&] {
    const tensor::Slice& one = slice();
    tensors.push_back(Plain(one.name, one));
  };
  for (std::size_t l = 0; l < infos.size(); ++l) {
    const std::string& name = infos[l].name;
    if (std::holds_alternative<nn::Dense>(spec.layers[l])) {
      const std::optional<Extents> image = ImageBefore(spec, infos, l);
      if (image) {
        tensors.push_back(ChannelsFirst(slice(), *image));
      } else {
        plain();
      }
      plain();
    } else if (std::holds_alternative<nn::Conv2d>(spec.layers[l])) {
      const tensor::Slice& weight = slice();
      const Extents& shape = weight.shape;
      tensors.push_back(ChannelsFirst(weight, {shape[1], shape[2], shape[3]}));
      tensors.back().shape = tensors.back().extents;
      plain();
    } else if (std::holds_alternative<nn::Lstm>(spec.layers[l])) {
      tensors.push_back(Plain(name + ".weight_ih_l0", slice()));
      tensors.push_back(Plain(name + ".weight_hh_l0", slice()));
      const tensor::Slice& bias = slice();
      tensors.push_back(Plain(name + ".bias_ih_l0", bias));
      tensors.push_back(Plain(name + ".bias_hh_l0", bias));
      tensors.back().zero = true;
    } else {
      while (next < layout.slices().size() && layout.slices()[next].name.starts_with(name + ".")) {
        plain();
      }
    }
  }
  return tensors;
}

void CopyOut(const PortableTensor& tensor, tensor::ConstVectorView x, float* out) {
  if (tensor.zero) {
    std::fill_n(out, tensor.size(), 0.0f);
    return;
  }
  ForEach(tensor, [&](std::size_t i, std::size_t place) { out[i] = x[place]; });
}

void AddIn(const PortableTensor& tensor, const float* in, tensor::VectorView x) {
  ForEach(tensor, [&](std::size_t i, std::size_t place) { x[place] += in[i]; });
}

}  // namespace covey::store
