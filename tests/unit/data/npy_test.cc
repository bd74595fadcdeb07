#include "data/npy.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "covey/data/dataset.h"
#include "support/idx_files.h"

namespace covey::data::npy_test {
namespace {

// A file of version `version` around a header's text.
std::string Around(std::string dictionary, int version = 1) {
  const std::size_t first = version == 1 ? 10 : 12;
  while ((first + dictionary.size() + 1) % 64 != 0) dictionary += ' ';
  dictionary += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (std::size_t i = 0; i < first - 8; ++i) {
    bytes += static_cast<char>(dictionary.size() >> (8 * i) & 0xff);
  }
  return bytes + dictionary;
}

std::string Npy(const std::string& descr, const std::string& shape,
                const std::string& order = "False") {
  return Around("{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape +
                ", }");
}

template <class T>
std::string Values(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

Result<IdxHeader> Parse(const std::string& bytes) {
  return ParseNpyHeader({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}, "f");
}

TEST(NpyHeader, IsRead) {
  const Result<IdxHeader> header = Parse(Npy("<f4", "(100, 28, 28)"));
  ASSERT_TRUE(header.has_value()) << header.error().Format();
  EXPECT_EQ(header->type, IdxType::kFloat32);
  EXPECT_TRUE(header->little);
  EXPECT_EQ(header->dimensions, (std::vector<std::size_t>{100, 28, 28}));
  EXPECT_EQ(header->header_bytes % 64, 0u);
  EXPECT_EQ(header->values(), 78400u);
  EXPECT_FALSE(Parse(Npy(">i8", "(7,)"))->little);
  for (const int version : {2, 3}) {
    EXPECT_TRUE(Parse(Around("{'descr': '|u1', 'fortran_order': False, 'shape': (3,)}", version)));
  }
}

TEST(NpyHeader, IsRefused) {
  const std::pair<std::string, std::string> cases[] = {
      {Npy("<f4", "(2, 0)"), "a dimension of 0"},
      {Npy("<f4", "()"), "a single number"},
      {Npy("<f4", "(2, 3)", "True"), "Fortran"},
      {Npy("<f2", "(2,)"), "values of type '<f2'"},
      {Npy("<c8", "(2,)"), "values of type"},
      {Npy("|O8", "(2,)"), "values of type"},
      {Npy("<f4", "(4294967296, 2)"), "no number below 2^32"},
      {Npy("<f8", "(4294967295, 4294967295)"), "multiply to more than 2^63"},
      {Npy("<f4", "(1,1,1,1,1,1,1,1,1)"), "too many dimensions"},
      {Npy("<f4", "(2, -1)"), "no number"},
      {Npy("<f4", "(2,"), "no number"},
      {Around("{'descr': '<f4'}"), "no descr, fortran_order or shape"},
      {Around("{}", 4), "version 4"},
      {Npy("<f4", "(2,)").substr(0, 40), "wanted at most 30"},
      {std::string("\x93NUMPY\1"), "ends inside"}};
  for (const auto& [bytes, said] : cases) {
    const Result<IdxHeader> header = Parse(bytes);
    ASSERT_FALSE(header.has_value()) << said;
    EXPECT_EQ(header.error().code, ErrorCode::kData);
    EXPECT_NE(header.error().what.find(said), std::string::npos) << header.error().what;
  }
}

class NpyFile : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  Result<Dataset> Try(const std::string& images, const std::string& labels) {
    Source source;
    source.images = folder_ / images;
    source.labels = folder_ / labels;
    source.normalize = Normalize::kNone;
    return Open(source, folder_ / "cache");
  }
  test::TemporaryFolder folder_;
};

TEST_F(NpyFile, EveryTypeIsRead) {
  Write("y.npy", Npy("<i8", "(2,)") + Values<std::int64_t>({1, 0}));
  const std::pair<std::string, std::string> cases[] = {
      {"|u1", Values<std::uint8_t>({1, 2, 3, 4})},  {"|i1", Values<std::int8_t>({1, 2, 3, 4})},
      {"<i2", Values<std::int16_t>({1, 2, 3, 4})},  {">i2", std::string("\0\1\0\2\0\3\0\4", 8)},
      {"<u2", Values<std::uint16_t>({1, 2, 3, 4})}, {"<i4", Values<std::int32_t>({1, 2, 3, 4})},
      {"<u4", Values<std::uint32_t>({1, 2, 3, 4})}, {"<i8", Values<std::int64_t>({1, 2, 3, 4})},
      {"<u8", Values<std::uint64_t>({1, 2, 3, 4})}, {"<f4", Values<float>({1, 2, 3, 4})},
      {"<f8", Values<double>({1, 2, 3, 4})}};
  for (const auto& [type, values] : cases) {
    Write("x.npy", Npy(type, "(2, 2)") + values);
    const Result<Dataset> set = Try("x.npy", "y.npy");
    ASSERT_TRUE(set.has_value()) << type << ' ' << set.error().Format();
    std::vector<float> row(2);
    set->normalization().Apply(set->row(1), set->element(), row);
    EXPECT_EQ(row, (std::vector<float>{3, 4})) << type;
    EXPECT_EQ(set->label(0), 1u);
  }
}

TEST_F(NpyFile, LengthsAndValuesAreChecked) {
  Write("y.npy", Npy("<i8", "(2,)") + Values<std::int64_t>({1, 256}));
  Write("x.npy", Npy("<f4", "(2, 2)") + Values<float>({1, 2, 3, 4}));
  EXPECT_NE(Try("x.npy", "y.npy").error().what.find("label 256"), std::string::npos);
  Write("y.npy", Npy("|u1", "(2,)") + std::string("\1\0", 2));
  Write("x.npy", Npy("<f4", "(2, 2)") + Values<float>({1, 2, 3}));
  EXPECT_NE(Try("x.npy", "y.npy").error().what.find("truncated"), std::string::npos);
  Write("x.npy", Npy("<f4", "(2, 2)") + Values<float>({1, 2, 3, 4, 5}));
  EXPECT_NE(Try("x.npy", "y.npy").error().what.find("more bytes"), std::string::npos);
  Write("x.npy", Npy("<f8", "(2, 2)") + Values<double>({1, 2, 3, 1e39}));
  EXPECT_NE(Try("x.npy", "y.npy").error().what.find("value 1e+39"), std::string::npos);
}

// A zip file of members, stored or deflated.
std::string Zip(const std::vector<std::pair<std::string, std::string>>& members, bool deflated) {
  std::string file;
  std::string directory;
  const auto put = [](std::string& to, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) to += i < 8 ? static_cast<char>(value >> (8 * i) & 0xff) : '\0';
  };
  for (const auto& [name, bytes] : members) {
    std::string packed = bytes;
    if (deflated) {
      z_stream z{};
      deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
      packed.resize(deflateBound(&z, static_cast<uLong>(bytes.size())));
      z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      z.avail_in = static_cast<uInt>(bytes.size());
      z.next_out = reinterpret_cast<Bytef*>(packed.data());
      z.avail_out = static_cast<uInt>(packed.size());
      deflate(&z, Z_FINISH);
      packed.resize(z.total_out);
      deflateEnd(&z);
    }
    const uLong crc =
        ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
    std::string common;
    put(common, 20, 2);
    put(common, 0, 2);
    put(common, deflated ? 8 : 0, 2);
    put(common, 0, 4);
    put(common, crc, 4);
    put(common, packed.size(), 4);
    put(common, bytes.size(), 4);
    put(common, name.size(), 2);
    put(common, 0, 2);
    put(directory, 0x02014b50, 4);
    put(directory, 20, 2);
    directory += common;
    put(directory, 0, 10);
    put(directory, file.size(), 4);
    directory += name;
    put(file, 0x04034b50, 4);
    file += common + name + packed;
  }
  const std::size_t at = file.size();
  file += directory;
  put(file, 0x06054b50, 4);
  put(file, 0, 4);
  put(file, members.size(), 2);
  put(file, members.size(), 2);
  put(file, directory.size(), 4);
  put(file, at, 4);
  put(file, 0, 2);
  return file;
}

TEST_F(NpyFile, ArraysOfAnNpzFileAreRead) {
  const std::string x = Npy("<f4", "(2, 2)") + Values<float>({1, 2, 3, 4});
  const std::string y = Npy("<i8", "(2,)") + Values<std::int64_t>({1, 0});
  for (const bool deflated : {false, true}) {
    const std::string name = deflated ? "b.npz" : "a.npz";
    const std::string zip = Zip({{"x.npy", x}, {"y.npy", y}}, deflated);
    Write(name, zip);
    const Result<Dataset> set = Try(name + ":x", name + ":y");
    ASSERT_TRUE(set.has_value()) << set.error().Format();
    EXPECT_EQ(set->size(), 2u);
    EXPECT_EQ(set->label(0), 1u);
    const Error missing = Try(name + ":z", name + ":y").error();
    EXPECT_EQ(missing.what, "there is no array 'z'");
    EXPECT_EQ(missing.hint, "arrays are x.npy, y.npy");
    // Whatever is cut or changed is an error or leaves the array as it was; it never crashes.
    for (std::size_t cut = 0; cut < zip.size(); cut += 7) {
      Write("cut.npz", zip.substr(0, cut));
      EXPECT_FALSE(Try("cut.npz:x", "a.npz:y").has_value()) << cut;
    }
    for (std::size_t at = 0; at < zip.size(); at += 3) {
      std::string damaged = zip;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
      Write("damaged.npz", damaged);
      Try("damaged.npz:x", "a.npz:y");
    }
  }
}

}  // namespace
}  // namespace covey::data::npy_test
