"""What is wrong with a model, its data or its settings is named with its place and exit code:
by coveyd --check, by a start, and by covey-sim in both modes."""

import collections
import os
import re
import struct
import subprocess
import unittest

from fixture import BIN, LONG, FleetTest, edit

CONFIG, DATA, NO_INPUT = 78, 65, 66

# old, new: what is changed in a good file. at: the text in the changed file to which the error
# points (file:line:col); None: the error names a file of data. says: what else it must say.
Case = collections.namedtuple("Case", "name old new code at says")

HIDDEN = "- dense: {units: 8, activation: relu}"
RATE = "train:\n  until:"


def rate(value):
    return "train:\n  optimizer: {kind: sgd, learning_rate: " + value + "}\n  until:"


CASES = [
    Case("unknown layer", HIDDEN, "- dens: {units: 8}", CONFIG, "dens:", ["dense"]),
    Case("layer that is left out on purpose", HIDDEN, "- batch_norm", CONFIG, "batch_norm",
         ["group_norm"]),
    Case("shape that doesn't fit the layer", HIDDEN, "- conv2d: {filters: 2, kernel: 3}", CONFIG,
         "conv2d:", [r"got input \[4, 4\]", r"wanted \[height, width, channels\]"]),
    Case("kernel larger than its input", "input: [4, 4]\n  layers:\n    " + HIDDEN,
         "input: [4, 4, 1]\n  layers:\n    - conv2d: {filters: 2, kernel: 5}", CONFIG, "5}\n",
         [r"kernel: got \[5, 5\]", r"\[4, 4\]"]),
    Case("layer without units", "units: 8", "units: 0", CONFIG, "0, activation", ["units"]),
    Case("rate 0", RATE, rate("0"), CONFIG, "0}\n  until", ["learning_rate", "above 0"]),
    Case("rate below 0", RATE, rate("-0.1"), CONFIG, "-0.1}", ["learning_rate", "above 0"]),
    Case("rate that is no number", RATE, rate(".nan"), CONFIG, ".nan}", ["learning_rate"]),
    Case("rate without end", RATE, rate(".inf"), CONFIG, ".inf}", ["learning_rate"]),
    Case("batch 0", "batch: 8", "batch: 0", CONFIG, "0\n  cache", ["data.batch", "or all"]),
    Case("batch above the shard", "batch: 8", "batch: 241", DATA, "241\n",
         ["got 241", "240 samples", "'all'"]),
    Case("batch above the shard of Rprop", "batch: 8", "batch: 241", DATA, "241\n",
         ["got 241", "240 samples"]),
    Case("empty shard", "  batch: 8", "  partition: {kind: iid, index: 299, of: 300}\n  batch: 8",
         DATA, "partition:", ["no sample for part 299 of 300"]),
    Case("everything is validation", "last: 60", "last: 300", CONFIG, "validation:", ["300"]),
    Case("samples of another shape", "input: [4, 4]", "input: [4, 5]", DATA, None,
         ["/images", r"\[4, 4\]", "20", "model.input"]),
    Case("label out of range", "units: 3", "units: 2", DATA, None,
         ["/labels, byte 8:", "label 2 of sample 0", "wanted 0 to 1"]),
    Case("fewer labels than samples", "{data}/labels}\n  test", "{data}/few}\n  test", DATA, None,
         ["/few", "299", "300"]),
    Case("samples cut short", "images: {data}/images, labels: {data}/labels}\n  test",
         "images: {data}/short, labels: {data}/labels}\n  test", DATA, None, ["/short"]),
    Case("no samples", "images: {data}/images, labels: {data}/labels}\n  test",
         "images: {data}/none, labels: {data}/labels}\n  test", NO_INPUT, None, ["/none"]),
]


def place(text, marker):
    """Where the marker stands in the text: line:column, from 1."""
    at = text.index(marker)
    return f"{text.count(chr(10), 0, at) + 1}:{at - text.rfind(chr(10), 0, at)}"


class BadInput(FleetTest):
    def setUp(self):
        super().setUp()
        with open(os.path.join(self.data, "labels"), "rb") as file:
            labels = bytearray(file.read())
        labels[8] = 2  # of the first sample
        self.write("labels", labels)
        self.write("few", struct.pack(">BBBBI", 0, 0, 8, 1, 299) + labels[8:-1])
        with open(os.path.join(self.data, "images"), "rb") as file:
            self.write("short", file.read()[:-1])

    def write(self, name, content):
        with open(os.path.join(self.data, name), "wb") as file:
            file.write(content)

    def bad(self, case):
        """Returns: the path of the case's file and the regular expressions of its error."""
        path = self.config()
        if case.name.endswith("Rprop"):
            edit(path, (RATE, "train:\n  optimizer: {kind: irprop_plus}\n  until:"))
        with open(path) as file:
            before = file.read()
        edit(path, (case.old.replace("{data}", self.data), case.new.replace("{data}", self.data)))
        with open(path) as file:
            text = file.read()
        self.assertNotEqual(before, text, case.name)
        says = list(case.says)
        if case.at is not None:
            says.append(re.escape(f"{path}:{place(text, case.at)}: "))
        return path, says

    def run_bad(self, program, arguments, code, says, name):
        done = subprocess.run([os.path.join(BIN, program), *arguments], capture_output=True,
                              text=True, timeout=LONG, cwd=self.folder)
        told = (name, done.stdout, done.stderr)
        self.assertEqual(done.returncode, code, told)
        self.assertEqual(done.stdout, "", told)
        for pattern in says:
            self.assertRegex(done.stderr, pattern, told)

    def test_check_names_it(self):
        good = self.config()
        done = subprocess.run([os.path.join(BIN, "coveyd"), "--check", "--config", good],
                              capture_output=True, text=True, timeout=LONG)
        self.assertEqual(done.returncode, 0, done.stderr)
        for case in CASES:
            with self.subTest(case.name):
                path, says = self.bad(case)
                self.run_bad("coveyd", ["--check", "--config", path], case.code, says, case.name)
        self.assertFalse(os.path.exists(self.state()))  # a check touches no state

    def test_a_start_names_it_too(self):
        for case in CASES:
            if case.name in ("batch above the shard", "label out of range", "rate 0"):
                with self.subTest(case.name):
                    path, says = self.bad(case)
                    self.run_bad("coveyd", ["--config", path], case.code, says, case.name)

    def test_experiments_name_it(self):
        for mode in ("virtual", "process"):
            for case in CASES:
                late = case.code != CONFIG
                if case.name == "empty shard" or (mode == "process" and not late):
                    continue  # an experiment has its own partition; the same reader in both modes
                with self.subTest(mode=mode, case=case.name):
                    path, says = self.bad(case)
                    self.experiment(path, mode, nodes=1)
                    if case.at is not None:
                        with open(path) as file:
                            says[-1] = re.escape(f"{path}:{place(file.read(), case.at)}: ")
                    if mode == "process":
                        says = case.says  # each daemon has a file of its own
                    self.run_bad("covey-sim", ["run", path, "--quiet"], case.code, says,
                                 f"{mode}, {case.name}")

    def test_an_empty_shard_of_an_experiment(self):
        path = self.config()
        edit(path, ("batch: 8", "batch: 1"))
        self.experiment(path, "virtual", nodes=241)
        with open(path) as file:
            at = place(file.read(), "partition:")
        self.run_bad("covey-sim", ["run", path, "--quiet"], DATA,
                     [re.escape(f"{path}:{at}: experiment.partition"),
                      "no sample for part 240 of 241"], "empty shard")

    def experiment(self, path, mode, nodes):
        """Makes an experiment of a node file: without the keys that differ from node to node."""
        with open(path) as file:
            text = file.read()
        text = re.sub(r"(?ms)^node: .*?(?=^model:)", "", text).replace("fleet: {name: e2e}\n", "")
        text = text.replace("until: forever", "until: {epochs: 1}")
        with open(path, "w") as file:
            file.write(f"experiment: {{name: bad, nodes: {nodes}, partition: {{kind: iid}}, "
                       f"mode: {mode}}}\n" + text)


if __name__ == "__main__":
    unittest.main()
