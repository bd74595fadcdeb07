#include "covey/nn/model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace covey::nn::model_test {
namespace {

ModelSpec Mlp() {
  return {.input = {28, 28},
          .layers = {Dense{.units = 72, .activation = Activation::kRelu}, Dense{.units = 10}}};
}

std::string ErrorOf(const ModelSpec& spec) {
  const Status status = Validate(spec);
  if (status) return "";
  EXPECT_EQ(status.error().code, ErrorCode::kConfig);
  return status.error().Format();
}

TEST(Model, PaperMlpHas57250Parameters) {
  ASSERT_TRUE(Validate(Mlp()));
  EXPECT_EQ(LayoutOf(Mlp()).size(), 57250u);
  EXPECT_EQ(Features(Mlp()), 784u);
  EXPECT_EQ(Outputs(Mlp()), 10u);
  EXPECT_EQ(Summary(Mlp()), "mlp 784-72-10");
}

TEST(Model, LayoutNamesSlicesInOrder) {
  const tensor::Layout layout = LayoutOf(Mlp());
  ASSERT_EQ(layout.slices().size(), 4u);
  EXPECT_EQ(layout.Describe(),
            "dense1.weight 72 784\ndense1.bias 72\ndense2.weight 10 72\ndense2.bias 10\n");
  EXPECT_EQ(layout.Find("dense2.bias")->offset, 57240u);
}

TEST(Model, ErrorsNameLayerGotAndWanted) {
  EXPECT_EQ(ErrorOf({}), "model.input: got no extent; wanted the shape of one sample");
  ModelSpec spec = Mlp();
  spec.input = {28, 0};
  EXPECT_EQ(ErrorOf(spec), "model.input[1]: got 0; wanted at least 1");
  spec = Mlp();
  spec.layers.clear();
  EXPECT_NE(ErrorOf(spec).find("model.layers: got no layer"), std::string::npos);
  spec = Mlp();
  spec.layers[0] = Dense{};
  EXPECT_EQ(ErrorOf(spec), "model.layers[0] (dense1).units: got 0; wanted at least 1");
  spec = Mlp();
  spec.layers[1] = Dense{.units = 1};
  EXPECT_EQ(ErrorOf(spec), "model.layers[1] (dense2).units: got 1; wanted at least 2: one a class");
  spec = Mlp();
  spec.layers[1] = Dense{.units = 10, .activation = Activation::kRelu};
  EXPECT_NE(
      ErrorOf(spec).find("model.layers[1] (dense2).activation: got relu; wanted linear or softmax"),
      std::string::npos);
}

TEST(Model, SizeIsLimitedWithoutOverflow) {
  ModelSpec spec{.input = {kMaxParameters / 2 - 1}, .layers = {Dense{.units = 2}}};
  EXPECT_TRUE(Validate(spec)) << "exactly kMaxParameters";
  spec.input = {kMaxParameters / 2};
  EXPECT_NE(ErrorOf(spec).find("got a model of more than"), std::string::npos);
  spec.input = {std::size_t{1} << 40, std::size_t{1} << 40};
  EXPECT_NE(ErrorOf(spec).find("model.input: got more than"), std::string::npos);
  spec.input = {1};
  spec.layers = {Dense{.units = ~std::size_t{0}}, Dense{.units = 2}};
  EXPECT_NE(ErrorOf(spec).find("model.layers[0]"), std::string::npos);
  // Two layers that fit alone but not together.
  spec.layers = {Dense{.units = kMaxParameters / 2}, Dense{.units = 2}};
  EXPECT_NE(ErrorOf(spec).find("model.layers[1]"), std::string::npos);
}

TEST(Model, FingerprintHashesWhatNodesMustShare) {
  const Digest base = FingerprintOf(Mlp());
  EXPECT_EQ(FingerprintOf(Mlp()), base);
  ModelSpec other = Mlp();
  other.init = Init::kHeNormal;
  EXPECT_EQ(FingerprintOf(other), base) << "nodes may start differently";
  other = Mlp();
  other.layers[0] = Dense{.units = 71, .activation = Activation::kRelu};
  EXPECT_NE(FingerprintOf(other), base);
  other = Mlp();
  other.layers[0] = Dense{.units = 72};
  EXPECT_NE(FingerprintOf(other), base);
  other = Mlp();
  other.input = {784};
  EXPECT_NE(FingerprintOf(other), base);
}

struct Moments {
  double mean = 0;
  double variance = 0;
  double greatest = 0;
};

Moments OfFirstLayer(Init init) {
  ModelSpec spec = Mlp();
  spec.init = init;
  Stream stream(7, 0, Purpose::kInit);
  tensor::FlatVector x(LayoutOf(spec).size());
  Initialise(spec, stream, x.view());
  Moments moments;
  const std::size_t n = 72 * 784;
  for (std::size_t i = 0; i < n; ++i) {
    const auto value = static_cast<double>(x[i]);
    moments.mean += value / static_cast<double>(n);
    moments.variance += value * value / static_cast<double>(n);
    moments.greatest = std::max(moments.greatest, std::abs(value));
  }
  const tensor::Layout layout = LayoutOf(spec);
  for (const tensor::Slice& slice : layout.slices()) {
    if (slice.shape.size() != 1) continue;
    for (const float bias : x.view().subspan(slice.offset, slice.size)) EXPECT_EQ(bias, 0.0f);
  }
  return moments;
}

// Paper: Glorot & Bengio 2010, equation 16; He et al. 2015, equation 10.
TEST(Initialise, VariancesFollowTheirPapers) {
  const double glorot = 2.0 / (784 + 72);
  const double he = 2.0 / 784;
  for (const auto& [init, variance] : {std::pair{Init::kGlorotUniform, glorot},
                                       {Init::kGlorotNormal, glorot},
                                       {Init::kHeUniform, he},
                                       {Init::kHeNormal, he}}) {
    const Moments moments = OfFirstLayer(init);
    EXPECT_NEAR(moments.variance / variance, 1.0, 0.03) << Name(init);
    EXPECT_NEAR(moments.mean, 0.0, 1e-3) << Name(init);
    const bool uniform = init == Init::kGlorotUniform || init == Init::kHeUniform;
    EXPECT_EQ(moments.greatest <= std::sqrt(3 * variance) * 1.000001, uniform) << Name(init);
  }
}

TEST(Initialise, IsAFunctionOfTheStream) {
  tensor::FlatVector a(57250), b(57250), c(57250);
  Stream first(1, 2, Purpose::kInit), same(1, 2, Purpose::kInit), other(1, 3, Purpose::kInit);
  Initialise(Mlp(), first, a.view());
  Initialise(Mlp(), same, b.view());
  Initialise(Mlp(), other, c.view());
  EXPECT_TRUE(std::equal(a.data(), a.data() + 57250, b.data()));
  EXPECT_FALSE(std::equal(a.data(), a.data() + 57250, c.data()));
}

}  // namespace
}  // namespace covey::nn::model_test
