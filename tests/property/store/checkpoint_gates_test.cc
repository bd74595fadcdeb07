// Files whose checksums are right but whose content is wrong: what only a writer with a bug, or
// with bad intent, makes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "covey/base/sha256.h"
#include "covey/store/checkpoint.h"
#include "covey/v1/checkpoint.pb.h"
#include "store/checkpoint_format.h"
#include "store/floats.h"

namespace covey::store {
namespace {

struct Forged {
  v1::CheckpointHeader header;
  std::vector<float> values = {1, 2, 3, 4};

  Forged() {
    header.set_model(std::string(32, 'm'));
    Add("x", 4);
  }
  void Add(const std::string& name, std::uint64_t elements) {
    v1::CheckpointSection* section = header.add_sections();
    section->set_name(name);
    section->set_elements(elements);
  }
  // Writes the file with right checksums wherever sections lie inside the values.
  std::string Bytes() {
    std::vector<std::byte> payload(values.size() * 4);
    StoreFloats(values, payload.data());
    std::size_t at = 0;
    for (v1::CheckpointSection& section : *header.mutable_sections()) {
      const std::uint64_t size = section.elements() * 4;
      if (at + size > payload.size()) break;
      section.set_crc32c(Crc32c(ByteView(payload).subspan(at, size)));
      at += size;
    }
    const std::string text = header.SerializeAsString();
    std::vector<std::byte> file(kPrefixBytes + text.size() + kCrcBytes);
    std::memcpy(file.data(), kMagic.data(), kMagic.size());
    StoreLittle(&file[8], kCheckpointVersion);
    StoreLittle(&file[12], static_cast<std::uint32_t>(text.size()));
    std::memcpy(&file[kPrefixBytes], text.data(), text.size());
    const std::size_t sum_at = kPrefixBytes + text.size();
    StoreLittle(&file[sum_at], Crc32c(ByteView(file).first(sum_at)));
    file.insert(file.end(), payload.begin(), payload.end());
    const Digest digest = Sha256::Of(ByteView(file));
    const auto sum = std::as_bytes(std::span(digest.bytes));
    file.insert(file.end(), sum.begin(), sum.end());
    return std::string(reinterpret_cast<const char*>(file.data()), file.size());
  }
  // Returns: what is wrong with it, or "" when it loads.
  std::string Problem() {
    const std::string bytes = Bytes();
    const Result<Checkpoint> checkpoint = DecodeCheckpoint(std::as_bytes(std::span(bytes)), "test");
    return checkpoint ? "" : checkpoint.error().what;
  }
};

TEST(CheckpointGates, TheForgerIsRightWhenNothingIsWrong) { EXPECT_EQ(Forged().Problem(), ""); }

TEST(CheckpointGates, SectionNames) {
  Forged none;
  none.header.clear_sections();
  none.values.clear();
  EXPECT_NE(none.Problem().find("0 sections"), std::string::npos);

  Forged unknown;
  unknown.header.mutable_sections(0)->set_name("y");
  EXPECT_NE(unknown.Problem().find("unexpected section 'y'"), std::string::npos);

  Forged twice;
  twice.values.resize(8);
  twice.Add("x", 4);
  EXPECT_NE(twice.Problem().find("unexpected section 'x'"), std::string::npos);

  Forged same_optimizer;
  same_optimizer.values.resize(12);
  same_optimizer.Add("optimizer/m", 4);
  EXPECT_NE(same_optimizer.Problem(), "");  // 12 values, 8 announced
  same_optimizer.Add("optimizer/m", 4);
  EXPECT_NE(same_optimizer.Problem().find("unexpected section 'optimizer/m'"), std::string::npos);

  Forged best_without_figures;
  best_without_figures.values.resize(8);
  best_without_figures.Add("best", 4);
  EXPECT_NE(best_without_figures.Problem().find("unexpected section 'best'"), std::string::npos);
  best_without_figures.header.mutable_best()->set_loss(1);
  EXPECT_EQ(best_without_figures.Problem(), "");
}

TEST(CheckpointGates, TheNumberOfSectionsIsBounded) {
  Forged many;
  for (std::size_t i = 1; i < kMaxSections; ++i) many.Add("optimizer/" + std::to_string(i), 0);
  EXPECT_EQ(many.Problem(), "");
  many.Add("optimizer/more", 0);
  EXPECT_NE(many.Problem().find("65 sections"), std::string::npos);
}

TEST(CheckpointGates, SizesThatOverflowAreRefused) {
  for (const std::uint64_t elements :
       {std::uint64_t{5}, std::uint64_t{1} << 40, std::uint64_t{1} << 62,
        (std::uint64_t{1} << 62) + 4, ~std::uint64_t{0}}) {
    Forged huge;
    huge.header.mutable_sections(0)->set_elements(elements);
    EXPECT_NE(huge.Problem(), "") << elements;
  }
  Forged empty;
  empty.values.clear();
  empty.header.mutable_sections(0)->set_elements(0);
  EXPECT_NE(empty.Problem().find("'x' is empty"), std::string::npos);
}

TEST(CheckpointGates, FingerprintsHave32Bytes) {
  for (const std::size_t size : {0u, 31u, 33u}) {
    Forged forged;
    forged.header.set_model(std::string(size, 'm'));
    EXPECT_NE(forged.Problem().find("wanted 32"), std::string::npos);
  }
}

TEST(CheckpointGates, ValuesAreFinite) {
  Forged forged;
  forged.values[2] = std::nanf("");
  EXPECT_NE(forged.Problem().find("value 2 of section 'x' is not finite"), std::string::npos);
}

TEST(CheckpointGates, SectionChecksumsCountEvenUnderARightTrailer) {
  Forged forged;
  std::string bytes = forged.Bytes();
  bytes[bytes.size() - 33] = static_cast<char>(bytes[bytes.size() - 33] ^ 1);
  const Digest digest = Sha256::Of(std::as_bytes(std::span(bytes)).first(bytes.size() - 32));
  std::memcpy(&bytes[bytes.size() - 32], digest.bytes.data(), 32);
  const Result<Checkpoint> checkpoint = DecodeCheckpoint(std::as_bytes(std::span(bytes)), "test");
  ASSERT_FALSE(checkpoint);
  EXPECT_NE(checkpoint.error().what.find("checksum of section 'x'"), std::string::npos);
}

TEST(CheckpointGates, TheHeaderChecksumCountsEvenUnderARightTrailer) {
  std::string bytes = Forged().Bytes();
  bytes[kPrefixBytes + 5] = 'n';  // in the model fingerprint
  const Digest digest = Sha256::Of(std::as_bytes(std::span(bytes)).first(bytes.size() - 32));
  std::memcpy(&bytes[bytes.size() - 32], digest.bytes.data(), 32);
  const Result<Checkpoint> checkpoint = DecodeCheckpoint(std::as_bytes(std::span(bytes)), "test");
  ASSERT_FALSE(checkpoint);
  EXPECT_NE(checkpoint.error().what.find("checksum of the header"), std::string::npos);
}

TEST(CheckpointGates, HeaderLengthIsBounded) {
  std::string bytes = Forged().Bytes();
  StoreLittle(reinterpret_cast<std::byte*>(&bytes[12]),
              static_cast<std::uint32_t>(kMaxHeaderBytes + 1));
  const Result<Checkpoint> checkpoint = DecodeCheckpoint(std::as_bytes(std::span(bytes)), "test");
  ASSERT_FALSE(checkpoint);
  EXPECT_NE(checkpoint.error().what.find("wanted at most 1048576"), std::string::npos);
}

}  // namespace
}  // namespace covey::store
