// Errors that come from outside (peer bytes, files, configuration, flags) are values.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace covey {

// What kind of failure, each with the exit code of a program that ends because of it (BSD
// sysexits).
enum class ErrorCode : int {
  kUsage = 64,         // command line
  kData = 65,          // a data set or model file has the wrong content
  kNoInput = 66,       // a file that should be read is missing
  kUnavailable = 69,   // a daemon or peer can't be reached
  kSoftware = 70,      // a bug or a numerical failure inside Covey
  kCantCreate = 73,    // a file or socket can't be created
  kIo = 74,            // reading or writing failed (disk full, I/O error)
  kTemporary = 75,     // try again later
  kProtocol = 76,      // version, fleet or model differs
  kNoPermission = 77,  // the system said no
  kConfig = 78,        // configuration
};

// A failure: where it happened (file:line:col, peer, flag), what is wrong (got, wanted), and what
// to do about it.
struct Error {
  ErrorCode code = ErrorCode::kSoftware;
  std::string where;
  std::string what;
  std::string hint;  // may be empty

  // Returns: "where: what; hint", leaving out what is empty.
  std::string Format() const;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> Fail(ErrorCode code, std::string where, std::string what,
                                  std::string hint = {}) {
  return tl::unexpected<Error>(Error{code, std::move(where), std::move(what), std::move(hint)});
}

inline int ExitCode(const Error& error) { return static_cast<int>(error.code); }

}  // namespace covey
