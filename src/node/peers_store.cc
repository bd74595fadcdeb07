#include "node/peers_store.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "covey/log/log.h"
#include "covey/store/file_system.h"

namespace covey::node {
namespace {

constexpr Duration kRewriteEvery = std::chrono::minutes(1);

Result<std::vector<membership::StoredPeer>> ReadPeers(const std::string& path) {
  const auto bytes = store::ReadFile(path, ByteCount{membership::kMaxPeersFile});
  if (!bytes) return tl::unexpected(bytes.error());
  const ByteView view = bytes->view();
  return membership::ParsePeers(
      std::string_view(reinterpret_cast<const char*>(view.data()), view.size()));
}

}  // namespace

std::vector<membership::StoredPeer> PeersStore::Load() const {
  auto peers = ReadPeers(path_);
  if (peers) return std::move(*peers);
  if (peers.error().code == ErrorCode::kNoInput) return {};
  const std::string aside = path_ + ".damaged";
  const bool moved = std::rename(path_.c_str(), aside.c_str()) == 0;
  log::Warning(log::Category::kStore,
               "can't use the file of peers and goes on without it: " + peers.error().Format(),
               {{"path", path_}, {"moved_to", moved ? aside.c_str() : std::strerror(errno)}});
  return {};
}

void PeersStore::Save(const std::vector<membership::Known>& peers, Time now) {
  std::string kept;
  for (const membership::Known& peer : peers) {
    if (!peer.address.empty() && peer.heard) kept += peer.key.Hex() + peer.address + '\n';
  }
  if (kept == kept_ && (kept.empty() || now < written_ + kRewriteEvery)) return;
  const std::string text = membership::FormatPeers(peers, now);
  const Status written = store::WriteAtomically(
      path_, ByteView(reinterpret_cast<const std::byte*>(text.data()), text.size()));
  if (!written) {
    log::WriteLimited(log::Level::kWarning, log::Category::kStore, "peers",
                      "can't keep the peers in a file: " + written.error().Format());
    return;
  }
  kept_ = kept;
  written_ = now;
}

}  // namespace covey::node
