#include "authorized_keys.h"

#include "covey/store/file_system.h"

namespace covey {
namespace {

constexpr ByteCount kMaxFile{1 << 20};

}  // namespace

Result<std::set<PeerKey>> ParseKeys(std::string_view text, const std::string& file) {
  std::set<PeerKey> keys;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    line = line.substr(0, line.find_first_of(" \t\r#"));
    if (line.empty()) continue;
    const auto key = PeerKey::FromHex(line);
    if (!key) {
      return Fail(ErrorCode::kConfig, file + ':' + std::to_string(number), key.error().what,
                  "one public key of 64 hex digits a line");
    }
    keys.insert(*key);
  }
  return keys;
}

Result<std::set<PeerKey>> KnownKeys(const config::NodeConfig& config) {
  std::set<PeerKey> keys;
  const std::string& file = config.security.authorized_keys_file;
  if (!file.empty()) {
    const auto bytes = store::ReadFile(file, kMaxFile);
    if (!bytes) return tl::unexpected(bytes.error());
    auto parsed = ParseKeys({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, file);
    if (!parsed) return tl::unexpected(parsed.error());
    keys = std::move(*parsed);
  }
  keys.insert(config.security.authorized_keys.begin(), config.security.authorized_keys.end());
  for (const config::Seed& seed : config.network.seeds) keys.insert(seed.key);
  return keys;
}

}  // namespace covey
