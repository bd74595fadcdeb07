"""Whether peers answer, and why they don't."""

import json
import unittest

from fixture import edit
from members import MembersTest


class Doctor(MembersTest):
    def findings(self, path, code=0):
        report = json.loads(self.covey("doctor", "--json", "--config", path, code=code))
        self.assertEqual(report["schema"], "covey.doctor/1")
        return {finding["what"]: finding for finding in report["findings"]}

    def path(self, name):
        return self.state(name) + ".yaml"

    def test_a_peer_that_answers(self):
        self.init(*"ab")
        a = self.node("a")
        b = self.node("b", a)
        self.linked(a, b)
        for peer in (a.key[:8], a.listen.removeprefix("tcp://")):
            out = self.covey("ping", peer, "--count", "2", "--socket", b.api)
            self.assertIn("2 sent, 2 answered, 0% lost", out)
            self.assertEqual(len(out.splitlines()), 3)
        out = json.loads(self.covey("ping", a.key, "--json", "--count", "1", "--socket", b.api))
        self.assertEqual((out["schema"], out["sent"], out["answered"]), ("covey.ping/1", 1, 1))
        self.assertGreater(out["round_trips_seconds"][0], 0)
        found = self.findings(self.path("b"))
        self.assertEqual({f["result"] for w, f in found.items() if w != "interfaces"}, {"ok"})
        self.assertIn("runs", found["daemon"]["text"])
        self.assertRegex(found["seeds[0].link"]["text"], "linked, covey .*round trip")

    def test_peers_that_do_not_answer(self):
        self.init(*"ab")
        a = self.node("a")
        b = self.node("b", a)
        self.linked(a, b)
        self.covey("ping", "0123456789", "--socket", b.api, code=64)
        self.covey("ping", a.key, "--count", "0", "--socket", b.api, code=64)
        self.kill(a)
        self.wait_peers(b, lambda peers: not peers[a.key]["linked"])
        self.covey("ping", a.key, "--socket", b.api, code=69)
        self.assertIn("there is no link to it", self.stderr)
        found = self.findings(self.path("b"), code=69)
        self.assertEqual(found["seeds[0].tcp"]["result"], "error")
        self.assertIn("start the node there", found["seeds[0].tcp"]["remedy"])
        self.assertEqual(found["seeds[0].link"]["result"], "error")

    def test_a_name_that_nobody_knows(self):
        self.init(*"ab")
        a = self.node("a")
        self.node("b", a).stop()
        edit(self.path("b"), (a.listen.removeprefix("tcp://"), "no-such-host.invalid:7420"))
        found = self.findings(self.path("b"), code=69)
        self.assertIn("no-such-host.invalid", found["seeds[0].name"]["text"])
        self.assertIn("name service", found["seeds[0].name"]["remedy"])

    def test_handshakes_without_a_daemon(self):
        self.init(*"ab")
        a = self.node("a")
        self.node("b", a).stop()
        found = self.findings(self.path("b"))
        self.assertEqual(found["daemon"]["result"], "warning")
        self.assertEqual(found["seeds[0].handshake"]["text"], "both keys are right")
        wrong = "0" * 63 + "1"
        edit(self.path("b"), (f"key: {a.key}", f"key: {wrong}"))
        found = self.findings(self.path("b"), code=69)
        self.assertIn("wrong server key", found["seeds[0].handshake"]["text"])
        self.assertIn("compare the key", found["seeds[0].handshake"]["remedy"])

    def test_a_key_that_is_not_let_in(self):
        self.init(*"ab")
        keys, self.keys = self.keys, {"a": self.keys["a"]}
        a = self.node("a")
        self.keys = keys
        b = self.node("b", a)
        self.wait_peers(
            b, lambda peers: "refused our key" in peers.get(a.key, {}).get("problem", ""))
        found = self.findings(self.path("b"), code=69)
        self.assertIn("refused our key", found["seeds[0].link"]["text"])
        self.assertIn(b.key, found["seeds[0].link"]["remedy"])

    def test_another_fleet_and_another_model(self):
        self.init(*"abc")
        a = self.node("a")
        b = self.node("b", a, extra=[("name: e2e", "name: other")])
        self.wait_peers(b, lambda peers: "fleet" in peers.get(a.key, {}).get("problem", ""))
        found = self.findings(self.path("b"), code=69)
        self.assertIn("same fleet.name", found["seeds[0].link"]["remedy"])
        c = self.node("c", a, extra=[("units: 8", "units: 9")])
        self.wait_peers(c, lambda peers: "against" in peers.get(a.key, {}).get("problem", ""))
        found = self.findings(self.path("c"), code=69)
        self.assertIn("mlp 16-8-3 against 16-9-3", found["seeds[0].link"]["text"])
        self.assertIn("same model section", found["seeds[0].link"]["remedy"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
