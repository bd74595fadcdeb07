// Log lines of a daemon: a level, a category, one sentence, and named values behind it.
//
// Everything goes to stderr; stdout belongs to data. Under systemd (JOURNAL_STREAM is set) a line
// starts with its syslog priority <3>..<7> and has no time stamp, because the journal adds one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "covey/base/result.h"

namespace covey::log {

// What a level means: kError: the daemon can't do a part of its work and somebody should look.
// kWarning: it goes on, but not as configured. kInfo: what an operator wants to see once. kDebug:
// for the authors; may hold text that a peer sent.
enum class Level : std::uint8_t { kDebug, kInfo, kWarning, kError, kOff };

// The part of the daemon that speaks. kCount is their number.
enum class Category : std::uint8_t {
  kNode,
  kTraining,
  kConsensus,
  kNetwork,
  kData,
  kStore,
  kApi,
  kCount
};

inline constexpr std::size_t kCategories = static_cast<std::size_t>(Category::kCount);

std::string_view Name(Level level);        // "debug", "info", "warning", "error", "off"
std::string_view Name(Category category);  // "node", "training", ...
// Errors: kConfig with the names that exist.
Result<Level> ParseLevel(std::string_view name);

struct Settings {
  enum class Format : std::uint8_t {
    kText,  // "2026-01-31T12:00:00.123Z info network: peer up peer=0a1b2c3d"
    kJson,  // {"time":"...","level":"info","category":"network","message":"peer
            // up","peer":"0a1b2c3d"}
  };
  Level level = Level::kInfo;
  std::array<std::optional<Level>, kCategories> levels{};  // where set: instead of `level`
  Format format = Format::kText;
};

// A named value of a line: text, a number, or a truth value. Views must live until the call
// returns.
class Field {
 public:
  Field(std::string_view name, std::string_view value) : name_(name), text_(value) {}
  Field(std::string_view name, const char* value) : name_(name), text_(value) {}
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Field(std::string_view name, T value) : name_(name), text_(Number(value)), quoted_(false) {}

  std::string_view name() const { return name_; }
  const std::string& text() const { return text_; }
  bool quoted() const { return quoted_; }  // text: JSON quotes it

 private:
  static std::string Number(double value);
  static std::string Number(bool value) { return value ? "true" : "false"; }
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  static std::string Number(T value) {
    return std::to_string(value);
  }

  std::string_view name_;
  std::string text_;
  bool quoted_ = true;
};

using Fields = std::initializer_list<Field>;

// Sets levels and format of the process. Before the first call: info, text.
// Thread: any, but meant for the start, before other threads log.
void Configure(const Settings& settings);
bool Enabled(Level level, Category category);

// Writes one line. Control characters in text and values are escaped, and a line ends after 4 KiB,
// so nothing that a peer sent can forge lines or fill disks. Thread: any.
void Write(Level level, Category category, std::string_view text, Fields fields = {});

inline void Debug(Category category, std::string_view text, Fields fields = {}) {
  Write(Level::kDebug, category, text, fields);
}
inline void Info(Category category, std::string_view text, Fields fields = {}) {
  Write(Level::kInfo, category, text, fields);
}
inline void Warning(Category category, std::string_view text, Fields fields = {}) {
  Write(Level::kWarning, category, text, fields);
}
inline void Error(Category category, std::string_view text, Fields fields = {}) {
  Write(Level::kError, category, text, fields);
}

// As Write, but at most one line a minute for each `key` ("unreachable 0a1b2c3d"); the next line
// says how many were left out: "(repeated 120x in 10min)". At most 256 keys are remembered
// (log/repeats.h).
void WriteLimited(Level level, Category category, std::string_view key, std::string_view text,
                  Fields fields = {});

// Where finished lines go, instead of stderr; nullptr restores stderr. For tests.
using Sink = std::function<void(Level level, std::string_view line)>;
void SetSink(Sink sink);

}  // namespace covey::log
