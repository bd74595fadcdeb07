#include "covey/transport_zmq/keys.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "covey/base/check.h"

namespace covey::transport_zmq {
namespace {

constexpr std::size_t kZ85Size = 40;
constexpr std::size_t kMaxFile = 4096;

// Overwrites through volatile, so that the compiler can't leave it out.
void Wipe(void* at, std::size_t size) {
  volatile unsigned char* bytes = static_cast<unsigned char*>(at);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = 0;
}

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

tl::unexpected<Error> System(ErrorCode code, const std::string& path, const char* doing) {
  return Fail(code, path, std::string(doing) + ": " + std::strerror(errno));
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return text;
}

Result<KeyPair> Parse(const std::string& path, std::string_view text) {
  std::optional<PeerKey> shown;
  std::optional<PeerKey> secret;
  int line = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view whole = Trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line;
    if (whole.empty() || whole.front() == '#') continue;
    const std::string where = path + ":" + std::to_string(line);
    const std::size_t equals = whole.find('=');
    const std::string_view name =
        equals == std::string_view::npos ? whole : Trim(whole.substr(0, equals));
    std::optional<PeerKey>* into = name == "public" ? &shown : name == "secret" ? &secret : nullptr;
    // The content of a secret file is never repeated in a message.
    if (into == nullptr || equals == std::string_view::npos || into->has_value()) {
      return Fail(ErrorCode::kData, where, "got an unknown or repeated line",
                  "wanted one 'public = <hex>' and one 'secret = <hex>'");
    }
    const Result<PeerKey> key = PeerKey::FromHex(Trim(whole.substr(equals + 1)));
    if (!key) return Fail(ErrorCode::kData, where, "wanted 64 hex digits");
    *into = *key;
  }
  if (!shown || !secret) {
    return Fail(ErrorCode::kData, path, "wanted one 'public = <hex>' and one 'secret = <hex>'",
                "restore the file, or remove it to start with a new identity");
  }
  SecretKey bytes;
  bytes.bytes = secret->bytes;
  Wipe(secret->bytes.data(), secret->bytes.size());
  KeyPair keys = KeyPair::FromSecret(bytes);
  if (keys.public_key != *shown) {
    return Fail(ErrorCode::kData, path, "the public key does not belong to the secret key",
                "restore the file, or remove it to start with a new identity");
  }
  return keys;
}

Result<KeyPair> Read(const std::string& path, const File& file) {
  struct stat status {};
  if (::fstat(file.fd(), &status) != 0) return System(ErrorCode::kIo, path, "fstat");
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Fail(ErrorCode::kNoPermission, path, "others may read this secret key file",
                "run: chmod 600 " + path);
  }
  std::string text(kMaxFile, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(file.fd(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return System(ErrorCode::kIo, path, "read");
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  Result<KeyPair> keys = Parse(path, std::string_view(text).substr(0, size));
  Wipe(text.data(), text.size());
  return keys;
}

Status SyncDirectory(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const File directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.fd() < 0 || ::fsync(directory.fd()) != 0) {
    return System(ErrorCode::kIo, folder, "fsync");
  }
  return {};
}

Status Write(const std::string& path, const File& file, const KeyPair& keys) {
  PeerKey secret;
  secret.bytes = keys.secret.bytes;
  std::string hex = secret.Hex();
  std::string text =
      "# Covey node key. Whoever has the secret line is this node; keep it at mode 0600.\n";
  text += "public = " + keys.public_key.Hex() + "\nsecret = ";
  text.reserve(text.size() + hex.size() + 1);
  text += hex;
  text += '\n';
  Status status;
  std::size_t done = 0;
  while (done < text.size() && status) {
    const ssize_t put = ::write(file.fd(), text.data() + done, text.size() - done);
    if (put >= 0) {
      done += static_cast<std::size_t>(put);
    } else if (errno != EINTR) {
      status = System(ErrorCode::kIo, path, "write");
    }
  }
  if (status && ::fsync(file.fd()) != 0) status = System(ErrorCode::kIo, path, "fsync");
  Wipe(text.data(), text.size());
  Wipe(hex.data(), hex.size());
  Wipe(secret.bytes.data(), secret.bytes.size());
  return status;
}

}  // namespace

SecretKey::~SecretKey() { Wipe(bytes.data(), bytes.size()); }

KeyPair KeyPair::Generate() {
  char shown[kZ85Size + 1];
  char secret[kZ85Size + 1];
  COVEY_CHECK(zmq_curve_keypair(shown, secret) == 0, zmq_errno());
  KeyPair keys;
  zmq_z85_decode(keys.public_key.bytes.data(), shown);
  zmq_z85_decode(keys.secret.bytes.data(), secret);
  Wipe(secret, sizeof secret);
  return keys;
}

KeyPair KeyPair::FromSecret(const SecretKey& secret) {
  char text[kZ85Size + 1];
  char shown[kZ85Size + 1];
  zmq_z85_encode(text, secret.bytes.data(), secret.bytes.size());
  COVEY_CHECK(zmq_curve_public(shown, text) == 0, zmq_errno());
  Wipe(text, sizeof text);
  KeyPair keys;
  keys.secret = secret;
  zmq_z85_decode(keys.public_key.bytes.data(), shown);
  return keys;
}

Result<KeyPair> LoadOrCreateKeys(const std::string& path) {
  {
    const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.fd() >= 0) return Read(path, file);
    if (errno == EACCES) return System(ErrorCode::kNoPermission, path, "open");
    if (errno != ENOENT) return System(ErrorCode::kIo, path, "open");
  }
  // Written beside and then linked, so that a crash leaves no half of a key and no other process
  // loses its own.
  const std::string beside = path + ".new." + std::to_string(::getpid());
  ::unlink(beside.c_str());
  const File file(
      ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (file.fd() < 0) return System(ErrorCode::kCantCreate, path, "create");
  KeyPair keys = KeyPair::Generate();
  Status status = Write(path, file, keys);
  if (status && ::link(beside.c_str(), path.c_str()) != 0) {
    status = System(ErrorCode::kCantCreate, path, "link");
  }
  ::unlink(beside.c_str());
  if (status) status = SyncDirectory(path);
  if (!status) return tl::unexpected<Error>(status.error());
  return keys;
}

std::string ToZ85(const PeerKey& key) {
  char text[kZ85Size + 1];
  zmq_z85_encode(text, key.bytes.data(), key.bytes.size());
  return std::string(text, kZ85Size);
}

Result<PeerKey> FromZ85(std::string_view text) {
  PeerKey key;
  const std::string copy(text);
  if (text.size() != kZ85Size || zmq_z85_decode(key.bytes.data(), copy.c_str()) == nullptr) {
    return Fail(ErrorCode::kData, "Z85", "wanted 40 characters of Z85");
  }
  return key;
}

}  // namespace covey::transport_zmq
