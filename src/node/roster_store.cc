#include "node/roster_store.h"

#include <string_view>
#include <utility>

#include "covey/log/log.h"
#include "covey/store/file_system.h"

namespace covey::node {

Status RosterStore::Load(membership::Roster& roster) const {
  const auto bytes = store::ReadFile(path_, ByteCount{membership::kMaxRosterFile});
  if (!bytes && bytes.error().code == ErrorCode::kNoInput) return {};
  if (!bytes) return tl::unexpected(bytes.error());
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  const std::string problem = membership::ReadRoster(text, roster);
  if (problem.empty()) return {};
  const std::string aside = path_ + ".damaged";
  const Status kept = store::WriteAtomically(aside, bytes->view());
  log::Warning(log::Category::kStore,
               "a part of the file of admissions is no good and was passed over: " + problem,
               {{"path", path_}, {"copied_to", kept ? aside : kept.error().Format()}});
  return {};
}

void RosterStore::Change(std::string text) {
  const std::lock_guard lock(mutex_);
  changed_ = std::move(text);
}

void RosterStore::Save() {
  std::optional<std::string> text;
  {
    const std::lock_guard lock(mutex_);
    text = std::exchange(changed_, std::nullopt);
  }
  if (!text) return;
  const Status written = store::WriteAtomically(
      path_, ByteView(reinterpret_cast<const std::byte*>(text->data()), text->size()));
  if (written) return;
  log::WriteLimited(log::Level::kWarning, log::Category::kStore, "admissions",
                    "can't keep the admissions in a file: " + written.error().Format());
  const std::lock_guard lock(mutex_);
  if (!changed_) changed_ = std::move(text);
}

}  // namespace covey::node
