#include "harness/console.h"

#include <filesystem>
#include <span>
#include <system_error>

#include "covey/api/version.h"
#include "covey/store/file_system.h"

namespace covey::harness {

void Print(std::FILE* to, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

int Complain(const Error& error) {
  // A report on a configuration file is printed as it is: editors jump to its lines.
  const bool report = error.code == ErrorCode::kConfig && error.what.find('\n') != error.what.npos;
  Print(stderr, (report ? error.what : "covey-sim: " + error.Format()) + '\n');
  return ExitCode(error);
}

Status MakeSharedFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return Fail(ErrorCode::kCantCreate, path, error.message());
  return {};
}

Status WriteShared(const std::string& path, std::string_view text) {
  store::WriteOptions options;
  options.mode = 0644;
  return store::WriteAtomically(path, std::as_bytes(std::span(text.data(), text.size())), options);
}

std::string BuildLine() {
  const api::BuildInfo build = api::GetBuildInfo();
  return "covey-sim " + build.version + " (" + build.commit + ", kernels " + build.kernel_level +
         ")";
}

}  // namespace covey::harness
