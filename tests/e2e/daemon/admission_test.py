"""Nodes that come in by the operator's invitation, and go by the operator's word."""

import json
import os
import re
import subprocess
import time
import unittest

from fixture import BIN, LONG, edit
from members import MembersTest

CUT_WITHIN = 1.0  # seconds after the revocation, on every node with a link


class AdmissionTest(MembersTest):
    def setUp(self):
        super().setUp()
        self.key_file = os.path.join(self.folder, "operator.key")
        self.operator = self.covey("fleet", "key", self.key_file).strip()

    def member(self, name, seed=None, **values):
        """A node that goes by the operator's word and has a door."""
        daemon = self.node(name, seed, extra=self.by_operator(), **values)
        daemon.door = re.search(r"door=tcp://(\S+)", daemon.log("ready.*door=")).group(1).strip('"')
        return daemon

    def by_operator(self, door="127.0.0.1:0"):
        return [("fleet: {name: e2e}", f"fleet: {{name: e2e, operator_key: {self.operator}}}"),
                ("listen: 127.0.0.1:0", f"listen: 127.0.0.1:0\n  door: {door}")]

    def newcomer(self, name, *flags):
        """A node that knows nobody."""
        path = self.config(name, mode="curve", index=9)
        edit(path, *self.by_operator("none"))
        return self.start(path, *flags)

    def invite(self, *doors, more=()):
        seeds = [word for d in doors for word in ("--seed", f"{d.door}@{d.key}")]
        return self.covey("invite", "--operator", self.key_file, "--fleet", "e2e", *seeds,
                          *more).strip()

    def by_hand(self, command, *arguments, code=0):
        return self.covey(command, *arguments, "--operator", self.key_file, "--fleet", "e2e",
                          code=code)

    def cut(self, key, *daemons):
        """Waits until none of them has a link with it. Returns: the seconds that it took, but for
        the looks themselves."""
        begin = time.monotonic()
        for daemon in daemons:
            self.peers(daemon)
        begin += time.monotonic() - begin
        for daemon in daemons:
            self.wait_peers(daemon, lambda peers: not peers.get(key, {}).get("linked", False))
        return time.monotonic() - begin

    def refused(self, daemon, reason):
        self.wait_status(daemon, lambda s: s["rejects"].get("record_" + reason, 0) > 0)

    def test_a_node_joins_with_an_invitation_and_is_sent_away(self):
        self.init(*"abc")
        a = self.member("a")
        b, c = self.member("b", a), self.member("c", a)
        self.linked(a, b, c)
        invitation = self.invite(a, b, c, more=["--name", "crawler 7"])
        d = self.newcomer("d", "--join", invitation).ready()
        self.linked(a, b, c, d)
        self.exchanging(d)
        a_or_other = [x for x in (a, b, c) if any("crawler 7" in line for line in x.errors)]
        self.assertEqual(len(a_or_other), 1, "one door let it in")
        word = self.status(a_or_other[0])["admissions"]
        self.assertEqual(word, {"admitted": 1, "revoked": 0, "let_in": 1})

        # One invitation for one node: another key is not let in with it, wherever it knocks.
        self.wait_peers(a, lambda peers: d.key in peers)
        e = self.newcomer("e", "--join", invitation).ready()
        e.log("a door does not open.*refused used_up")
        for daemon in (a, b, c):
            self.assertNotIn(e.key, self.peers(daemon))
        e.kill()
        self.daemons.remove(e)

        # The node comes back without its invitation, and its peers know it after theirs.
        self.kill(d)
        d = self.newcomer("d").ready()
        self.linked(a, b, c, d)
        self.kill(b)
        b = self.member("b", a)
        self.linked(a, b, c, d)

        self.assertIn("revoked " + d.key[:8],
                      self.by_hand("revoke", d.key, "--socket", b.api))
        self.assertLess(self.cut(d.key, a, b, c), CUT_WITHIN)
        d.log("peer down")
        for daemon in (a, b, c):
            self.assertNotIn(d.key, self.peers(daemon))
        self.linked(a, b, c)

        # It stays out, also of nodes that start again, whatever their lists say.
        self.kill(a)
        a = self.member("a", b)
        self.linked(a, b, c)
        self.kill(d)
        key = d.key
        d = self.newcomer("d", "--join", self.invite(a, b, c))
        # The second where it heard of it before it was cut.
        d.log("a door does not open.*refused revoked|error node: invitation: revoked")
        for daemon in (a, b, c):
            self.assertNotIn(key, self.peers(daemon))

    def test_who_was_away_hears_of_it_afterwards(self):
        self.init(*"abc")
        a = self.member("a")
        b, c = self.member("b", a), self.member("c", a)
        self.linked(a, b, c)
        self.kill(c)
        d = self.newcomer("d", "--join", self.invite(a, b)).ready()
        self.linked(a, b, d)
        self.by_hand("revoke", self.keys["b"], "--socket", a.api)
        self.cut(b.key, a, d)
        c = self.member("c", a)
        self.wait_peers(c, lambda peers: d.key in peers and b.key not in peers)
        file = os.path.join(self.state("c"), "admissions")
        end = time.monotonic() + LONG
        while not os.path.exists(file) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(os.stat(file).st_mode & 0o777, 0o600)

    def test_an_invitation_that_is_revoked_or_expired_opens_no_door(self):
        self.init(*"ab")
        a = self.member("a")
        short = self.invite(a, more=["--expires", "1s"])
        wide = self.invite(a, more=["--count", "0"])
        d = self.newcomer("d", "--join", wide).ready()
        self.linked(a, d)
        # Carried by hand: printed where the key is, taken where a node is.
        record = self.by_hand("revoke", wide, "--print").strip()
        self.covey("revoke", record, "--socket", a.api)
        self.cut(d.key, a)
        time.sleep(1.1)  # until `short` has expired
        for name, text, reason in (("e", wide, "revoked"), ("f", short, "expired")):
            newcomer = self.newcomer(name, "--join", text).ready()
            newcomer.log("a door does not open.*refused " + reason)
            self.refused(a, reason)
            newcomer.kill()
            self.daemons.remove(newcomer)
        a.log("refused a newcomer.*expired")

    def test_a_key_is_let_in_by_hand(self):
        self.init(*"ab")
        a = self.member("a")
        self.keys["n"] = subprocess.run(
            [os.path.join(BIN, "coveyd"), "--init", "--config", self.config("n", mode="curve")],
            capture_output=True, text=True, timeout=LONG).stdout.strip().removeprefix("key=")
        key = self.keys["n"]
        self.by_hand("admit", key, "--socket", a.api)
        path = self.config("n", mode="curve", keys="", seeds=f"{{key: {a.key}, address: "
                           f"'{a.listen.removeprefix('tcp://')}'}}")
        n = self.start(path).ready()
        self.assertEqual(n.key, key)
        self.wait_peers(a, lambda peers: peers.get(key, {}).get("linked", False))

    def test_what_is_no_invitation_is_told_apart(self):
        invitation = self.covey("invite", "--operator", self.key_file, "--fleet", "e2e", "--seed",
                                "127.0.0.1:7430@" + "ab" * 32, "--json")
        text = json.loads(invitation)["invitation"]
        other = self.covey("invite", "--operator", self.key_file, "--fleet", "boats", "--seed",
                           "127.0.0.1:7430@" + "ab" * 32).strip()
        path = self.config("d", mode="curve")
        for wrong, code, words in ((text[:-9], 65, "invitation"), ("abc", 65, "begins differently"),
                                   (text, 78, "operator_key: " + self.operator)):
            daemon = self.start(path, "--join", wrong)
            self.assertEqual(daemon.wait(), code, daemon.errors)
            self.assertIn(words, "\n".join(daemon.errors))
        edit(path, *self.by_operator("none"))
        plain = self.config("p")
        edit(plain, *self.by_operator("none"))
        daemon = self.start(plain)
        self.assertEqual(daemon.wait(), 78)
        self.assertIn("security.mode: none", "\n".join(daemon.errors))
        daemon = self.start(path, "--join", other)
        self.assertEqual(daemon.wait(), 78)
        self.assertIn("other_fleet", "\n".join(daemon.errors))

    def test_keys_and_words_that_are_wrong(self):
        self.assertEqual(os.stat(self.key_file).st_mode & 0o777, 0o600)
        self.assertEqual(self.covey("fleet", "key", self.key_file).strip(), self.operator)
        self.init("a")
        a = self.member("a")
        self.by_hand("revoke", "nobody", "--socket", a.api, code=64)
        stranger = os.path.join(self.folder, "stranger.key")
        self.covey("fleet", "key", stranger)
        self.covey("revoke", a.key, "--operator", stranger, "--fleet", "e2e", "--socket", a.api,
                   code=65)
        self.assertIn("forged", self.stderr)
        self.covey("invite", "--operator", self.key_file, "--fleet", "e2e", "--seed", "here",
                   code=64)
        self.covey("invite", "--operator", self.folder + "/none", "--fleet", "e2e", "--seed",
                   "127.0.0.1:1@" + a.key, code=66)
        os.chmod(stranger, 0o644)
        self.covey("fleet", "key", stranger, code=77)
        self.assertIn("chmod 600", self.stderr)
        os.chmod(stranger, 0o600)
        with open(stranger, "w") as file:
            file.write("# nothing\n")
        self.covey("fleet", "key", stranger, code=65)

    def test_a_damaged_file_of_admissions_costs_no_good_line(self):
        self.init(*"ab")
        a = self.member("a")
        self.by_hand("revoke", self.keys["b"], "--socket", a.api)
        file = os.path.join(self.state("a"), "admissions")
        self.assertEqual(a.stop()[0], 0)
        with open(file) as lines:
            good = lines.read()
        edit(file, ("covey-admissions 1\n", "covey-admissions 1\nnoise\n"))
        self.daemons.remove(a)
        a = self.member("a")
        a.log("file of admissions is no good.*line 2")
        b = self.member("b", a)
        b.log("it refused our key")
        self.assertNotIn(b.key, self.peers(a))
        with open(file + ".damaged") as lines:
            aside = lines.read()
        self.assertIn("noise", aside)
        self.assertIn(good.splitlines()[1], aside)
        # One that can't be read at all could hide a revocation.
        self.kill(a)
        os.remove(file)
        os.mkdir(file)
        path = os.path.join(self.folder, "a.yaml")
        daemon = self.start(path)
        self.assertEqual(daemon.wait(), 65)
        self.assertIn("admissions", "\n".join(daemon.errors))

    def test_init_takes_an_invitation(self):
        table = os.path.join(self.folder, "t.csv")
        with open(table, "w") as file:
            file.write("x,y,kind\n" + "".join(f"{i},{i % 7},{'ab'[i % 2]}\n" for i in range(200)))
        one, two = (os.path.join(self.folder, name) for name in ("one", "two"))
        self.covey("init", table, "--to", one, "--listen", "127.0.0.1:0", "--yes")
        edit(one + "/node.yaml",
             ("fleet: {name: covey}", f"fleet: {{name: covey, operator_key: {self.operator}}}"),
             ("listen: '127.0.0.1:0'", "listen: '127.0.0.1:0'\n  door: 127.0.0.1:0"))
        first = self.start(one + "/node.yaml").ready()
        first.door = re.search(r"door=tcp://(\S+)",
                               first.log("ready.*door=")).group(1).strip('"')
        invitation = self.covey("invite", "--operator", self.key_file, "--config",
                                one + "/node.yaml", "--seed", f"{first.door}@{first.key}").strip()
        join = os.path.join(self.folder, "join.yaml")
        with open(one + "/node.yaml") as file:
            text = file.read()
        with open(join, "w") as file:
            file.write(text.replace("  door: 127.0.0.1:0\n", "").replace(
                "network:\n", f"network:\n  seeds: [{{key: {first.key}, address: "
                f"'{first.listen.removeprefix('tcp://')}'}}]\n"))
        told = self.covey("init", table, "--to", two, "--join", join, "--invitation", invitation,
                          "--listen", "127.0.0.1:0", "--yes")
        self.assertNotIn("let it in", told)
        second = self.start(two + "/node.yaml").ready()
        self.wait_peers(first, lambda peers: peers.get(second.key, {}).get("linked", False))
        self.covey("init", table, "--to", two + "x", "--invitation", invitation[:-4], "--yes",
                   code=65)


if __name__ == "__main__":
    unittest.main(verbosity=2)
