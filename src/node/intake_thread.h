// Reads what comes as files, and hands what has come in any way to those who learn and judge.
#pragma once

#include <functional>
#include <optional>
#include <thread>

#include "covey/data/live.h"
#include "node/gate.h"
#include "node/intake.h"
#include "node/live_files.h"
#include "node/spool.h"

namespace covey::node {

class IntakeThread {
 public:
  // take: gets all that is kept, at most once in kHandEvery; on this thread.
  using Take = std::function<void(data::LiveShard::Snapshot snapshot)>;
  static constexpr Duration kHandEvery = std::chrono::milliseconds(500);

  IntakeThread(Intake& intake, const data::LiveSettings& settings);
  ~IntakeThread();
  IntakeThread(const IntakeThread&) = delete;
  IntakeThread& operator=(const IntakeThread&) = delete;

  // Makes the folders of the spool. Errors: kCantCreate, kNoPermission.
  Status Prepare();
  void Start(Take take);
  // Returns when the thread has ended: what it was committing is on the disk. Thread: any.
  void Stop();

 private:
  void Run();
  void LookAtFiles();
  void HandOver();

  Intake& intake_;
  std::optional<Spool> spool_;
  std::optional<Tail> tail_;
  Take take_;
  std::optional<Clock::Source::time_point> handed_;
  std::string watched_;
  int wake_ = -1;    // eventfd
  int notify_ = -1;  // inotify
  std::thread thread_;
};

}  // namespace covey::node
