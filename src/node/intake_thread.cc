#include "node/intake_thread.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <utility>

#include "covey/base/check.h"
#include "covey/log/log.h"
#include "covey/node/process.h"

namespace covey::node {
namespace {

void TellTrouble(const Status& done) {
  if (done) return;
  log::WriteLimited(log::Level::kError, log::Category::kData, "live",
                    "live data can't be taken: " + done.error().Format());
}

void Empty(int file) {
  char bytes[4096];
  while (::read(file, bytes, sizeof bytes) > 0) {
  }
}

}  // namespace

IntakeThread::IntakeThread(Intake& intake, const data::LiveSettings& settings)
    : intake_(intake), watched_(settings.spool), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  COVEY_CHECK(wake_ >= 0);
  if (!settings.spool.empty()) spool_.emplace(intake, settings.spool, settings.remove);
  if (!settings.csv.empty()) tail_.emplace(intake, settings.csv);
}

IntakeThread::~IntakeThread() {
  Stop();
  ::close(wake_);
  if (notify_ >= 0) ::close(notify_);
}

Status IntakeThread::Prepare() { return spool_ ? spool_->Prepare() : Status(); }

void IntakeThread::Start(Take take) {
  take_ = std::move(take);
  if (spool_) {
    // Where the kernel can't tell (network file systems), looking again now and then does.
    notify_ = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (notify_ >= 0) ::inotify_add_watch(notify_, watched_.c_str(), IN_MOVED_TO);
  }
  thread_ = std::thread([this] {
    NameThread("intake");
    Run();
  });
}

void IntakeThread::Stop() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
  thread_.join();
}

void IntakeThread::LookAtFiles() {
  if (spool_) TellTrouble(spool_->Scan());
  if (tail_) TellTrouble(tail_->Poll());
}

void IntakeThread::HandOver() {
  const auto now = Clock::Source::now();
  if (handed_ && now < *handed_ + kHandEvery) return;
  auto snapshot = intake_.TakeIfChanged();
  if (!snapshot) return;
  take_(std::move(*snapshot));
  handed_ = now;
}

void IntakeThread::Run() {
  pollfd files[] = {{wake_, POLLIN, 0}, {notify_, POLLIN, 0}};
  while (true) {
    LookAtFiles();
    HandOver();
    ::poll(files, 2, static_cast<int>(kHandEvery / std::chrono::milliseconds(1)));
    if ((files[0].revents & POLLIN) != 0) return;
    if (notify_ >= 0) Empty(notify_);
  }
}

}  // namespace covey::node
