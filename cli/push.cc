#include "push.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

namespace covey {
namespace {

constexpr std::size_t kBlock = std::size_t{256} << 10;  // sent at once; also the longest line

Result<float> NumberOf(const std::string& word) {
  float value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc() && end == word.data() + word.size()) return value;
  return Fail(ErrorCode::kUsage, "push", "'" + word + "' is not a number",
              "numbers first, --class NAME behind them");
}

// Whether a table's first line names its columns: none of its cells is a number.
bool NamesColumns(std::string_view line) {
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find_first_of(",;\t", at), line.size());
    double value = 0;
    std::size_t begin = line.find_first_not_of(" \"", at);
    if (begin < end &&
        std::from_chars(line.data() + begin, line.data() + end, value).ec == std::errc()) {
      return false;
    }
    at = end + 1;
  }
  return true;
}

class TableSender {
 public:
  explicit TableSender(api::Client& client) : client_(client) {}

  // Sends what is complete. last: and what is not.
  Status Take(std::string_view bytes, bool last) {
    waiting_ += bytes;
    while (true) {
      const std::size_t limit = std::min(waiting_.size(), kBlock);
      std::size_t end = waiting_.rfind('\n', limit == 0 ? 0 : limit - 1);
      if (end == std::string::npos && last && limit == waiting_.size()) end = limit - 1;
      if (limit == 0) return {};
      if (end == std::string::npos && limit < kBlock) return {};
      if (end == std::string::npos) {
        return Fail(ErrorCode::kData, "line", "is longer than 256 KiB");
      }
      if (Status sent = Send(waiting_.substr(0, end + 1)); !sent) return sent;
      waiting_.erase(0, end + 1);
    }
  }
  const api::Pushed& pushed() const { return pushed_; }

 private:
  Status Send(std::string block) {
    if (!begun_) {
      const std::string first = block.substr(0, block.find('\n') + 1);
      if (NamesColumns(std::string_view(first).substr(0, first.find_last_not_of("\r\n") + 1))) {
        header_ = first;
      }
      begun_ = true;
    } else {
      block.insert(0, header_);
    }
    api::Samples samples;
    samples.table = std::move(block);
    const auto pushed = client_.Push(samples);
    if (!pushed) return tl::unexpected(pushed.error());
    pushed_.accepted += pushed->accepted;
    pushed_.rejected += pushed->rejected;
    if (pushed_.reason.empty()) pushed_.reason = pushed->reason;
    return {};
  }

  api::Client& client_;
  api::Pushed pushed_;
  std::string header_;
  std::string waiting_;
  bool begun_ = false;
};

Result<api::Pushed> PushFile(const std::string& path, api::Client& client) {
  const int file = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return Fail(errno == EACCES ? ErrorCode::kNoPermission : ErrorCode::kNoInput, path,
                std::strerror(errno));
  }
  TableSender sender(client);
  std::string bytes(kBlock, '\0');
  Status sent;
  ::ssize_t got = 0;
  do {
    got = ::read(file, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) sent = Fail(ErrorCode::kIo, path, std::strerror(errno));
    const std::size_t count = got > 0 ? static_cast<std::size_t>(got) : 0;
    if (sent) sent = sender.Take({bytes.data(), count}, got == 0);
  } while (sent && got != 0);
  if (path != "-") ::close(file);
  if (!sent) return tl::unexpected(sent.error());
  return sender.pushed();
}

Result<api::Samples> OneSample(const PushOptions& options) {
  api::Samples samples;
  for (const std::string& word : options.values) {
    const auto value = NumberOf(word);
    if (!value) return tl::unexpected(value.error());
    samples.values.push_back(*value);
  }
  samples.classes.push_back(options.label);
  return samples;
}

}  // namespace

Status Push(const PushOptions& options, const std::function<Result<api::Client>()>& connect) {
  const bool one = !options.values.empty() && !options.label.empty();
  if (one == !options.csv.empty()) {
    return Fail(ErrorCode::kUsage, "push", one ? "more than one source of samples" : "no sample",
                "give numbers and --class NAME, or --csv FILE");
  }
  auto client = connect();
  if (!client) return tl::unexpected(client.error());
  Result<api::Pushed> pushed;
  if (one) {
    const auto samples = OneSample(options);
    if (!samples) return tl::unexpected(samples.error());
    pushed = client->Push(*samples);
  } else {
    pushed = PushFile(options.csv, *client);
  }
  if (!pushed) return tl::unexpected(pushed.error());
  if (options.json) {
    const nlohmann::ordered_json json = {{"schema", "covey.push/1"},
                                         {"accepted", pushed->accepted},
                                         {"rejected", pushed->rejected},
                                         {"reason", pushed->reason}};
    std::printf(
        "%s\n",
        json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
  } else {
    std::printf("accepted %llu, rejected %llu\n", static_cast<unsigned long long>(pushed->accepted),
                static_cast<unsigned long long>(pushed->rejected));
  }
  if (pushed->rejected == 0) return {};
  std::fflush(stdout);
  return Fail(
      ErrorCode::kData, "push",
      std::to_string(pushed->rejected) + " samples were rejected; the first: " + pushed->reason);
}

}  // namespace covey
