#include "covey/api/version.h"

#include <covey_build_info.h>
#include <google/protobuf/stubs/common.h>
#include <sys/utsname.h>
#include <zmq.h>

#include "covey/tensor/kernels.h"
#include "covey/wire/limits.h"

namespace covey::api {
namespace {

std::string Platform() {
  utsname system{};
  if (::uname(&system) != 0) return "unknown";
  std::string name = std::string(system.sysname) + '/' + system.machine;
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return name;
}

std::string Compiler() {
#if defined(__clang__)
  return "clang++ " + std::to_string(__clang_major__) + '.' + std::to_string(__clang_minor__);
#else
  return "g++ " + std::to_string(__GNUC__) + '.' + std::to_string(__GNUC_MINOR__);
#endif
}

std::string ZmqVersion() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  ::zmq_version(&major, &minor, &patch);
  return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
}

}  // namespace

BuildInfo GetBuildInfo() {
  BuildInfo info;
  info.version = COVEY_BUILD_VERSION;
  info.commit = COVEY_BUILD_COMMIT;
  info.protocol = wire::kProtocolMax;
  info.platform = Platform();
  info.kernel_level = tensor::KernelLevel();
  info.compiler = Compiler();
  info.zmq = ZmqVersion();
  info.protobuf = google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION);
  return info;
}

std::string VersionLine(std::string_view program) {
  const BuildInfo info = GetBuildInfo();
  return std::string(program) + ' ' + info.version + " (git " + info.commit + ", protocol " +
         std::to_string(info.protocol) + ", " + info.platform + ", kernels " + info.kernel_level +
         ", " + info.compiler + ", zmq " + info.zmq + ", protobuf " + info.protobuf + ')';
}

}  // namespace covey::api
