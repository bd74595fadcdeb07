"""Strangers in number: connections that say nothing, or a byte now and then.

bench/crowd.py has the same with the numbers of the stated bars.
"""

import os
import resource
import socket
import time
import unittest

from fixture import FleetTest

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00CURVE" + bytes(47)


def connect(endpoint):
    host, port = endpoint.removeprefix("tcp://").split(":")
    stream = socket.socket()
    try:
        stream.connect((host, int(port)))
    except OSError:
        pass  # one that the daemon refuses is part of the crowd, too
    return stream


class Crowd:
    """Clients of one daemon: some never speak, some send their greeting byte by byte."""

    def __init__(self, endpoint, idle, dripping):
        self.sockets = [connect(endpoint) for _ in range(idle + dripping)]
        self.dripping = self.sockets[idle:]
        self.said = 0
        self.returned = 0

    def drip(self):
        byte = GREETING[self.said % len(GREETING):][:1]
        self.said += 1
        for stream in self.dripping:
            try:
                stream.send(byte, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
            except OSError:
                pass  # it was cut, as it should be

    def cut(self):
        """How many the daemon has cut by now."""
        return sum(self.gone(stream) for stream in self.sockets)

    @staticmethod
    def gone(stream):
        try:
            return not stream.recv(64, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def again(self, endpoint):
        """Whoever has been cut comes again."""
        for i, stream in enumerate(self.sockets):
            if self.gone(stream):
                stream.close()
                self.sockets[i] = connect(endpoint)
                self.returned += 1
        self.dripping = self.sockets[-len(self.dripping):]

    def close(self):
        for stream in self.sockets:
            stream.close()


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class CrowdTest(FleetTest):
    def pair(self, first_flags=(), **limits):
        keys = [self.first_key(self.config(name, mode="curve")) for name in "ab"]
        a = self.start(self.config("a", mode="curve", keys=keys[1]), *first_flags, **limits).ready()
        address = a.listen.removeprefix("tcp://")
        seed = f"{{key: {a.key}, address: '{address}'}}"
        return a, self.config("b", mode="curve", index=1, seeds=seed)

    def test_idle_and_dripping_connections_cost_little_and_are_cut(self):
        a, second = self.pair()
        self.start(second).ready()
        before = self.wait_status(a, lambda s: s["traffic"]["weights_received"] >= 5)
        memory = resident(a.process.pid)
        crowd = Crowd(a.listen, idle=200, dripping=40)
        self.addCleanup(crowd.close)
        end = time.monotonic() + 30
        while crowd.cut() < 240 and time.monotonic() < end:
            crowd.drip()
            time.sleep(0.2)
        self.assertEqual(crowd.cut(), 240)
        self.assertLess(resident(a.process.pid), memory + (16 << 20))
        received = before["traffic"]["weights_received"]
        self.wait_status(a, lambda s: s["traffic"]["weights_received"] >= received + 20)
        self.assertFalse([line for line in a.errors if "peer down" in line])

    def test_a_full_table_of_descriptors_is_waited_out(self):
        a, second = self.pair(("--paused",))
        soft = len(os.listdir(f"/proc/{a.process.pid}/fd")) + 20
        resource.prlimit(a.process.pid, resource.RLIMIT_NOFILE, (soft, soft))
        crowd = Crowd(a.listen, idle=100, dripping=0)
        a.log("no descriptor left")
        begin, spent = time.monotonic(), cpu_seconds(a.process.pid)
        time.sleep(2)
        share = (cpu_seconds(a.process.pid) - spent) / (time.monotonic() - begin)
        self.assertLess(share, 0.1)
        self.assertIsNone(a.process.poll())
        crowd.close()
        self.start(second).ready()
        self.wait_status(a, lambda s: s["traffic"]["weights_received"] >= 5)


if __name__ == "__main__":
    unittest.main(verbosity=2)
