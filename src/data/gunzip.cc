#include "data/gunzip.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace covey::data {
namespace {

constexpr std::size_t kChunk = std::size_t{128} << 10;
constexpr int kGzipWindow = 15 + 16;  // largest window; 16 asks zlib for the gzip wrapper

tl::unexpected<Error> Unpacking(const std::string& where, std::uint64_t offset, std::string what) {
  return Fail(ErrorCode::kData, AtByte(where, offset), std::move(what),
              "copy or download the file again");
}

// The consumer of unpacked bytes: finds the header, holds the rest to it.
class IdxSink {
 public:
  IdxSink(const TakeBytes* take, ByteCount limit, std::string where)
      : take_(take), limit_(limit), where_(std::move(where) + " (unpacked)") {}

  // Only the header is wanted: true once it is known, or can't become known.
  bool done() const { return take_ == nullptr && header_.has_value(); }
  const std::optional<IdxHeader>& header() const { return header_; }

  Status Take(ByteView bytes) {
    if (!header_) {
      const std::size_t missing = std::min(kMaxIdxHeaderBytes - start_.size(), bytes.size());
      start_.insert(start_.end(), bytes.begin(),
                    bytes.begin() + static_cast<std::ptrdiff_t>(missing));
      bytes = bytes.subspan(missing);
      if (start_.size() < kMaxIdxHeaderBytes) return {};
      if (const Status parsed = Parse(); !parsed) return parsed;
    }
    return Forward(bytes);
  }

  // The end of the gzip file.
  Result<IdxHeader> Finish() {
    if (!header_) {
      if (const Status parsed = Parse(); !parsed) return tl::unexpected<Error>(parsed.error());
    }
    if (take_ != nullptr && taken_ != header_->file_bytes) {
      return Unpacking(where_, taken_,
                       "truncated: got " + std::to_string(taken_) + " bytes, wanted " +
                           std::to_string(header_->file_bytes) + " for " +
                           FormatShape(header_->dimensions));
    }
    return *header_;
  }

 private:
  Status Parse() {
    Result<IdxHeader> header = ParseIdxHeader(start_, where_);
    if (!header) return tl::unexpected<Error>(header.error());
    if (header->file_bytes > limit_.value) {
      return Fail(ErrorCode::kData, AtByte(where_, 4),
                  "dimensions " + FormatShape(header->dimensions) + " need " +
                      std::to_string(header->file_bytes) + " bytes, above the limit of " +
                      FormatByteCount(limit_) + " for gzipped files",
                  "unpack it with gunzip: plain files have no limit");
    }
    header_ = std::move(*header);
    return Forward(start_);
  }

  Status Forward(ByteView bytes) {
    if (take_ == nullptr) return {};
    if (bytes.size() > header_->file_bytes - taken_) {
      return Unpacking(where_, header_->file_bytes,
                       "more bytes than its header says: wanted the end after " +
                           std::to_string(header_->file_bytes) + " bytes for " +
                           FormatShape(header_->dimensions));
    }
    taken_ += bytes.size();
    return (*take_)(bytes);
  }

  const TakeBytes* take_;  // nullptr: only the header
  ByteCount limit_;
  std::string where_;
  std::vector<std::byte> start_;
  std::optional<IdxHeader> header_;
  std::uint64_t taken_ = 0;
};

// zlib's inflate with its end of life.
class Inflater {
 public:
  Inflater() { ready_ = inflateInit2(&stream_, kGzipWindow) == Z_OK; }
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  bool ready() const { return ready_; }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

Result<IdxHeader> Run(const ReadBytes& read, IdxSink& sink, const std::string& where) {
  Inflater inflater;
  if (!inflater.ready()) {
    return Fail(ErrorCode::kSoftware, where, "zlib has no memory to start");
  }
  z_stream& z = inflater.stream();
  std::vector<std::byte> input(kChunk);
  std::vector<std::byte> output(kChunk);
  std::uint64_t consumed = 0;  // packed bytes that zlib has taken
  bool inside_member = false;  // between the start and the end of a gzip member
  while (!sink.done()) {
    const Result<std::size_t> got = read(input);
    if (!got) return tl::unexpected<Error>(got.error());
    if (*got == 0) {
      if (inside_member) return Unpacking(where, consumed, "the gzip file is truncated");
      return sink.Finish();
    }
    z.next_in = reinterpret_cast<Bytef*>(input.data());
    z.avail_in = static_cast<uInt>(*got);
    do {
      inside_member = true;
      z.next_out = reinterpret_cast<Bytef*>(output.data());
      z.avail_out = static_cast<uInt>(output.size());
      const uInt before = z.avail_in;
      const int code = inflate(&z, Z_NO_FLUSH);
      consumed += before - z.avail_in;
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
        return Unpacking(where, consumed,
                         std::string("damaged gzip data: ") +
                             (z.msg != nullptr ? z.msg : "zlib error " + std::to_string(code)));
      }
      const ByteView unpacked(output.data(), output.size() - z.avail_out);
      if (const Status taken = sink.Take(unpacked); !taken) {
        return tl::unexpected<Error>(taken.error());
      }
      if (code == Z_STREAM_END) {
        inside_member = false;
        inflateReset(&z);
      }
      // A full output buffer may mean that zlib holds more although its input is used up.
    } while (!sink.done() && (z.avail_in > 0 || (inside_member && z.avail_out == 0)));
  }
  return *sink.header();
}

}  // namespace

bool IsGzip(ByteView start) {
  return start.size() >= 2 && start[0] == std::byte{0x1f} && start[1] == std::byte{0x8b};
}

Result<IdxHeader> GunzipIdx(const ReadBytes& read, const TakeBytes& take, ByteCount limit,
                            const std::string& where) {
  IdxSink sink(&take, limit, where);
  return Run(read, sink, where);
}

Result<IdxHeader> PeekGzippedIdx(const ReadBytes& read, ByteCount limit, const std::string& where) {
  IdxSink sink(nullptr, limit, where);
  return Run(read, sink, where);
}

}  // namespace covey::data
