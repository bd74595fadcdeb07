#include "covey/faults/byte_faults.h"

#include <algorithm>

#include "covey/base/check.h"

namespace covey::faults {
namespace {

// Apart from the stream of MessageFaults, so that switching byte faults on leaves the fate of
// messages as it is.
constexpr std::uint64_t kBytesSalt = 0x6279746573ull;

}  // namespace

ByteFaults::ByteFaults(const Settings& settings, std::uint64_t node_seed, std::uint32_t node,
                       transport::Transport& inner)
    : settings_(settings),
      stream_((settings.seed != 0 ? settings.seed : node_seed) ^ kBytesSalt, node,
              Purpose::kFaults),
      inner_(inner),
      bucket_(static_cast<double>(settings.throttle.value)) {
  COVEY_CHECK(Validate(settings).has_value());
}

void ByteFaults::SetTime(Time now) {
  const auto rate = static_cast<double>(settings_.throttle.value);
  bucket_ = std::min(rate, bucket_ + rate * Seconds(now - now_));
  now_ = now;
}

transport::SendResult ByteFaults::Send(transport::LinkId link, ByteView header, ByteView body) {
  const bool throttled = settings_.throttle.value > 0;
  if (throttled && bucket_ <= 0) {
    ++counters_.throttled;
    return transport::SendResult::kFull;
  }
  if (stream_.Chance(settings_.cut)) {
    ++counters_.cut;
    inner_.Close(link);
    return transport::SendResult::kGone;
  }
  const bool corrupt = stream_.Chance(settings_.corrupt);
  const transport::SendResult result =
      corrupt ? SendCorrupted(link, header, body) : inner_.Send(link, header, body);
  if (result == transport::SendResult::kSent) {
    if (corrupt) ++counters_.corrupted;
    if (throttled) bucket_ -= static_cast<double>(header.size() + body.size());
  }
  return result;
}

transport::SendResult ByteFaults::SendCorrupted(transport::LinkId link, ByteView header,
                                                ByteView body) {
  copy_.assign(header.begin(), header.end());
  copy_.insert(copy_.end(), body.begin(), body.end());
  const std::uint64_t bit = stream_.Below(copy_.size() * 8);
  copy_[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
  const ByteView damaged(copy_);
  return inner_.Send(link, damaged.first(header.size()), damaged.subspan(header.size()));
}

}  // namespace covey::faults
