// Signals of a daemon, read like a file instead of handled anywhere.
#pragma once

#include <optional>

#include "covey/base/time.h"

namespace covey::node {

// SIGTERM and SIGINT ask to stop, SIGHUP is reported, SIGPIPE is ignored.
//
// Requires: made in main before any other thread, because threads inherit which signals are
// blocked.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Waits for a signal or a Notify.
  // Returns: the signal's number, 0 for Notify, or nothing after `at_most`.
  std::optional<int> Wait(Duration at_most);

  // Ends a Wait, or the next one. Thread: any.
  void Notify();

  // From now on the signals act: after `more` further ones the next SIGTERM or SIGINT ends the
  // process at once, with 128 + its number.
  static void EndProcessAfter(int more);
  // Whether one of the `more` has come.
  static bool HurryUp();

 private:
  int signals_ = -1;
  int event_ = -1;
};

}  // namespace covey::node
