"""From a table never seen before to a fleet that answers: covey data split, covey init."""

import json
import os
import pty
import random
import socket
import subprocess
import unittest

from fixture import BIN, FleetTest


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class FirstMinutes(FleetTest):
    def setUp(self):
        super().setUp()
        os.environ["XDG_CACHE_HOME"] = os.path.join(self.folder, "cache")
        dice = random.Random(3)
        lines = ["row,height,width,soil,tree"]
        sizes = {"birch": (3, 1), "oak": (7, 4), "pine": (12, 2.5)}
        for row in range(240):
            tree = dice.choice(sorted(sizes))
            height, width = (size + dice.gauss(0, 0.5) for size in sizes[tree])
            lines.append(f"{row},{height:.2f},{width:.2f},{dice.choice(['dry', 'wet'])},{tree}")
        self.write("trees.csv", "\n".join(lines) + "\n")

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, *names):
        with open(self.path(*names), encoding="utf-8") as file:
            return file.read()

    def init(self, data, to, *more, code=0):
        out = self.covey("init", self.path(data), "--to", self.path(to), "--json", *more, code=code)
        return json.loads(out) if code == 0 else self.stderr

    def test_a_fleet_out_of_a_table(self):
        parts = json.loads(self.covey("data", "split", self.path("trees.csv"), "--json", "--to",
                                      self.path("parts")))["parts"]
        self.assertEqual([part["rows"] for part in parts], [120, 120])
        one = self.init("parts/1.csv", "one", "--ignore", "soil", "--listen",
                        f"127.0.0.1:{free_port()}")
        self.assertIn("column row is left out: it rises from row to row", one["remarks"])
        two = self.init("parts/2.csv", "two", "--join", one["join"])
        self.assertTrue(two["admitted"])
        self.assertIn("0 errors", self.covey("check", one["config"]))
        daemons = [self.start(node["config"]).ready() for node in (one, two)]
        answer = json.loads(self.covey("predict", "--json", "--config", two["config"], "--wait",
                                       "60s", "12.1", "2.4"))
        best = answer["answers"][0]["classes"][0]
        self.assertEqual(best["label"], "pine")
        for daemon in daemons:
            self.wait_status(daemon, lambda s: s["traffic"]["weights_received"] > 0)

    def test_nothing_is_overwritten(self):
        first = self.init("trees.csv", "node")
        self.assertIn("--force", self.init("trees.csv", "node", code=73))
        again = self.init("trees.csv", "node", "--force", "--label", "soil")
        self.assertEqual(again["key"], first["key"])
        self.assertIn("label: soil", self.read("node", "node.yaml"))

    def test_what_it_chooses(self):
        self.init("trees.csv", "node")
        text = self.read("node", "node.yaml")
        self.assertIn("csv: {label: tree, ignore: [row], categories: ['soil=dry|wet']}", text)
        self.assertIn("labels: [birch, oak, pine]", text)
        self.init("trees.csv", "number", "--label", "height")
        self.assertIn("loss: mean_squared_error", self.read("number", "node.yaml"))

    def test_what_it_refuses(self):
        self.write("one.csv", "x,label\n" + "1,a\n2,a\n" * 20)
        self.assertIn("single class", self.init("one.csv", "a", code=65))
        self.init("one.csv", "b", "--classes", "a", "b")
        self.assertIn("units: 2", self.read("b", "node.yaml"))
        self.assertIn("nowhere", self.init("nowhere.csv", "c", code=66))
        self.assertIn("no column 'z'", self.init("trees.csv", "c", "--label", "z", code=78))
        self.assertIn("shorter", self.init("trees.csv", "x" * 90, code=64))
        self.write("join.yaml", self.read("b", "join.yaml").replace("seeds", "sedes"))
        self.assertIn("did you mean", self.init("trees.csv", "c", "--join", self.path("join.yaml"),
                                                code=78))
        # Another table than the fleet's.
        one = self.init("trees.csv", "d")
        self.assertIn("'row'", self.init("one.csv", "e", "--join", one["join"], code=78))
        self.assertFalse(os.path.exists(self.path("e")))

    def test_arrays_and_images(self):
        self.init("data/images", "arrays", "--answers", self.path("data", "labels"))
        self.assertIn("input: [4, 4, 1]", self.read("arrays", "node.yaml"))
        for name, dark in (("cat", 10), ("dog", 200)):
            for i in range(8):
                path = self.path("photos", name, f"{i}.pgm")
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as file:
                    file.write(b"P5 16 16 255\n" + bytes([dark + i]) * 256)
        done = self.init("photos", "photo-node", "--size", "16", "16")
        self.assertIn("labels: [cat, dog]", self.read("photo-node", "node.yaml"))
        self.assertIn("0 errors", self.covey("check", done["config"]))

    def test_it_asks_on_a_terminal(self):
        leader, follower = pty.openpty()
        asked = subprocess.Popen(
            [os.path.join(BIN, "covey"), "init", self.path("trees.csv"), "--to", self.path("node")],
            stdin=follower, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        os.close(follower)
        os.write(leader, b"\nrover\n127.0.0.1:7999\nsoil\n")
        out, err = asked.communicate(timeout=60)
        os.close(leader)
        self.assertEqual(asked.returncode, 0, err)
        self.assertIn("[tree]", err)
        text = self.read("node", "node.yaml")
        for word in ("name: rover", "127.0.0.1:7999", "label: soil"):
            self.assertIn(word, text)
        self.assertIn("coveyd --config", out)

    def test_dividing(self):
        def split(to, *more, code=0):
            return self.covey("data", "split", self.path("trees.csv"), "--to", self.path(to), *more,
                              code=code)

        split("keys", "--kind", "key", "--key", "soil")
        self.assertEqual(sorted(os.listdir(self.path("keys"))), ["dry.csv", "wet.csv"])
        split("mix", "--kind", "mix_rate", "--rate", "0", "--parts", "3")
        trees = {line.rsplit(",", 1)[1] for line in self.read("mix", "1.csv").split()[1:]}
        self.assertEqual(trees, {"birch"})
        split("skew", "--kind", "dirichlet", "--alpha", "100")
        split("skew", "--kind", "blocks", code=73)
        self.assertIn("--force", self.stderr)
        split("skew", "--kind", "blocks", "--force")
        split("none", "--kind", "key", code=64)
        split("none", "--parts", "241", code=65)
        whole = self.read("trees.csv").split()
        for folder in ("keys", "mix", "skew"):
            rows = []
            for name in os.listdir(self.path(folder)):
                lines = self.read(folder, name).split()
                self.assertEqual(lines[0], whole[0])
                rows += lines[1:]
            self.assertEqual(sorted(rows), sorted(whole[1:]), folder)


if __name__ == "__main__":
    unittest.main()
