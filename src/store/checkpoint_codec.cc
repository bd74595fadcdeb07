// The format of checkpoint files: bytes to structure and back.
#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "covey/base/check.h"
#include "covey/base/sha256.h"
#include "covey/store/checkpoint.h"
#include "covey/v1/checkpoint.pb.h"
#include "store/checkpoint_format.h"
#include "store/floats.h"

namespace covey::store {
namespace {

constexpr std::size_t kTrailerBytes = 32;
constexpr std::string_view kOptimizerPrefix = "optimizer/";

struct Section {
  std::string name;
  tensor::ConstVectorView values;
};

std::vector<Section> SectionsOf(const Checkpoint& checkpoint) {
  std::vector<Section> sections;
  sections.push_back(Section{"x", checkpoint.x.view()});
  for (const NamedVector& slice : checkpoint.optimizer) {
    sections.push_back(Section{std::string(kOptimizerPrefix) + slice.name, slice.values.view()});
  }
  if (checkpoint.best && checkpoint.best->x.size() > 0) {
    sections.push_back(Section{"best", checkpoint.best->x.view()});
  }
  return sections;
}

std::uint32_t CrcOf(tensor::ConstVectorView values) {
  std::byte chunk[4096];
  std::uint32_t crc = 0;
  while (!values.empty()) {
    const std::size_t count = std::min(values.size(), sizeof(chunk) / (sizeof(float)));
    StoreFloats(values.first(count), chunk);
    crc = Crc32c(ByteView(chunk, count * sizeof(float)), crc);
    values = values.subspan(count);
  }
  return crc;
}

v1::CheckpointHeader HeaderOf(const Checkpoint& checkpoint, const std::vector<Section>& sections) {
  v1::CheckpointHeader header;
  header.set_model(checkpoint.model.bytes.data(), checkpoint.model.bytes.size());
  header.set_model_summary(checkpoint.model_summary);
  header.set_created_by(checkpoint.created_by);
  header.set_session(checkpoint.session.value);
  header.set_batches(checkpoint.batches);
  header.set_rounds(checkpoint.rounds);
  header.set_optimizer_steps(checkpoint.optimizer_steps);
  header.set_cursor_epoch(checkpoint.cursor.epoch);
  header.set_cursor_position(checkpoint.cursor.position);
  if (checkpoint.best) {
    header.mutable_best()->set_loss(checkpoint.best->loss);
    if (checkpoint.best->accuracy) {
      header.mutable_best()->set_accuracy(*checkpoint.best->accuracy);
    }
    header.mutable_best()->set_epoch(checkpoint.best->epoch);
  }
  for (const auto& [name, value] : checkpoint.counters) {
    v1::CheckpointCounter* counter = header.add_counters();
    counter->set_name(name);
    counter->set_value(value);
  }
  for (const Section& section : sections) {
    v1::CheckpointSection* entry = header.add_sections();
    entry->set_name(section.name);
    entry->set_elements(section.values.size());
    entry->set_crc32c(CrcOf(section.values));
  }
  return header;
}

tl::unexpected<Error> Damaged(const std::string& where, std::string what) {
  return Fail(ErrorCode::kData, where, "damaged checkpoint: " + std::move(what));
}

// A header whose checksum is right.
Result<v1::CheckpointHeader> ReadHeader(ByteView bytes, const std::string& where) {
  const Result<std::size_t> end = CheckpointHeaderEnd(bytes, where);
  if (!end) return tl::unexpected<Error>(end.error());
  if (bytes.size() < *end) {
    return Damaged(where, "it ends inside its header: got " + std::to_string(bytes.size()) +
                              " bytes, wanted " + std::to_string(*end) + " or more");
  }
  const std::size_t sum_at = *end - kCrcBytes;
  if (LoadLittle<std::uint32_t>(&bytes[sum_at]) != Crc32c(bytes.first(sum_at))) {
    return Damaged(where, "the checksum of the header is wrong");
  }
  v1::CheckpointHeader header;
  if (!header.ParseFromArray(&bytes[kPrefixBytes], static_cast<int>(sum_at - kPrefixBytes))) {
    return Damaged(where, "the header can't be parsed");
  }
  if (header.model().size() != sizeof(Digest::bytes)) {
    return Damaged(where, "the model fingerprint has " + std::to_string(header.model().size()) +
                              " bytes, wanted 32");
  }
  return header;
}

// Names, order and number of the sections, and that together they fill the file.
Status CheckSections(const v1::CheckpointHeader& header, std::size_t header_end, std::size_t size,
                     const std::string& where) {
  const int count = header.sections_size();
  if (count == 0 || static_cast<std::size_t>(count) > kMaxSections) {
    return Damaged(
        where, std::to_string(count) + " sections, wanted 1 to " + std::to_string(kMaxSections));
  }
  std::set<std::string> names;
  std::uint64_t end = header_end;
  for (int i = 0; i < count; ++i) {
    const v1::CheckpointSection& section = header.sections(i);
    const bool fits = i == 0 ? section.name() == "x"
                             : section.name().starts_with(kOptimizerPrefix) ||
                                   (section.name() == "best" && header.has_best());
    if (!fits || !names.insert(section.name()).second) {
      return Damaged(where, "unexpected section '" + section.name() + "'");
    }
    // Against the file's size first, so that no sum or product can overflow.
    if (section.elements() > size / sizeof(float)) {
      return Damaged(where, "section '" + section.name() + "' of " +
                                std::to_string(section.elements()) +
                                " values is larger than the file");
    }
    end += section.elements() * sizeof(float);
  }
  if (header.sections(0).elements() == 0) return Damaged(where, "section 'x' is empty");
  if (end + kTrailerBytes != size) {
    return Damaged(where, "got " + std::to_string(size) + " bytes, wanted " +
                              std::to_string(end + kTrailerBytes));
  }
  return {};
}

Result<tensor::FlatVector> ReadSection(ByteView bytes, const v1::CheckpointSection& section,
                                       const std::string& where) {
  if (Crc32c(bytes) != section.crc32c()) {
    return Damaged(where, "the checksum of section '" + section.name() + "' is wrong");
  }
  tensor::FlatVector values(section.elements());
  LoadFloats(bytes.data(), values.view());
  if (const std::size_t bad = FirstNotFinite(values.view()); bad < values.size()) {
    return Damaged(where, "value " + std::to_string(bad) + " of section '" + section.name() +
                              "' is not finite");
  }
  return values;
}

Checkpoint FromHeader(const v1::CheckpointHeader& header) {
  Checkpoint checkpoint;
  std::memcpy(checkpoint.model.bytes.data(), header.model().data(), sizeof(Digest::bytes));
  checkpoint.model_summary = header.model_summary();
  checkpoint.created_by = header.created_by();
  checkpoint.session = SessionId{header.session()};
  checkpoint.batches = header.batches();
  checkpoint.rounds = header.rounds();
  checkpoint.optimizer_steps = header.optimizer_steps();
  checkpoint.cursor = data::Cursor{header.cursor_epoch(), header.cursor_position()};
  if (header.has_best()) {
    Best best;
    best.loss = header.best().loss();
    if (header.best().has_accuracy()) best.accuracy = header.best().accuracy();
    best.epoch = header.best().epoch();
    checkpoint.best = std::move(best);
  }
  for (const v1::CheckpointCounter& counter : header.counters()) {
    checkpoint.counters.emplace_back(counter.name(), counter.value());
  }
  return checkpoint;
}

}  // namespace

Result<std::size_t> CheckpointHeaderEnd(ByteView start, const std::string& where) {
  if (start.size() < kPrefixBytes) {
    return Damaged(where, "got " + std::to_string(start.size()) + " bytes, wanted " +
                              std::to_string(kPrefixBytes) + " or more");
  }
  if (std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0) {
    return Damaged(where, "it doesn't start with " + std::string(kMagic));
  }
  const auto version = LoadLittle<std::uint32_t>(&start[kMagic.size()]);
  if (version > kCheckpointVersion) {
    return Fail(ErrorCode::kProtocol, where,
                "checkpoint of format " + std::to_string(version) + ", this program reads up to " +
                    std::to_string(kCheckpointVersion),
                "it was written by a newer Covey: use that, or another state_dir");
  }
  if (version == 0) return Damaged(where, "its format version is 0");
  const auto length = LoadLittle<std::uint32_t>(&start[kMagic.size() + 4]);
  if (length > kMaxHeaderBytes) {
    return Damaged(where, "a header of " + std::to_string(length) + " bytes, wanted at most " +
                              std::to_string(kMaxHeaderBytes));
  }
  return kPrefixBytes + length + kCrcBytes;
}

Result<std::uint64_t> CheckpointBatches(ByteView start, const std::string& where) {
  const Result<v1::CheckpointHeader> header = ReadHeader(start, where);
  if (!header) return tl::unexpected<Error>(header.error());
  return header->batches();
}

Result<AlignedBuffer> EncodeCheckpoint(const Checkpoint& checkpoint) {
  COVEY_CHECK(checkpoint.x.size() > 0);
  const std::vector<Section> sections = SectionsOf(checkpoint);
  COVEY_CHECK(sections.size() <= kMaxSections, sections.size());
  std::set<std::string> names;
  for (const Section& section : sections) {
    COVEY_CHECK(names.insert(section.name).second, section.name);
    if (const std::size_t bad = FirstNotFinite(section.values); bad < section.values.size()) {
      return Fail(ErrorCode::kSoftware, "checkpoint",
                  "value " + std::to_string(bad) + " of '" + section.name + "' is not finite",
                  "training has diverged: lower the learning rate");
    }
  }
  const std::string header = HeaderOf(checkpoint, sections).SerializeAsString();
  COVEY_CHECK(header.size() <= kMaxHeaderBytes, header.size());

  const std::size_t header_end = kPrefixBytes + header.size() + kCrcBytes;
  std::size_t size = header_end + kTrailerBytes;
  for (const Section& section : sections) size += section.values.size_bytes();
  AlignedBuffer file(size);
  std::byte* const data = file.data();
  std::memcpy(data, kMagic.data(), kMagic.size());
  StoreLittle(data + kMagic.size(), kCheckpointVersion);
  StoreLittle(data + kMagic.size() + 4, static_cast<std::uint32_t>(header.size()));
  std::memcpy(data + kPrefixBytes, header.data(), header.size());
  const std::size_t sum_at = header_end - kCrcBytes;
  StoreLittle(data + sum_at, Crc32c(ByteView(data, sum_at)));
  std::size_t at = header_end;
  for (const Section& section : sections) {
    StoreFloats(section.values, data + at);
    at += section.values.size_bytes();
  }
  const Digest digest = Sha256::Of(ByteView(data, at));
  std::memcpy(data + at, digest.bytes.data(), digest.bytes.size());
  return file;
}

Result<Checkpoint> DecodeCheckpoint(ByteView bytes, const std::string& where) {
  const Result<v1::CheckpointHeader> header = ReadHeader(bytes, where);
  if (!header) return tl::unexpected<Error>(header.error());
  std::size_t at = *CheckpointHeaderEnd(bytes, where);
  if (const Status sections = CheckSections(*header, at, bytes.size(), where); !sections) {
    return tl::unexpected<Error>(sections.error());
  }
  const std::size_t trailer = bytes.size() - kTrailerBytes;
  const Digest digest = Sha256::Of(bytes.first(trailer));
  if (std::memcmp(digest.bytes.data(), &bytes[trailer], kTrailerBytes) != 0) {
    return Damaged(where, "the SHA-256 of the file is wrong");
  }
  Checkpoint checkpoint = FromHeader(*header);
  for (const v1::CheckpointSection& section : header->sections()) {
    const std::size_t size = section.elements() * sizeof(float);
    Result<tensor::FlatVector> values = ReadSection(bytes.subspan(at, size), section, where);
    if (!values) return tl::unexpected<Error>(values.error());
    at += size;
    if (section.name() == "x") {
      checkpoint.x = std::move(*values);
    } else if (section.name() == "best") {
      checkpoint.best->x = std::move(*values);
    } else {
      NamedVector slice;
      slice.name = section.name().substr(kOptimizerPrefix.size());
      slice.values = std::move(*values);
      checkpoint.optimizer.push_back(std::move(slice));
    }
  }
  return checkpoint;
}

}  // namespace covey::store
