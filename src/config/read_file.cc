#include "config/read_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "config/source.h"
#include "config/tree.h"

namespace covey::config {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Returns: the length of the UTF-8 character at `at`; 0 when there is none.
std::size_t CharacterLength(std::string_view text, std::size_t at) {
  const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return lead >= 0x20 || lead == '\t' || lead == '\n' ? 1 : 0;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  if (length == 0 || lead > 0xF4 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = byte(at + 1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second >= 0xA0;
  const bool too_large = lead == 0xF4 && second >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

// Returns: the text without byte order mark and with '\n' as its line ends.
std::string Clean(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    clean += text[i];
  }
  return clean;
}

// Returns: where the first byte stands that is no text, if there is one.
std::optional<Span> FirstBadByte(std::string_view text) {
  Span span;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = CharacterLength(text, i);
    if (length == 0) return span;
    span.column += length;
    if (text[i] == '\n') span = {span.line + 1, 0, 1};
    i += length;
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> CleanText(std::string_view raw, const std::string& name) {
  if (raw.size() > kMaxFileBytes) {
    return Fail(ErrorCode::kConfig, {},
                name + ": error: larger than " + std::to_string(kMaxFileBytes) +
                    " bytes\n1 error; configuration not loaded.");
  }
  std::string text = Clean(raw);
  if (const std::optional<Span> bad = FirstBadByte(text)) {
    // The line is not shown: it may hold anything.
    return Fail(ErrorCode::kConfig, {},
                name + ":" + std::to_string(bad->line + 1) + ": error: not a text in UTF-8 (byte " +
                    std::to_string(bad->column + 1) +
                    " of the line)\n1 error; configuration not loaded.");
  }
  return text;
}

Result<std::string> ReadConfigFile(const std::string& path) {
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
  if (!std::filesystem::exists(status)) {
    if (failure && failure != std::errc::no_such_file_or_directory) {
      const bool denied = failure == std::errc::permission_denied;
      return Fail(denied ? ErrorCode::kNoPermission : ErrorCode::kIo, path, failure.message());
    }
    return Fail(ErrorCode::kNoInput, path, "no such file", "give the path of a YAML file");
  }
  if (std::filesystem::is_directory(status)) {
    return Fail(ErrorCode::kNoInput, path, "is a directory", "give the path of a YAML file");
  }
  if (!std::filesystem::is_regular_file(status)) {
    return Fail(ErrorCode::kNoInput, path, "is not a regular file", "give the path of a YAML file");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const int reason = errno;
    return Fail(reason == EACCES ? ErrorCode::kNoPermission : ErrorCode::kIo, path,
                std::string("cannot be read: ") + std::strerror(reason));
  }
  std::string text(kMaxFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return Fail(ErrorCode::kIo, path, "reading failed");
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace covey::config
