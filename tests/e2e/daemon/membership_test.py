"""How nodes find each other, lose each other, and come back."""

import os
import subprocess
import time
import unittest

from fixture import BIN, LONG, edit
from members import MembersTest

EXCHANGING_AGAIN = 5.0   # seconds after a restart on the same port
AND_ON_A_NEW_PORT = 15.0


class Members(MembersTest):
    def test_one_known_peer_leads_to_all_others(self):
        names = "abcdefgh"
        self.init(*names)
        first = self.node("a", flags=["--paused"])
        fleet = [first] + [self.node(name, first, flags=["--paused"]) for name in names[1:]]
        begin = time.monotonic()
        self.linked(*fleet)
        self.assertLess(time.monotonic() - begin, 15)
        for daemon in fleet:
            for peer in self.peers(daemon).values():
                self.assertEqual(peer["state"], "alive")
        text = self.covey("peers", "--socket", first.api)
        self.assertEqual(len(text.splitlines()), len(names) - 1)
        self.assertIn("alive", text)

    def test_a_killed_node_is_exchanging_again_soon(self):
        self.init(*"abc")
        a = self.node("a")
        b, c = self.node("b", a), self.node("c", a)
        self.linked(a, b, c)
        port = a.listen.removeprefix("tcp://")
        self.kill(a)
        self.wait_peers(b, lambda peers: peers[a.key]["state"] in ("suspect", "dead"))
        self.assertTrue(self.peers(b)[a.key]["reason"])
        a = self.node("a", extra=[("127.0.0.1:0", port)])
        begin = time.monotonic()
        self.exchanging(a)
        self.assertLess(time.monotonic() - begin, EXCHANGING_AGAIN)
        self.linked(a, b, c)
        # And one that comes back elsewhere, while its peers look for it at the old address.
        self.remembered("b", a, c)
        self.kill(b)
        b = self.node("b")
        begin = time.monotonic()
        self.exchanging(b)
        self.assertLess(time.monotonic() - begin, AND_ON_A_NEW_PORT)
        self.linked(a, b, c)
        self.assertEqual(self.peers(a)[b.key]["address"], b.listen.removeprefix("tcp://"))

    def test_peers_are_remembered_and_a_damaged_file_is_put_aside(self):
        self.init(*"abc")
        a = self.node("a")
        b, c = self.node("b", a), self.node("c", a)
        self.linked(a, b, c)
        self.assertEqual(b.stop()[0], 0)
        self.assertEqual(a.stop()[0], 0)
        self.daemons = [c]
        b = self.node("b")  # without a seed
        self.linked(b, c)
        self.assertEqual(b.stop()[0], 0)
        file = os.path.join(self.state("b"), "peers")
        edit(file, ("covey-peers 1", "covey-peers 7"))
        b = self.node("b")
        b.log("can't use the file of peers.*covey-peers 1.*peers.damaged")
        self.assertTrue(os.path.exists(file + ".damaged"))

    def test_who_leaves_is_told_apart_from_who_is_lost(self):
        self.init(*"ab")
        a = self.node("a")
        b = self.node("b", a)
        self.linked(a, b)
        watch = subprocess.Popen([os.path.join(BIN, "covey"), "peers", "--watch", "--socket",
                                  a.api], stdout=subprocess.PIPE, text=True)
        self.addCleanup(watch.stdout.close)
        self.addCleanup(watch.wait)
        self.addCleanup(watch.kill)
        self.assertIn("alive", watch.stdout.readline())
        self.assertEqual(b.stop()[0], 0)
        self.wait_peers(a, lambda peers: peers[b.key]["state"] == "left")
        self.assertRegex(watch.stdout.readline(), b.key[:8] + "  alive -> left")
        a.stop()
        self.assertEqual(watch.wait(LONG), 0)

    def test_a_node_that_only_dials_out_is_a_full_peer(self):
        self.init(*"ab")
        a = self.node("a")
        b = self.node("b", a, extra=[("listen: 127.0.0.1:0", "listen: 127.0.0.1:0\n"
                                      "  advertise: none")])
        self.exchanging(a)
        self.exchanging(b)
        self.assertEqual(self.peers(a)[b.key]["address"], "")
        self.assertFalse(self.peers(a)[b.key]["dialled"])

    def test_beacons_lead_to_each_other_without_a_seed(self):
        self.init(*"abx")
        on = [("listen: 127.0.0.1:0", "listen: 127.0.0.1:0\n  beacon: on")]
        a, b = self.node("a", extra=on), self.node("b", extra=on)
        self.linked(a, b)
        # On the same network, of another fleet.
        x = self.node("x", extra=[*on, ("fleet: {name: e2e}", "fleet: {name: other}")])
        self.exchanging(a)
        self.assertEqual(self.peers(x), {})

    def test_a_node_that_can_meet_nobody_does_not_start(self):
        path = self.config(mode="curve")
        daemon = self.start(path)
        self.assertEqual(daemon.wait(), 78)
        errors = "\n".join(daemon.errors)
        for word in ("network.seeds", "authorized_keys", "alone: true"):
            self.assertIn(word, errors)
        edit(path, ("listen: 127.0.0.1:0", "listen: 127.0.0.1:0\n  alone: true"))
        daemon = self.start(path).ready()
        self.assertEqual(self.covey("peers", "--socket", daemon.api), "nobody is known yet\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
