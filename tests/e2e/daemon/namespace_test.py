"""Daemons in network namespaces of their own: addresses that change, names, narrow packets.

Skipped, visibly, where namespaces may not be made (root and `ip netns` are needed).
"""

import os
import shutil
import subprocess
import sys
import time
import unittest

from fixture import BIN, LONG, edit
from members import MembersTest

ROAMED_WITHIN = 10.0  # seconds; without the kernel's word it takes the time-outs of both ends
NAME_FOLLOWED_WITHIN = 30.0


def run(*words):
    subprocess.run(words, check=True, capture_output=True, timeout=LONG)


def why_not():
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return "needs root and `ip netns`"
    name = f"covey-{os.getpid()}-try"
    done = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True,
                          timeout=LONG)
    if done.returncode != 0:
        return "no network namespaces here: " + done.stderr.strip()
    run("ip", "netns", "delete", name)
    return None


class Namespaces(MembersTest):
    def setUp(self):
        super().setUp()
        self.spaces = {name: f"covey-{os.getpid()}-{name}" for name in "ab"}
        for name, space in self.spaces.items():
            run("ip", "netns", "add", space)
            self.addCleanup(run, "ip", "netns", "delete", space)
        run("ip", "link", "add", "veth", "netns", self.spaces["a"], "type", "veth", "peer", "name",
            "veth", "netns", self.spaces["b"])
        for name, address in (("a", "10.77.0.1"), ("b", "10.77.0.2")):
            self.ip(name, "address", "add", address + "/24", "dev", "veth")
            self.ip(name, "link", "set", "veth", "up")
            self.ip(name, "link", "set", "lo", "up")
        self.init(*"ab")
        # Daemons of before the namespaces go, or these would stay.
        self.addCleanup(lambda: [daemon.kill() for daemon in self.daemons])

    def ip(self, name, *words):
        run("ip", "-n", self.spaces[name], *words)

    def files(self, name, **texts):
        """What stands in /etc there."""
        folder = "/etc/netns/" + self.spaces[name]
        if not os.path.isdir(folder):
            os.makedirs(folder)
            self.addCleanup(shutil.rmtree, folder)
        for file, text in texts.items():  # in place: it is mounted
            with open(os.path.join(folder, file.replace("_", ".")), "w") as out:
                out.write(text)

    def inside(self, name, listen, seed=None, more=""):
        seeds = "" if seed is None else f"{{key: {seed[0]}, address: '{seed[1]}'}}"
        path = self.config(name, mode="curve", index="ab".index(name), seeds=seeds,
                           keys=", ".join(self.keys.values()))
        edit(path, ("listen: 127.0.0.1:0", f"listen: {listen}\n{more}"))
        return self.start(path, prefix=["ip", "netns", "exec", self.spaces[name]]).ready()

    def pair(self):
        a = self.inside("a", "10.77.0.1:0")
        b = self.inside("b", "0.0.0.0:0", (a.key, a.listen.removeprefix("tcp://")))
        self.exchanging(a)
        self.exchanging(b)
        return a, b

    def exchanging_again(self, *daemons):
        """Waits for what was sent from now on. Returns: the seconds that it took."""
        begin = time.monotonic()
        for daemon in daemons:
            before = self.status(daemon)["traffic"]
            self.wait_status(daemon, lambda s: all(
                s["traffic"][kind] > before[kind] + 1
                for kind in ("weights_received", "deltas_received")))
        return time.monotonic() - begin

    def test_an_address_of_our_own_that_changes_is_followed(self):
        a, b = self.pair()
        self.ip("b", "address", "del", "10.77.0.2/24", "dev", "veth")
        self.ip("b", "address", "add", "10.77.0.3/24", "dev", "veth")
        self.assertLess(self.exchanging_again(a, b), ROAMED_WITHIN)
        self.wait_peers(a, lambda peers: peers[b.key]["address"].startswith("10.77.0.3:"))
        b.log("an address of this machine has gone")

    def test_names_are_followed_and_a_dead_server_holds_up_nobody(self):
        # The name server is an address where nobody is.
        self.files("b", hosts="127.0.0.1 localhost\n10.77.0.1 nest\n",
                   resolv_conf="nameserver 10.77.0.99\n")
        a = self.inside("a", "10.77.0.1:0")
        port = a.listen.rpartition(":")[2]
        path = self.config("b", mode="curve", index=1, keys=", ".join(self.keys.values()),
                           seeds=f"{{key: {a.key}, address: 'nest:{port}'}}, "
                                 f"{{key: {'ab' * 32}, address: 'dead.example:7420'}}")
        # It tells nobody where it is: only its own seed leads to the other node.
        edit(path, ("listen: 127.0.0.1:0", "listen: 0.0.0.0:0\n  advertise: none"))
        b = self.start(path, prefix=["ip", "netns", "exec", self.spaces["b"]]).ready()
        self.exchanging(b)
        self.kill(a)
        self.ip("a", "address", "del", "10.77.0.1/24", "dev", "veth")
        self.ip("a", "address", "add", "10.77.0.4/24", "dev", "veth")
        a = self.inside("a", "10.77.0.4:" + port)
        self.files("b", hosts="127.0.0.1 localhost\n10.77.0.4 nest\n")
        self.assertLess(self.exchanging_again(a, b), NAME_FOLLOWED_WITHIN)

    def six(self, prefix):
        for name, host in (("a", "1"), ("b", "2")):
            self.ip(name, "address", "add", f"{prefix}{host}/64", "dev", "veth", "nodad")

    def test_only_the_interfaces_that_may_be_used(self):
        # A second wire between the two, and a node that must not use it.
        run("ip", "link", "add", "modem", "netns", self.spaces["a"], "type", "veth", "peer",
            "name", "modem", "netns", self.spaces["b"])
        for name, address in (("a", "10.78.0.1"), ("b", "10.78.0.2")):
            self.ip(name, "address", "add", address + "/24", "dev", "modem")
            self.ip(name, "link", "set", "modem", "up")
        a = self.inside("a", "'[::]:0'", more="  interfaces: [veth]\n")
        port = a.listen.rpartition(":")[2]
        quiet = "  advertise: none\n"
        b = self.inside("b", "0.0.0.0:0", (a.key, f"10.78.0.1:{port}"), quiet)
        self.wait_peers(b, lambda peers: peers[a.key]["problem"] != "")
        self.assertEqual(self.status(a)["traffic"]["weights_received"], 0)
        self.kill(b)
        b = self.inside("b", "0.0.0.0:0", (a.key, f"10.77.0.1:{port}"), quiet)
        self.exchanging(a)
        self.exchanging(b)

    def test_ipv6_alone(self):
        for name in "ab":
            self.ip(name, "-4", "address", "flush", "dev", "veth")
        self.six("fd77::")
        a = self.inside("a", "'[fd77::1]:0'")
        self.assertTrue(a.listen.startswith("tcp://[fd77::1]:"), a.listen)
        b = self.inside("b", "'[::]:0'", (a.key, a.listen.removeprefix("tcp://")))
        self.exchanging(a)
        self.exchanging(b)

    def test_both_families_at_one_port(self):
        self.six("fd77::")
        a = self.inside("a", "'[::]:0'")
        port = a.listen.rpartition(":")[2]
        for host in ("10.77.0.1", "[fd77::1]"):
            # It tells nobody where it is, so that it alone can dial.
            b = self.inside("b", "0.0.0.0:0", (a.key, f"{host}:{port}"), "  advertise: none\n")
            self.exchanging_again(a, b)
            self.kill(b)

    def test_addresses_of_one_link_name_it(self):
        self.six("fe80::77:")
        a = self.inside("a", "'[fe80::77:1%veth]:0'")
        port = a.listen.rpartition(":")[2]
        b = self.inside("b", "'[::]:0'", (a.key, f"[fe80::77:1%veth]:{port}"))
        self.exchanging(a)
        self.exchanging(b)

    def test_packets_of_576_bytes(self):
        for name in "ab":
            self.ip(name, "link", "set", "veth", "mtu", "576")
        self.pair()

    def test_packets_that_become_too_long_on_the_way(self):
        # What the other end sends is dropped without a word: a black hole for long packets.
        a, b = self.pair()
        self.ip("b", "link", "set", "veth", "mtu", "576")
        self.exchanging_again(a, b)


if __name__ == "__main__":
    reason = why_not()
    if reason is not None:
        print("skipped: " + reason)
        sys.exit(0)
    unittest.main(verbosity=2)
