// A zip file's directory, and one of its members unpacked.
// Source: PKWARE, APPNOTE.TXT 6.3. Where we differ: one disk; no Zip64 beyond what numpy writes for
// small files, no encryption.
#include <zlib.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "covey/base/bytes.h"
#include "covey/base/sha256.h"
#include "data/cache.h"
#include "data/npy.h"
#include "data/table_file.h"

namespace covey::data {
namespace {

constexpr std::size_t kZipEnd = 22;         // bytes of the end record without a comment
constexpr std::size_t kZipComment = 65535;  // longest
constexpr std::size_t kZipEntry = 46;       // bytes of a directory entry without its texts
constexpr std::size_t kZipLocal = 30;       // bytes of a member's own header without its texts
constexpr std::size_t kMostDirectory = std::size_t{4} << 20;
constexpr std::size_t kZipChunk = std::size_t{128} << 10;

struct ZipMember {
  std::string name;
  std::uint64_t offset = 0;  // of its own header
  std::uint64_t packed = 0;
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  unsigned method = 0;
  unsigned flags = 0;
};

tl::unexpected<Error> BadZip(const std::string& path, std::uint64_t offset, std::string what) {
  return Fail(ErrorCode::kData, AtByte(path, offset), std::move(what),
              "write it with numpy.savez, or copy the file again");
}

template <class T>
std::uint64_t Little(const std::vector<std::byte>& bytes, std::size_t at) {
  return LoadLittle<T>(bytes.data() + at);
}

Result<std::vector<std::byte>> ReadPart(const InputFile& file, const std::string& path,
                                        std::uint64_t offset, std::size_t size) {
  std::vector<std::byte> bytes(size);
  const Result<std::size_t> got = ReadAt(file, offset, bytes, path);
  if (!got) return tl::unexpected<Error>(got.error());
  if (*got != size) return BadZip(path, offset + *got, "the zip file is truncated");
  return bytes;
}

Result<std::vector<ZipMember>> ReadDirectory(const InputFile& file, const std::string& path) {
  const std::size_t tail =
      static_cast<std::size_t>(std::min<std::uint64_t>(file.size, kZipEnd + kZipComment));
  const auto end = ReadPart(file, path, file.size - tail, tail);
  if (!end) return tl::unexpected<Error>(end.error());
  std::optional<std::size_t> found;
  for (std::size_t at = 0; at + kZipEnd <= end->size(); ++at) {
    if (Little<std::uint32_t>(*end, at) == 0x06054b50) found = at;
  }
  if (!found) return BadZip(path, file.size, "no directory at its end: this is no zip file");
  const std::uint64_t size = Little<std::uint32_t>(*end, *found + 12);
  const std::uint64_t offset = Little<std::uint32_t>(*end, *found + 16);
  if (size > kMostDirectory || offset > file.size || size > file.size - offset) {
    return BadZip(path, offset, "a directory that is not within the file, or Zip64");
  }
  const auto bytes = ReadPart(file, path, offset, static_cast<std::size_t>(size));
  if (!bytes) return tl::unexpected<Error>(bytes.error());
  std::vector<ZipMember> members;
  for (std::size_t at = 0; at + kZipEntry <= bytes->size();) {
    if (Little<std::uint32_t>(*bytes, at) != 0x02014b50) {
      return BadZip(path, offset + at, "a damaged directory");
    }
    ZipMember member;
    member.flags = static_cast<unsigned>(Little<std::uint16_t>(*bytes, at + 8));
    member.method = static_cast<unsigned>(Little<std::uint16_t>(*bytes, at + 10));
    member.crc = static_cast<std::uint32_t>(Little<std::uint32_t>(*bytes, at + 16));
    member.packed = Little<std::uint32_t>(*bytes, at + 20);
    member.size = Little<std::uint32_t>(*bytes, at + 24);
    member.offset = Little<std::uint32_t>(*bytes, at + 42);
    const auto name = static_cast<std::size_t>(Little<std::uint16_t>(*bytes, at + 28));
    const std::size_t others = static_cast<std::size_t>(Little<std::uint16_t>(*bytes, at + 30) +
                                                        Little<std::uint16_t>(*bytes, at + 32));
    if (name + others > bytes->size() - at - kZipEntry) {
      return BadZip(path, offset + at, "a damaged directory");
    }
    member.name.assign(reinterpret_cast<const char*>(bytes->data()) + at + kZipEntry, name);
    members.push_back(std::move(member));
    at += kZipEntry + name + others;
  }
  return members;
}

// Unpacks a member's bytes that begin at `offset` into `take`, never more than it says.
Status Unpack(const InputFile& file, const std::string& path, const ZipMember& member,
              std::uint64_t offset, const TakeBytes& take) {
  z_stream z{};
  if (inflateInit2(&z, -15) != Z_OK) return Fail(ErrorCode::kSoftware, path, "zlib has no memory");
  std::vector<std::byte> input(kZipChunk);
  std::vector<std::byte> output(kZipChunk);
  std::uint64_t left = member.packed;
  std::uint64_t taken = 0;
  std::uint32_t crc = 0;
  Status done;
  const auto give = [&](ByteView part) {
    taken += part.size();
    crc = static_cast<std::uint32_t>(
        ::crc32(crc, reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(part.size())));
    done = taken > member.size
               ? BadZip(path, offset, "'" + member.name + "' is longer than it says")
               : take(part);
  };
  int code = Z_OK;
  while (done && left > 0 && code != Z_STREAM_END) {
    const MutableByteView part(
        input.data(), static_cast<std::size_t>(std::min<std::uint64_t>(left, input.size())));
    const Result<std::size_t> got = ReadAt(file, offset + member.packed - left, part, path);
    if (!got || *got == 0) {
      done = got ? BadZip(path, file.size, "the zip file is truncated")
                 : tl::unexpected<Error>(got.error());
      break;
    }
    left -= *got;
    if (member.method == 0) {
      give(ByteView(part).first(*got));
      continue;
    }
    z.next_in = reinterpret_cast<Bytef*>(input.data());
    z.avail_in = static_cast<uInt>(*got);
    do {
      z.next_out = reinterpret_cast<Bytef*>(output.data());
      z.avail_out = static_cast<uInt>(output.size());
      code = inflate(&z, Z_NO_FLUSH);
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
        done = BadZip(path, offset, "'" + member.name + "' is damaged");
        break;
      }
      give(ByteView(output).first(output.size() - z.avail_out));
    } while (done && code != Z_STREAM_END && (z.avail_in > 0 || z.avail_out == 0));
  }
  inflateEnd(&z);
  if (done && (taken != member.size || crc != member.crc)) {
    done = BadZip(path, offset, "'" + member.name + "' is damaged");
  }
  return done;
}

}  // namespace

Result<InputFile> OpenNpzArray(const std::string& path, const std::string& array,
                               const std::string& cache_folder) {
  Result<InputFile> file = OpenInput(path);
  if (!file) return file;
  const auto members = ReadDirectory(*file, path);
  if (!members) return tl::unexpected<Error>(members.error());
  const auto member = std::find_if(
      members->begin(), members->end(),
      [&array](const ZipMember& one) { return one.name == array || one.name == array + ".npy"; });
  if (member == members->end()) {
    std::string names;
    for (std::size_t i = 0; i < std::min<std::size_t>(members->size(), 12); ++i) {
      names += (names.empty() ? "" : ", ") + (*members)[i].name.substr(0, 60);
    }
    return Fail(ErrorCode::kData, path, "there is no array '" + array + "'", "arrays are " + names);
  }
  if ((member->method != 0 && member->method != Z_DEFLATED) || (member->flags & 1) != 0) {
    return BadZip(path, member->offset,
                  "'" + array +
                      "' is encrypted, or packed in a way that is "
                      "neither stored nor deflated");
  }
  if (member->size == 0) return BadZip(path, member->offset, "'" + array + "' is empty");
  if (member->size == 0xffffffff) {
    return BadZip(path, member->offset, "'" + array + "' says that it needs 4 GiB or more");
  }
  const auto local = ReadPart(*file, path, member->offset, kZipLocal);
  if (!local) return tl::unexpected<Error>(local.error());
  if (Little<std::uint32_t>(*local, 0) != 0x04034b50) {
    return BadZip(path, member->offset, "'" + array + "' has a damaged header");
  }
  const std::uint64_t offset = member->offset + kZipLocal + Little<std::uint16_t>(*local, 26) +
                               Little<std::uint16_t>(*local, 28);
  const std::string name =
      Sha256::Of("npz 1" + StateOf(*file, path) + '\0' + array).Hex().substr(0, 32) + ".idx";
  const std::string unpacked = cache_folder + "/" + name;
  std::optional<InputFile> good;
  const Status made = MakeInCache(
      {.folder = cache_folder, .name = name},
      [&] {
        Result<InputFile> opened = OpenInput(unpacked);
        if (opened && opened->size == member->size) good = std::move(*opened);
        return good.has_value();
      },
      [&](int to, const std::string& temporary) {
        return Unpack(*file, path, *member, offset,
                      [&](ByteView bytes) { return WriteAll(to, bytes, temporary); });
      });
  if (!made) return tl::unexpected<Error>(made.error());
  return std::move(*good);
}

}  // namespace covey::data
