#include "covey/store/model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "covey/v1/onnx.pb.h"
#include "support/model_zoo.h"
#include "support/temporary_folder.h"

namespace covey::store {
namespace {

using test::DrawZooModel;
using test::ModelZoo;
using test::Numbers;
using test::ZooModel;

void ExpectSame(const Model& got, const Model& wanted, const std::string& name) {
  EXPECT_EQ(nn::Describe(got.spec), nn::Describe(wanted.spec)) << name;
  EXPECT_EQ(SpecToJson(got.spec), SpecToJson(wanted.spec)) << name;
  EXPECT_EQ(got.input, wanted.input) << name;
  EXPECT_EQ(got.labels, wanted.labels) << name;
  EXPECT_EQ(got.features, wanted.features) << name;
  EXPECT_EQ(got.image_fit, wanted.image_fit) << name;
  EXPECT_EQ(got.facts, wanted.facts) << name;
  ASSERT_EQ(got.x.size(), wanted.x.size()) << name;
  for (std::size_t i = 0; i < got.x.size(); ++i) ASSERT_EQ(got.x[i], wanted.x[i]) << name << i;
}

TEST(Model, EveryLayerComesBackFromBothFormats) {
  for (const ZooModel& one : ModelZoo()) {
    Model model = DrawZooModel(one.spec, 5, Numbers::kFeatures);
    model.image_fit = data::ImageFit::kResize;
    for (std::size_t i = 0; i < nn::Features(one.spec); ++i) {
      model.features.push_back("column \"" + std::to_string(i));
    }
    const auto onnx = EncodeModelOnnx(model);
    ASSERT_TRUE(onnx) << one.name;
    const auto from_onnx = DecodeModel(onnx->view(), "a");
    ASSERT_TRUE(from_onnx) << from_onnx.error().Format();
    ExpectSame(*from_onnx, model, one.name);
    const auto safetensors = EncodeModelSafetensors(model);
    const auto from_safetensors = DecodeModel(safetensors.view(), "b");
    ASSERT_TRUE(from_safetensors) << from_safetensors.error().Format();
    ExpectSame(*from_safetensors, model, one.name);
  }
}

TEST(Model, FilesSayWhichFormatTheyAre) {
  const test::TemporaryFolder folder;
  const Model model = DrawZooModel(ModelZoo().front().spec, 5, Numbers::kOne);
  for (const char* name : {"m.onnx", "m.safetensors"}) {
    const std::string path = folder / name;
    ASSERT_TRUE(WriteModel(path, model));
    const auto read = ReadModel(path);
    ASSERT_TRUE(read) << read.error().Format();
    ExpectSame(*read, model, name);
    const auto x = ReadParameters(path, model.spec);
    ASSERT_TRUE(x);
    EXPECT_EQ((*x)[3], model.x[3]);
    const auto other = ReadParameters(path, ModelZoo()[1].spec);
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, ErrorCode::kProtocol);
  }
  EXPECT_EQ(WriteModel(folder / "m.bin", model).error().code, ErrorCode::kUsage);
  EXPECT_EQ(ReadModel(folder / "none.onnx").error().code, ErrorCode::kNoInput);
}

TEST(Model, TensorsHaveThePlacesThatPyTorchGivesThem) {
  nn::ModelSpec spec{{2, 2, 2}, {nn::Conv2d{.filters = 1, .kernel = {2, 2}}, nn::Dense{2}}};
  Model model = DrawZooModel(spec, 1, Numbers::kOne);
  // Inside: [filter][height][width][channel].
  for (std::size_t i = 0; i < 8; ++i) model.x[i] = static_cast<float>(i);
  const auto tensors = DecodeSafetensors(EncodeModelSafetensors(model).view(), "a");
  ASSERT_TRUE(tensors);
  const tensor::Slice* weight = tensors->layout.Find("conv1.weight");
  ASSERT_NE(weight, nullptr);
  EXPECT_EQ(weight->shape, (std::vector<std::size_t>{1, 2, 2, 2}));
  const float outer[] = {0, 2, 4, 6, 1, 3, 5, 7};
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(tensors->values[weight->offset + i], outer[i]);
}

TEST(Model, AnLstmTakesTheSumOfTwoBiases) {
  const nn::ModelSpec spec{{3, 2}, {nn::Lstm{.units = 1}, nn::Dense{2}}};
  const Model model = DrawZooModel(spec, 2, Numbers::kOne);
  auto tensors = DecodeSafetensors(EncodeModelSafetensors(model).view(), "a");
  ASSERT_TRUE(tensors);
  const tensor::Slice& second = *tensors->layout.Find("lstm1.bias_hh_l0");
  EXPECT_EQ(tensors->values[second.offset], 0.0f);
  tensors->values[second.offset] = 2;
  const test::TemporaryFolder folder;
  const std::string path = folder / "lstm.safetensors";
  // As another program would write it: no metadata.
  ASSERT_TRUE(WriteSafetensors(path, tensors->layout, tensors->values.view(), {}));
  const auto x = ReadParameters(path, spec);
  ASSERT_TRUE(x) << x.error().Format();
  const std::size_t bias = nn::LayoutOf(spec).Find("lstm1.bias")->offset;
  EXPECT_EQ((*x)[bias], model.x[bias] + 2);
  EXPECT_EQ(ReadModel(path).error().code, ErrorCode::kData);
}

// Each damage is told by a text that names it.
TEST(Model, DamagedMetadataAreRefused) {
  const Model model = DrawZooModel(ModelZoo().front().spec, 5, Numbers::kFeatures);
  const auto tensors = DecodeSafetensors(EncodeModelSafetensors(model).view(), "a");
  ASSERT_TRUE(tensors);
  struct Case {
    const char* key;
    const char* value;
    const char* says;
  };
  const Case cases[] = {
      {"format", "covey.model/2", "covey.model/2"},
      {"format", "pt", "format"},
      {"covey.model", "{", "JSON"},
      {"covey.model", "{}", "input is missing"},
      {"covey.fingerprint", "00", "fingerprint"},
      {"covey.input", "[]", "covey.input"},
      {"covey.input", R"({"mean":[1,2],"scale":[1,2]})", "1, 12 or 12"},
      {"covey.input", R"({"mean":[1,2],"scale":[1]})", "1 scales"},
      {"covey.input", R"({"mean":[1e99],"scale":[1]})", "finite"},
      {"covey.labels", R"(["a"])", "wanted 4"},
      {"covey.labels", R"([1,2,3,4])", "no text"},
  };
  for (const Case& one : cases) {
    Metadata metadata = tensors->metadata;
    metadata[one.key] = one.value;
    const auto bytes = EncodeSafetensors(tensors->layout, tensors->values.view(), metadata);
    const auto read = DecodeModel(bytes.view(), "file");
    ASSERT_FALSE(read) << one.value;
    EXPECT_NE(read.error().Format().find(one.says), std::string::npos) << read.error().Format();
  }
}

// Four gigabytes must not be taken before the tensors were looked at.
TEST(Model, AFileHoldsTheParametersThatItPromises) {
  const Model model = DrawZooModel({{3}, {nn::Dense{2}}}, 5, Numbers::kOne);
  auto tensors = DecodeSafetensors(EncodeModelSafetensors(model).view(), "a");
  const nn::ModelSpec huge{{1000}, {nn::Dense{1000000}}};
  tensors->metadata["covey.model"] = SpecToJson(huge);
  tensors->metadata["covey.fingerprint"] = nn::FingerprintOf(huge).Hex();
  const auto bytes = EncodeSafetensors(tensors->layout, tensors->values.view(), tensors->metadata);
  const auto read = DecodeModel(bytes.view(), "f");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().what.find("than the file can hold"), std::string::npos);
}

TEST(Model, SpecJsonIsStrict) {
  const std::string good = SpecToJson({{3}, {nn::Dense{2}}});
  ASSERT_TRUE(SpecFromJson(good, "f"));
  const auto broken = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const auto read = SpecFromJson(text, "f");
    return read ? std::string("taken") : read.error().Format();
  };
  EXPECT_NE(broken("\"units\":2", "\"units\":-2").find("layers[0].units"), std::string::npos);
  EXPECT_NE(broken("\"units\":2", "\"units\":2,\"x\":1").find("not known"), std::string::npos);
  EXPECT_NE(broken("\"units\":2", "\"units\":0").find("at least 1"), std::string::npos);
  EXPECT_NE(broken("\"dense\"", "\"dence\"").find("kind"), std::string::npos);
  EXPECT_NE(broken("\"linear\"", "\"lines\"").find("activation"), std::string::npos);
  EXPECT_NE(broken("[3]", "3").find("input is not a list"), std::string::npos);
  EXPECT_NE(broken("\"huber_delta\":1", "\"huber_delta\":\"1\"").find("huber"), std::string::npos);
}

// The ONNX file of a small model, changed by `change`, then read.
std::string ReadChanged(const std::function<void(onnx::Model&)>& change) {
  const Model model = DrawZooModel(ModelZoo().front().spec, 5, Numbers::kOne);
  const auto bytes = EncodeModelOnnx(model);
  onnx::Model file;
  EXPECT_TRUE(file.ParseFromArray(bytes->data(), static_cast<int>(bytes->size())));
  change(file);
  const std::string text = file.SerializeAsString();
  const auto read = DecodeModel(std::as_bytes(std::span(text.data(), text.size())), "f");
  return read ? "taken" : read.error().Format();
}

TEST(Model, DamagedOnnxIsRefused) {
  const auto first = [](onnx::Model& file) {
    return file.mutable_graph()->mutable_initializer(file.graph().initializer_size() - 1);
  };
  EXPECT_EQ(ReadChanged([](onnx::Model&) {}), "taken");
  EXPECT_NE(ReadChanged([&](onnx::Model& file) { first(file)->set_name("x"); }).find("lacks"),
            std::string::npos);
  EXPECT_NE(
      ReadChanged([&](onnx::Model& file) { first(file)->set_data_type(11); }).find("not float32"),
      std::string::npos);
  EXPECT_NE(ReadChanged([&](onnx::Model& file) {
              first(file)->mutable_raw_data()->pop_back();
            }).find("wanted"),
            std::string::npos);
  EXPECT_NE(ReadChanged([&](onnx::Model& file) {
              first(file)->mutable_raw_data()->replace(0, 4, "\xff\xff\xff\x7f", 4);
            }).find("finite"),
            std::string::npos);
  EXPECT_NE(ReadChanged([&](onnx::Model& file) {
              *file.mutable_graph()->add_initializer() = *first(file);
            }).find("twice"),
            std::string::npos);
  EXPECT_NE(ReadChanged([](onnx::Model& file) { file.clear_metadata_props(); }).find("which model"),
            std::string::npos);
  EXPECT_NE(ReadChanged([](onnx::Model& file) { file.clear_graph(); }).find("neither"),
            std::string::npos);
}

TEST(Model, EveryTruncationIsRefused) {
  const Model model = DrawZooModel({{3}, {nn::Dense{2}}}, 5, Numbers::kOne);
  const AlignedBuffer safetensors = EncodeModelSafetensors(model);
  const auto onnx = EncodeModelOnnx(model);
  for (std::size_t size = 0; size < safetensors.size(); ++size) {
    EXPECT_FALSE(DecodeModel(safetensors.view().first(size), "f")) << size;
  }
  for (std::size_t size = 0; size < onnx->size(); ++size) {
    const auto read = DecodeModel(onnx->view().first(size), "f");
    // Metadata stand behind the graph; what is lost with the last of them is not needed.
    if (!read) continue;
    EXPECT_EQ(read->x[0], model.x[0]);
  }
}

}  // namespace
}  // namespace covey::store
