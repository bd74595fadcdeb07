"""From a table never seen before to a node that learns from it, and files that are wrong."""

import json
import os
import random
import subprocess
import tempfile
import unittest

BIN = os.environ.get("COVEY_BIN", "build/release/bin")


def run(program, *arguments, cwd):
    environment = dict(os.environ, XDG_CACHE_HOME=os.path.join(cwd, "cache"))
    return subprocess.run([os.path.join(os.path.abspath(BIN), program), *arguments], cwd=cwd,
                          capture_output=True, text=True, timeout=120, env=environment)


def write(folder, name, text):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def rooms(rows):
    """Distance and light decide the room; a column of names and one that is no use beside them."""
    dice = random.Random(5)
    lines = ["row,distance,light,floor,room"]
    for row in range(rows):
        room = dice.choice(["kitchen", "hall", "lab"])
        far = {"kitchen": 1000, "hall": 2000, "lab": 3000}[room] + dice.uniform(-300, 300)
        lines.append(f"{row},{far:.2f},{dice.random():.4f},{dice.choice(['wood', 'stone'])},{room}")
    return "\n".join(lines) + "\n"


class FromATable(unittest.TestCase):
    def test_what_describe_proposes_is_learned(self):
        with tempfile.TemporaryDirectory() as here:
            write(here, "rooms.csv", rooms(600))
            done = run("covey", "data", "describe", "rooms.csv", "--ignore", "row", cwd=here)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("600 rows, 5 columns, separator ,, with a header", done.stdout)
            self.assertIn("counts the rows?", done.stdout)
            proposal = done.stdout.split("in a node file:\n")[1]
            node = "\n".join(line[2:] for line in proposal.splitlines()) + "\n"
            self.assertIn("  labels: [hall, kitchen, lab]", node)
            self.assertIn("units: 3", node)
            self.assertIn("  csv: {ignore: [row]}", node)
            write(here, "node.yaml", node.replace("data:\n", "data:\n  validation: {last: 100}\n") +
                  "node: {state_dir: state}\nnetwork: {listen: '127.0.0.1:0', alone: true}\n"
                  "train: {until: {epochs: 20}, linger: none, settle: 0%}\n")
            done = run("coveyd", "--config", "node.yaml", cwd=here)
            self.assertEqual(done.returncode, 0, done.stderr)
            accuracy = [word for word in done.stdout.split() + done.stderr.split()
                        if "accuracy" in word]
            self.assertTrue(accuracy, done.stdout + done.stderr)

    def test_json(self):
        with tempfile.TemporaryDirectory() as here:
            write(here, "a.csv", "x;label\n1;b\n3;a\n")
            read = json.loads(run("covey", "data", "describe", "a.csv", "--json", cwd=here).stdout)
            self.assertEqual(read["schema"], "covey.data/1")
            self.assertEqual((read["rows"], read["separator"], read["label"]), (2, ";", "label"))
            self.assertEqual(read["columns"][0]["mean"], 2)
            self.assertEqual(read["proposal"]["labels"], ["a", "b"])
            self.assertEqual(read["proposal"]["mean"], [2])


class Wrong(unittest.TestCase):
    def test_every_mistake_has_its_code_and_place(self):
        cases = [("none.csv", None, 66, "none.csv"), ("empty.csv", "", 65, "empty"),
                 ("ragged.csv", "1,2\n3\n", 65, "ragged.csv:2"),
                 ("quote.csv", 'a,b\n"1,2\n', 65, "quote.csv:2"),
                 ("nul.csv", b"a,b\n\0\n", 65, "NUL"),
                 ("wide.csv", b"\xff\xfea\0,\0", 65, "UTF-16"),
                 ("cut.idx", bytes([0, 0, 8, 2, 0, 0, 0, 9, 0, 0, 0, 9, 1]), 65, "truncated"),
                 ("huge.idx", bytes([0, 0, 8, 2]) + b"\x80\0\0\0" * 2 + b"x", 65, "huge.idx"),
                 ("not.gz", b"\x1f\x8b\x08\0nothing that unpacks", 65, "not.gz")]
        with tempfile.TemporaryDirectory() as here:
            for name, text, code, said in cases:
                with self.subTest(name):
                    if text is not None:
                        write(here, name, text)
                    done = run("covey", "data", "describe", name, cwd=here)
                    self.assertEqual(done.returncode, code, done.stderr)
                    self.assertIn(said, done.stderr)
                    self.assertEqual(done.stdout, "")
            os.mkfifo(os.path.join(here, "fifo"))
            for name in ("fifo", "."):
                self.assertEqual(run("covey", "data", "describe", name, cwd=here).returncode, 65)


if __name__ == "__main__":
    unittest.main()
