#include "node/knocker.h"

#include <utility>

#include "covey/log/log.h"
#include "covey/node/process.h"
#include "covey/wire/membership.h"

namespace covey::node {

void Knocker::Knock(std::vector<membership::Door> doors, membership::RecordBytes record) {
  {
    const std::lock_guard lock(mutex_);
    if (busy_ || round_ || stopping_) return;
    round_ = Round{std::move(doors), std::move(record)};
    if (!thread_.joinable()) {
      thread_ = std::thread([this] {
        NameThread("knocker");
        Run();
      });
    }
  }
  changed_.notify_all();
}

void Knocker::Stop() {
  std::thread ended;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    ended.swap(thread_);
  }
  changed_.notify_all();
  if (ended.joinable()) ended.join();
}

void Knocker::Run() {
  while (true) {
    Round round;
    {
      std::unique_lock lock(mutex_);
      busy_ = false;
      changed_.wait(lock, [this] { return round_ || stopping_; });
      if (stopping_) return;
      round = std::move(*round_);
      round_.reset();
      busy_ = true;
    }
    Try(round);
  }
}

void Knocker::Try(const Round& round) {
  for (const membership::Door& door : round.doors) {
    if (stopping_) return;
    const auto heard = driver_.Knock(door.key, door.address, round.record, stopping_);
    const auto answer =
        heard ? membership::ParseAnswer(*heard) : tl::unexpected(heard.error().Format());
    if (answer) {
      log::Info(log::Category::kNetwork, "a door opened", {{"door", door.address}});
      opened_(door.key, wire::AddressSeenFrom("tcp://" + door.address, *answer));
      return;
    }
    log::WriteLimited(log::Level::kWarning, log::Category::kNetwork, "knock " + door.address,
                      "a door does not open", {{"door", door.address}, {"reason", answer.error()}});
  }
}

}  // namespace covey::node
