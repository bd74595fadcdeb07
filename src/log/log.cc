#include "covey/log/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>

#include "covey/log/repeats.h"
#include "log/escape.h"

namespace covey::log {
namespace {

constexpr std::size_t kMaxLine = 4096;
constexpr auto kRepeatWindow = std::chrono::minutes(1);

constexpr std::array<std::string_view, 5> kLevelNames = {"debug", "info", "warning", "error",
                                                         "off"};
constexpr std::array<std::string_view, kCategories> kCategoryNames = {
    "node", "training", "consensus", "network", "data", "store", "api"};

spdlog::level::level_enum ToSpdlog(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarning:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
    case Level::kOff:
      break;
  }
  return spdlog::level::off;
}

Level FromSpdlog(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::info:
      return Level::kInfo;
    case spdlog::level::warn:
      return Level::kWarning;
    case spdlog::level::err:
    case spdlog::level::critical:
      return Level::kError;
    default:
      return Level::kDebug;
  }
}

// "%*" in a pattern: the syslog priority that journald reads (sd-daemon(3)).
class PriorityFlag : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    const char* priority = "<7>";
    if (message.level == spdlog::level::info) priority = "<6>";
    if (message.level == spdlog::level::warn) priority = "<4>";
    if (message.level >= spdlog::level::err) priority = "<3>";
    out.append(priority, priority + 3);
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<PriorityFlag>();
  }
};

// Hands finished lines to a function.
class CallbackSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit CallbackSink(Sink receiver) : receiver_(std::move(receiver)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    std::string_view text(line.data(), line.size());
    if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    receiver_(FromSpdlog(message.level), text);
  }
  void flush_() override {}

 private:
  Sink receiver_;
};

std::string Pattern(Settings::Format format, bool journal) {
  const std::string time = "%Y-%m-%dT%H:%M:%S.%eZ";
  if (format == Settings::Format::kJson) {
    return journal ? R"(%*{"level":"%l","category":"%n",%v})"
                   : R"({"time":")" + time + R"(","level":"%l","category":"%n",%v})";
  }
  return journal ? "%*%n: %v" : time + " %^%l%$ %n: %v";
}

// The loggers of the process. They share one sink; the mutex guards its exchange and the repeat
// counts.
class Loggers {
 public:
  static Loggers& Get() {
    static Loggers* loggers = new Loggers;  // never destroyed: threads may log until the very end
    return *loggers;
  }

  void Configure(const Settings& settings) {
    const std::lock_guard lock(mutex_);
    settings_ = settings;
    Apply();
  }

  void SetSink(Sink sink) {
    const std::lock_guard lock(mutex_);
    if (sink) {
      sink_ = std::make_shared<CallbackSink>(std::move(sink));
    } else {
      sink_ = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
    }
    Apply();
  }

  std::shared_ptr<spdlog::logger> Of(Category category) {
    const std::lock_guard lock(mutex_);
    return loggers_[static_cast<std::size_t>(category)];
  }

  bool json() const {
    const std::lock_guard lock(mutex_);
    return settings_.format == Settings::Format::kJson;
  }

  std::optional<std::string> Admit(std::string_view key) {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return repeats_.Admit(std::chrono::duration_cast<Time>(now), key);
  }

 private:
  Loggers() : sink_(std::make_shared<spdlog::sinks::stderr_color_sink_mt>()) { Apply(); }

  // New loggers instead of changed ones: a thread that logs right now finishes with the old one.
  void Apply() {
    const char* journal = std::getenv("JOURNAL_STREAM");
    auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
    formatter->add_flag<PriorityFlag>('*').set_pattern(
        Pattern(settings_.format, journal != nullptr && *journal != '\0'));
    sink_->set_formatter(std::move(formatter));
    for (std::size_t i = 0; i < kCategories; ++i) {
      loggers_[i] = std::make_shared<spdlog::logger>(std::string(kCategoryNames[i]), sink_);
      loggers_[i]->set_level(ToSpdlog(settings_.levels[i].value_or(settings_.level)));
    }
  }

  mutable std::mutex mutex_;
  Settings settings_;
  std::shared_ptr<spdlog::sinks::sink> sink_;
  std::array<std::shared_ptr<spdlog::logger>, kCategories> loggers_;
  Repeats repeats_{kRepeatWindow};
};

std::string_view Shorten(std::string_view text, std::size_t room) {
  return text.substr(0, std::min(text.size(), room));
}

// Shapes: at most kMaxLine bytes before escaping.
std::string Compose(std::string_view text, Fields fields, std::string_view suffix, bool json) {
  std::size_t room = kMaxLine;
  text = Shorten(text, room);
  room -= text.size();
  std::string line;
  if (json) {
    line = "\"message\":\"" + EscapeJson(text) + EscapeJson(suffix) + '"';
  } else {
    line = EscapeText(text) + EscapeText(suffix);
  }
  for (const Field& field : fields) {
    const std::string_view value = Shorten(field.text(), room);
    room -= value.size();
    if (json) {
      line += ",\"" + EscapeJson(field.name()) + "\":";
      line += field.quoted() ? '"' + EscapeJson(value) + '"' : std::string(value);
    } else {
      line += ' ' + EscapeText(field.name()) + '=' + EscapeValue(value);
    }
  }
  return line;
}

void WriteLine(Level level, Category category, std::string_view text, Fields fields,
               std::string_view suffix) {
  Loggers& loggers = Loggers::Get();
  const auto logger = loggers.Of(category);
  if (!logger->should_log(ToSpdlog(level))) return;
  const std::string line = Compose(text, fields, suffix, loggers.json());
  logger->log(ToSpdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace

std::string_view Name(Level level) { return kLevelNames[static_cast<std::size_t>(level)]; }

std::string_view Name(Category category) {
  return kCategoryNames[static_cast<std::size_t>(category)];
}

Result<Level> ParseLevel(std::string_view name) {
  for (std::size_t i = 0; i < kLevelNames.size(); ++i) {
    if (kLevelNames[i] == name) return static_cast<Level>(i);
  }
  return Fail(ErrorCode::kConfig, "", "'" + std::string(name) + "' is not a log level",
              "use debug, info, warning, error or off");
}

std::string Field::Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  // JSON has no infinities; as text they stay readable and quoting is not needed.
  if (value != value || value - value != 0) return "null";
  return text;
}

void Configure(const Settings& settings) { Loggers::Get().Configure(settings); }

bool Enabled(Level level, Category category) {
  return Loggers::Get().Of(category)->should_log(ToSpdlog(level));
}

void Write(Level level, Category category, std::string_view text, Fields fields) {
  WriteLine(level, category, text, fields, "");
}

void WriteLimited(Level level, Category category, std::string_view key, std::string_view text,
                  Fields fields) {
  if (!Enabled(level, category)) return;
  if (const auto suffix = Loggers::Get().Admit(key)) {
    WriteLine(level, category, text, fields, *suffix);
  }
}

void SetSink(Sink sink) { Loggers::Get().SetSink(std::move(sink)); }

}  // namespace covey::log
