"""Daemons over bad networks: every byte between them passes the fault proxy.

With --full the sizes are those of the stated bars (a model of 4 MB, 100 kB/s, 100 resets), which
takes minutes; the figures are printed.
"""

import os
import signal
import subprocess
import sys
import time
import unittest

from fixture import LONG, FleetTest, edit

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "proxy"))
import fault_proxy  # noqa: E402

FULL = "--full" in sys.argv


class Proxy:
    def __init__(self, to, **plan):
        words = [str(word) for pair in plan.items() for word in pair]
        self.process = subprocess.Popen([sys.executable, fault_proxy.__file__, "--to", to, *words],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().removeprefix("listening ").strip()

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def counts(self):
        self.say("count")
        words = self.process.stdout.readline().split()[1:]
        return {name: int(value) for name, value in (word.split("=") for word in words)}

    def close(self):
        self.process.stdin.close()
        self.process.wait(LONG)
        self.process.stdout.close()


class BadNetwork(FleetTest):
    def pair(self, mode="none", units=8, network="", **plan):
        """Daemon b dials a through a proxy. Each unit of the model has 20 parameters."""
        def config(name, **values):
            path = self.config(name, mode=mode, **values)
            edit(path, ("units: 8", f"units: {units}"), ("network:\n",
                 # Or they would tell each other how to go around the proxy.
                 "network:\n  advertise: none\n" + network))
            return path

        keys = [self.first_key(config(name)) for name in "ab"]
        a = self.start(config("a", keys=keys[1])).ready()
        self.proxy = Proxy(a.listen, **plan)
        self.addCleanup(self.proxy.close)
        seed = f"{{key: {a.key}, address: '{self.proxy.address}'}}"
        return a, self.start(config("b", index=1, seeds=seed)).ready()

    def received(self, daemon, weights=1, deltas=1, within=LONG):
        end = time.monotonic() + within
        while time.monotonic() < end:
            status = self.status(daemon)
            traffic = status["traffic"]
            if traffic["weights_received"] >= weights and traffic["deltas_received"] >= deltas:
                return status
            time.sleep(0.1)
        self.fail(f"not within {within} s; last: {status} {self.proxy.counts()}\n"
                  + "\n".join(daemon.errors[-20:]))

    def downs(self, daemon):
        return [line for line in daemon.errors if "peer down" in line]

    def test_a_narrow_link_is_not_taken_for_dead(self):
        a, b = self.pair(units=50_000 if FULL else 4_000, rate=100_000)
        begin = time.monotonic()
        for daemon in (a, b):
            self.received(daemon, within=300 if FULL else LONG)
        print(f"both directions answered in {time.monotonic() - begin:.1f} s", file=sys.stderr)
        for daemon in (a, b):
            self.assertEqual(self.downs(daemon), [])
            self.assertLessEqual(set(self.status(daemon)["rejects"]),
                                 {"fifo_refused_deltas", "core_not_pending", "unsolicited"})

    def test_resets_in_the_middle_of_a_model(self):
        for mode in ("none", "curve"):
            a, b = self.pair(mode, units=50_000 if FULL else 4_000, rate=100_000 if FULL else 0,
                             reset_every=80_000 if FULL else 150_000)
            resets = 100 if FULL else 10
            begin = time.monotonic()
            for daemon in (a, b):
                status = self.received(daemon, within=900 if FULL else LONG)
                self.assertNotIn("core_duplicate", status["rejects"])
            while self.proxy.counts()["resets"] < resets:
                time.sleep(0.1)
            resumed = [self.status(daemon)["traffic"]["resumed"] for daemon in (a, b)]
            print(f"{mode}: {self.proxy.counts()} resumed {resumed} after "
                  f"{time.monotonic() - begin:.1f} s", file=sys.stderr)
            self.assertGreater(sum(resumed), 0)
            self.proxy.say("reset_every 0")
            self.proxy.say("rate 0")
            self.proxy.say("reset")
            before = self.status(a)["traffic"]["weights_received"]
            self.received(a, weights=before + 5)
            for daemon in (a, b):
                self.assertEqual(daemon.stop()[0], 0)
                self.daemons.remove(daemon)


    def test_delay_slices_and_flipped_bits(self):
        # Latency of 300 to 500 ms; segments of one byte; damage in the clear, and encrypted, where
        # it ends the connection.
        for mode, plan in (("none", {"delay": 300, "jitter": 200}), ("curve", {"slice": 1}),
                           ("none", {"flip": 2e-6}), ("curve", {"flip": 2e-6})):
            a, b = self.pair(mode, **plan)
            for daemon in (a, b):
                self.received(daemon, weights=3, deltas=3)
                self.assertIsNone(daemon.process.poll())
            for daemon in (a, b):
                self.assertEqual(daemon.stop()[0], 0)
                self.daemons.remove(daemon)

    def test_a_silent_direction_ends_the_link_and_it_comes_back(self):
        for direction in ("up", "down"):
            a, b = self.pair("curve", network="  ping_every: 300ms\n  drop_after: 1500ms\n")
            for daemon in (a, b):
                self.received(daemon)
            self.proxy.say(f"hold {direction}")
            begin = time.monotonic()
            for daemon in (a, b):
                daemon.log("peer down")
            self.assertLess(time.monotonic() - begin, 25)
            self.proxy.say("release")
            before = self.status(a)["traffic"]["weights_received"]
            self.received(a, weights=before + 3)
            # No connection of before is left.
            end = time.monotonic() + LONG
            while self.proxy.counts()["open"] > 1 and time.monotonic() < end:
                time.sleep(0.1)
            self.assertLessEqual(self.proxy.counts()["open"], 1)
            for daemon in (a, b):
                self.assertEqual(daemon.stop()[0], 0)
                self.daemons.remove(daemon)

    def test_a_process_that_stands_still_is_not_banned(self):
        a, b = self.pair(network="  ping_every: 300ms\n  drop_after: 1500ms\n")
        for daemon in (a, b):
            self.received(daemon)
        b.process.send_signal(signal.SIGSTOP)
        a.log("peer down")
        b.process.send_signal(signal.SIGCONT)
        before = self.status(a)["traffic"]["weights_received"]
        self.received(a, weights=before + 5)
        self.assertLessEqual(set(self.status(a)["rejects"]),
                             {"fifo_refused_deltas", "core_not_pending", "unsolicited"})

    def test_unreachable_peers_do_not_hold_up_the_end(self):
        a, b = self.pair(units=4_000)
        self.received(b)
        self.proxy.say("hold both")
        time.sleep(1)  # for what piles up
        for daemon in (a, b):
            code, seconds = daemon.stop()
            self.assertEqual(code, 0)
            self.assertLess(seconds, 5)
            self.daemons.remove(daemon)


if __name__ == "__main__":
    if FULL:
        sys.argv.remove("--full")
    unittest.main(verbosity=2)
