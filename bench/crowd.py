#!/usr/bin/env python3
"""Two daemons exchange while a thousand strangers stay on the line.

    bench/crowd.py [--bin DIR] [--idle 1000] [--dripping 200] [--seconds 10]

Measures exchanges a second of processor time and of the clock, and the memory of the daemon that is
called, before and during. Bars: memory +64 MiB at most, 80 % of the exchanges. Exit code 1: missed.
"""

import argparse
import os
import resource
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "e2e", "daemon"))

MEMORY = 64 << 20
SHARE = 0.8


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=os.environ.get("COVEY_BIN", "build/release/bin"))
    parser.add_argument("--idle", type=int, default=1000)
    parser.add_argument("--dripping", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    os.environ["COVEY_BIN"] = options.bin
    import crowd_test

    wanted = 2 * (options.idle + options.dripping) + 100
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))

    class Bench(crowd_test.CrowdTest):
        def runTest(self):
            a, second = self.pair()
            self.start(second).ready()
            self.wait_status(a, lambda s: s["traffic"]["weights_received"] >= 100)

            def rate(seconds, each=lambda: None):
                pid = a.process.pid
                before = self.status(a)["traffic"]["weights_received"]
                begin, spent = time.monotonic(), crowd_test.cpu_seconds(pid)
                peak = 0
                while time.monotonic() < begin + seconds:
                    each()
                    peak = max(peak, crowd_test.resident(pid))
                    time.sleep(0.5)
                count = self.status(a)["traffic"]["weights_received"] - before
                return (count / (time.monotonic() - begin),
                        count / (crowd_test.cpu_seconds(pid) - spent), peak)

            alone, alone_cpu, memory = rate(options.seconds)
            crowd = crowd_test.Crowd(a.listen, options.idle, options.dripping)

            def each():
                crowd.drip()
                crowd.again(a.listen)  # so that it stays as large as it was

            beside, beside_cpu, peak = rate(options.seconds, each)
            crowd.close()
            print(f"{options.idle} idle and {options.dripping} dripping connections: "
                  f"{beside:.0f} exchanges/s against {alone:.0f} ({beside / alone:.2f}), "
                  f"by processor time {beside_cpu:.0f} against {alone_cpu:.0f} "
                  f"({beside_cpu / alone_cpu:.2f}); memory +{(peak - memory) / 2**20:.1f} MiB; "
                  f"{crowd.returned} came again")
            self.assertLessEqual(peak, memory + MEMORY)
            self.assertGreaterEqual(max(beside / alone, beside_cpu / alone_cpu), SHARE)

    result = unittest.TextTestRunner(verbosity=0).run(Bench())
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
