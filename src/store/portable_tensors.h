// How the parameters of a model lie in files that other programs read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "covey/nn/model.h"
#include "covey/tensor/flat_vector.h"

namespace covey::store {

// A tensor of a file as a view into the flat vector.
// Equation: element (i_0, i_1, ...) of the view is x[offset + sum_k i_k strides[k]].
struct PortableTensor {
  std::string name;
  std::vector<std::size_t> shape;    // in the file
  std::vector<std::size_t> extents;  // of the view; as many elements as `shape`
  std::vector<std::size_t> strides;
  std::size_t offset = 0;
  bool zero = false;  // written as zeros, added when read: the second bias of an LSTM

  std::size_t size() const;
};

// Returns: the tensors in the order of their layers. Requires: a valid spec.
std::vector<PortableTensor> PortableTensors(const nn::ModelSpec& spec);

// The shape of the image whose flattened values layer `at` reads, when they are in another order
// outside of Covey (more than one channel and more than one place); layers that treat every value
// alike may stand between.
// Requires: layer `at` is a Dense; infos of the spec.
std::optional<std::vector<std::size_t>> ImageBefore(const nn::ModelSpec& spec,
                                                    const std::vector<nn::LayerInfo>& infos,
                                                    std::size_t at);

// Whether a layer treats every value alike, wherever it lies, so that the order does not matter.
bool KeepsOrder(const nn::LayerSpec& layer);

// Whether an image has another order outside of Covey.
bool IsReordered(const std::vector<std::size_t>& shape);

// out[i] = element i of the view. Shapes: out [tensor.size()].
void CopyOut(const PortableTensor& tensor, tensor::ConstVectorView x, float* out);
// Element i of the view += in[i].
void AddIn(const PortableTensor& tensor, const float* in, tensor::VectorView x);

}  // namespace covey::store
