#include "operator_key.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "covey/base/ids.h"
#include "covey/store/file_system.h"

namespace covey {
namespace {

constexpr ByteCount kMaxKeyFile{4096};
constexpr std::string_view kSecretLine = "secret = ";

}  // namespace

Result<membership::SigningKey> MakeOperatorKey(const std::string& path) {
  // Claims the name first, so that no two programs think that theirs is in it.
  const int claim = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (claim < 0) return Fail(ErrorCode::kCantCreate, path, std::strerror(errno));
  ::close(claim);
  const membership::SigningKey key = membership::SigningKey::Generate();
  PeerKey secret;
  secret.bytes = key.seed;
  const std::string text =
      "# The key of a fleet's operator: whoever has it lets nodes in and sends them away.\n# Keep "
      "it "
      "off the nodes, at mode 0600, and keep a copy.\n# public = " +
      key.Public().Hex() + '\n' + std::string(kSecretLine) + secret.Hex() + '\n';
  const Status written = store::WriteAtomically(
      path, ByteView(reinterpret_cast<const std::byte*>(text.data()), text.size()));
  if (written) return key;
  ::unlink(path.c_str());
  return tl::unexpected(written.error());
}

Result<membership::SigningKey> ReadOperatorKey(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && (info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Fail(ErrorCode::kNoPermission, path, "others may read this secret key file",
                "run: chmod 600 " + path);
  }
  const auto bytes = store::ReadFile(path, kMaxKeyFile);
  if (!bytes) {
    Error error = bytes.error();
    if (error.code == ErrorCode::kNoInput) {
      error.hint = "`covey fleet key " + path + "` makes one for a new fleet";
    }
    return tl::unexpected(std::move(error));
  }
  std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  const std::size_t at = text.find(std::string("\n") + std::string(kSecretLine));
  if (at != std::string_view::npos) {
    text.remove_prefix(at + 1 + kSecretLine.size());
    if (const auto secret = PeerKey::FromHex(text.substr(0, text.find('\n')))) {
      membership::SigningKey key;
      key.seed = secret->bytes;
      return key;
    }
  }
  // The content of a secret file is never repeated in a message.
  return Fail(ErrorCode::kData, path, "holds no operator's key",
              "restore it; a new key makes a new fleet");
}

}  // namespace covey
