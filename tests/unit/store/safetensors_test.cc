#include "covey/store/safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "support/idx_files.h"
#include "unit/store/faulty_files.h"

namespace covey::store {
namespace {

// A file with this header text and so many zero bytes of data.
std::string File(const std::string& header, std::size_t data) {
  std::string bytes(8, '\0');
  StoreLittle(reinterpret_cast<std::byte*>(bytes.data()), std::uint64_t{header.size()});
  return bytes + header + std::string(data, '\0');
}

Result<Tensors> Decode(const std::string& bytes) {
  return DecodeSafetensors(std::as_bytes(std::span(bytes)), "test");
}

std::string Problem(const std::string& header, std::size_t data) {
  const Result<Tensors> tensors = Decode(File(header, data));
  if (tensors) return "";
  EXPECT_EQ(tensors.error().code, ErrorCode::kData);
  return tensors.error().what;
}

std::string Tensor(const std::string& name, const std::string& shape, int begin, int end) {
  return "\"" + name + "\":{\"dtype\":\"F32\",\"shape\":" + shape + ",\"data_offsets\":[" +
         std::to_string(begin) + "," + std::to_string(end) + "]}";
}

tensor::Layout SmallLayout() {
  tensor::Layout layout;
  layout.Append("dense1.weight", {2, 3});
  layout.Append("dense1.bias", {2});
  return layout;
}

tensor::FlatVector Counting(std::size_t size) {
  tensor::FlatVector values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<float>(i);
  return values;
}

TEST(Safetensors, TheBytesAreThoseOfTheFormat) {
  const AlignedBuffer file = EncodeSafetensors(SmallLayout(), Counting(8).view(), {{"a", "b"}});
  const auto length = LoadLittle<std::uint64_t>(file.data());
  EXPECT_EQ(length % 8, 0u);
  const std::string header(reinterpret_cast<const char*>(file.data() + 8), length);
  EXPECT_EQ(header.substr(0, header.find_last_not_of(' ') + 1),
            R"({"__metadata__":{"a":"b"},)"
            R"("dense1.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
            R"("dense1.bias":{"dtype":"F32","shape":[2],"data_offsets":[24,32]}})");
  ASSERT_EQ(file.size(), 8 + length + 32);
  EXPECT_EQ(LoadLittle<std::uint32_t>(file.data() + 8 + length + 4), 0x3f800000u);  // 1.0f
}

TEST(Safetensors, ComeBack) {
  const test::TemporaryFolder folder;
  const Metadata metadata = {{"format", "pt"}, {"summary", "mlp 3-2 \"quoted\" \xc3\xa4"}};
  const std::string path = folder / "model.safetensors";
  ASSERT_TRUE(WriteSafetensors(path, SmallLayout(), Counting(8).view(), metadata));
  const Result<Tensors> tensors = ReadSafetensors(path);
  ASSERT_TRUE(tensors) << tensors.error().Format();
  EXPECT_EQ(tensors->layout.Describe(), SmallLayout().Describe());
  EXPECT_EQ(tensors->metadata, metadata);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(tensors->values[i], static_cast<float>(i));
}

TEST(Safetensors, AFailedWriteLeavesTheOldFile) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "model.safetensors";
  ASSERT_TRUE(WriteSafetensors(path, SmallLayout(), Counting(8).view(), {}));
  test::FaultyFiles files;
  files.room = 30;
  EXPECT_FALSE(WriteSafetensors(path, SmallLayout(), tensor::FlatVector(8).view(), {}, files));
  EXPECT_EQ(ReadSafetensors(path)->values[1], 1.0f);
}

TEST(Safetensors, MissingFile) {
  EXPECT_EQ(ReadSafetensors("/nonexistent/model").error().code, ErrorCode::kNoInput);
}

TEST(Safetensors, ReadsWhatOthersWrite) {
  EXPECT_EQ(Problem("{}", 0), "");
  EXPECT_EQ(Problem("{}     ", 0), "");
  EXPECT_EQ(Problem("{" + Tensor("scalar", "[]", 0, 4) + "}", 4), "");
  EXPECT_EQ(Problem("{" + Tensor("none", "[0]", 0, 0) + "}", 0), "");
  EXPECT_EQ(Problem("{" + Tensor("none", "[3,0]", 4, 4) + "," + Tensor("a", "[1]", 0, 4) + "}", 4),
            "");
  // Any order in the header; the data decide.
  const Result<Tensors> tensors =
      Decode(File("{" + Tensor("b", "[1]", 8, 12) + "," + Tensor("a", "[2]", 0, 8) + "}", 12));
  ASSERT_TRUE(tensors);
  EXPECT_EQ(tensors->layout.slices()[0].name, "a");
  // The keys of an entry too.
  EXPECT_EQ(Problem(R"({"a":{"shape":[1],"data_offsets":[0,4],"dtype":"F32"}})", 4), "");
}

TEST(Safetensors, HeaderLengthStaysInsideTheFile) {
  EXPECT_FALSE(Decode(""));
  EXPECT_FALSE(Decode(std::string(7, '\0')));
  EXPECT_FALSE(Decode(std::string(8, '\0')));  // an empty header
  std::string bytes = File("{}", 0);
  bytes[0] = 3;
  EXPECT_FALSE(Decode(bytes));
  for (const std::uint64_t length : {std::uint64_t{100'000'001}, ~std::uint64_t{0}}) {
    StoreLittle(reinterpret_cast<std::byte*>(bytes.data()), length);
    EXPECT_FALSE(Decode(bytes));
  }
}

TEST(Safetensors, HeaderIsOneStrictJsonObject) {
  for (const char* header : {" {}", "[]", "{", "{} x", "{}{}", "{\"a\":}", "null", "{'a':1}",
                             "{\"\xff\":{}}", "{/**/}"}) {
    EXPECT_NE(Problem(header, 0), "") << header;
  }
}

TEST(Safetensors, NamesAppearOnce) {
  EXPECT_NE(Problem("{" + Tensor("a", "[1]", 0, 4) + "," + Tensor("a", "[1]", 4, 8) + "}", 8)
                .find("'a' appears twice"),
            std::string::npos);
  EXPECT_NE(Problem(R"({"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4),
            "");
  EXPECT_NE(Problem(R"({"__metadata__":{"k":"1","k":"2"}})", 0), "");
  // The same name in two objects is fine.
  EXPECT_EQ(Problem("{\"__metadata__\":{\"a\":\"1\"}," + Tensor("a", "[1]", 0, 4) + "}", 4), "");
}

TEST(Safetensors, EntriesHaveExactlyThreeKeys) {
  EXPECT_NE(Problem(R"({"a":{"dtype":"F32","shape":[1]}})", 4), "");
  EXPECT_NE(Problem(R"({"a":{"dtype":"F32","shape":[1],"offsets":[0,4]}})", 4)
                .find("unknown key 'offsets'"),
            std::string::npos);
  EXPECT_NE(Problem(R"({"a":[1]})", 4), "");
  EXPECT_NE(Problem(R"({"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})", 8)
                .find("wanted \"F32\""),
            std::string::npos);
  EXPECT_NE(Problem(R"({"a":{"dtype":7,"shape":[1],"data_offsets":[0,4]}})", 4), "");
}

TEST(Safetensors, ShapesAreWholeNumbersAndDontOverflow) {
  for (const char* shape :
       {"[-1]", "[1.0]", "[\"1\"]", "1", "{}", "[[1]]", "[1e0]", "[18446744073709551616]"}) {
    EXPECT_NE(Problem("{" + Tensor("a", shape, 0, 4) + "}", 4), "") << shape;
  }
  // 2^62 * 4 bytes wraps to 0; 2^32 * 2^32 too.
  EXPECT_NE(Problem("{" + Tensor("a", "[4611686018427387904]", 0, 0) + "}", 0), "");
  EXPECT_NE(Problem("{" + Tensor("a", "[4294967296,4294967296]", 0, 0) + "}", 0), "");
}

TEST(Safetensors, OffsetsCoverTheDataExactly) {
  const std::string a = Tensor("a", "[1]", 0, 4);
  EXPECT_NE(Problem("{" + a + "}", 8), "");                                     // left over
  EXPECT_NE(Problem("{" + a + "}", 3), "");                                     // missing
  EXPECT_NE(Problem("{" + a + "," + Tensor("b", "[1]", 8, 12) + "}", 12), "");  // hole
  EXPECT_NE(Problem("{" + a + "," + Tensor("b", "[1]", 2, 6) + "}", 6), "");    // overlap
  EXPECT_NE(Problem("{" + a + "," + Tensor("b", "[1]", 0, 4) + "}", 4), "");    // the same place
  EXPECT_NE(Problem("{" + Tensor("a", "[1]", 4, 8) + "}", 8), "");              // not from 0
  EXPECT_NE(Problem("{" + Tensor("a", "[1]", 4, 0) + "}", 4), "");              // backwards
  EXPECT_NE(Problem("{" + Tensor("a", "[2]", 0, 4) + "}", 4), "");              // shape disagrees
  EXPECT_NE(Problem("{}", 4), "");
}

TEST(Safetensors, MetadataAreStrings) {
  EXPECT_EQ(Problem(R"({"__metadata__":{"k":"v"}})", 0), "");
  EXPECT_NE(Problem(R"({"__metadata__":{"k":1}})", 0), "");
  EXPECT_NE(Problem(R"({"__metadata__":"v"})", 0), "");
  EXPECT_NE(Problem(R"({"__metadata__":{"k":{"l":"m"}}})", 0), "");
}

TEST(Safetensors, DeepNestingIsRefusedWithoutDeepRecursion) {
  const std::size_t depth = 200000;
  EXPECT_NE(Problem("{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}", 0), "");
  std::string objects = "{\"a\":";
  for (std::size_t i = 0; i < depth; ++i) objects += "{\"a\":";
  EXPECT_NE(Problem(objects + "1" + std::string(depth + 1, '}'), 0), "");
}

TEST(Safetensors, ValuesAreFinite) {
  std::string bytes = File("{" + Tensor("a", "[1]", 0, 4) + "}", 4);
  const float bad = std::nanf("");
  std::memcpy(&bytes[bytes.size() - 4], &bad, 4);
  EXPECT_NE(Decode(bytes).error().what.find("not finite"), std::string::npos);
}

}  // namespace
}  // namespace covey::store
