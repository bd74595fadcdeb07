"""A stop while the disk answers late."""

import os
import signal
import time
import unittest

from fixture import BIN, FleetTest

LATE = 6.0  # seconds, more than the 5 that a stop may take with a disk that answers


class SlowDisk(FleetTest):
    def test_a_stop_that_waits_for_the_disk_loses_nothing_and_is_no_failure(self):
        busy = os.path.join(self.folder, "busy")
        daemon = self.start(self.config(), environment={
            "LD_PRELOAD": os.path.join(BIN, "slow_disk.so"), "SLOW_DISK": busy}).ready()
        before = self.wait_status(daemon, lambda s: s["batches"] > 200)
        open(busy, "w").close()
        began = time.monotonic()
        daemon.process.send_signal(signal.SIGTERM)
        daemon.log("stops")
        time.sleep(LATE)
        self.assertIsNone(daemon.process.poll(), "it must wait for its last checkpoint")
        os.remove(busy)
        self.assertEqual(daemon.wait(), 0, daemon.errors)
        self.assertGreater(time.monotonic() - began, LATE)
        again = self.start(self.config(), "--paused").ready()
        again.log("goes on from a checkpoint")
        self.assertGreaterEqual(self.status(again)["batches"], before["batches"])


if __name__ == "__main__":
    unittest.main()
