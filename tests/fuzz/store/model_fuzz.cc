// The model reader, for both formats: what it takes, it can write in both and reads the same.
#include <cstdint>

#include "covey/base/check.h"
#include "covey/store/model.h"

namespace {

void RequireSame(const covey::Result<covey::store::Model>& again,
                 const covey::store::Model& first) {
  COVEY_CHECK(again.has_value());
  COVEY_CHECK(covey::nn::FingerprintOf(again->spec) == covey::nn::FingerprintOf(first.spec));
  COVEY_CHECK(again->labels == first.labels && again->x.size() == first.x.size());
  COVEY_CHECK(again->input == first.input);
  for (std::size_t i = 0; i < first.x.size(); ++i) COVEY_CHECK(again->x[i] == first.x[i]);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const covey::ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto model = covey::store::DecodeModel(bytes, "fuzz");
  if (!model) {
    const covey::ErrorCode code = model.error().code;
    COVEY_CHECK(code == covey::ErrorCode::kData || code == covey::ErrorCode::kProtocol);
    return 0;
  }
  COVEY_CHECK(model->x.size() * sizeof(float) <= size);
  const auto safetensors = covey::store::EncodeModelSafetensors(*model);
  RequireSame(covey::store::DecodeModel(safetensors.view(), "fuzz"), *model);
  const auto onnx = covey::store::EncodeModelOnnx(*model);
  COVEY_CHECK(onnx.has_value());
  RequireSame(covey::store::DecodeModel(onnx->view(), "fuzz"), *model);
  return 0;
}
