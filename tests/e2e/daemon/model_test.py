"""covey model describe: every file that is shipped, and files that are wrong."""

import glob
import json
import os
import subprocess
import tempfile
import unittest

BIN = os.environ.get("COVEY_BIN", "build/release/bin")
CONFIGS = os.path.join(os.environ.get("COVEY_SOURCE", "."), "configs")


def describe(*arguments):
    return subprocess.run([os.path.join(BIN, "covey"), "model", "describe", *arguments],
                          capture_output=True, text=True, timeout=60)


def model(name):
    done = describe(os.path.join(CONFIGS, "models", name + ".yaml"), "--json")
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


class Describe(unittest.TestCase):
    def test_every_file_that_is_shipped(self):
        files = glob.glob(os.path.join(CONFIGS, "**", "*.yaml"), recursive=True)
        self.assertGreater(len(files), 8)
        for path in files:
            if os.sep + "sweeps" + os.sep in path:  # no model of its own
                continue
            with open(path, encoding="utf-8") as file:
                if "KEY-OF-" in file.read():  # its reader puts a key there
                    continue
            with self.subTest(path):
                done = describe(path)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("\ntotal ", done.stdout)
                whole = json.loads(describe(path, "--json").stdout)
                self.assertEqual(whole["schema"], "covey.model/1")
                self.assertEqual(sum(layer["parameters"] for layer in whole["layers"]),
                                 whole["parameters"])

    def test_figures(self):
        mlp = model("mlp")
        self.assertEqual(mlp["parameters"], 784 * 72 + 72 + 72 * 10 + 10)
        self.assertEqual(mlp["multiply_adds"], 784 * 72 + 72 * 10)
        self.assertEqual(mlp["memory"]["optimizer_bytes"], 2 * 4 * mlp["parameters"])
        self.assertEqual(mlp["summary"], "mlp 784-72-10")

        cnn = model("cifar10-cnn")
        self.assertEqual([layer["output"] for layer in cnn["layers"]],
                         [[30, 30, 16], [15, 15, 16], [13, 13, 32], [6, 6, 32], [1152], [128],
                          [128], [10]])
        self.assertEqual(cnn["parameters"], 448 + 4640 + 1152 * 128 + 128 + 1290)
        self.assertEqual(cnn["layers"][0]["multiply_adds"], 30 * 30 * 16 * 27)

        text = model("text-lstm")
        self.assertEqual([layer["parameters"] for layer in text["layers"]],
                         [0, 4 * 50 * 151, 4 * 50 * 101, 5100])
        self.assertEqual(model("regression")["loss"], "mean_squared_error")
        self.assertEqual(model("activity")["layers"][-1]["output"], [5])

    def test_columns_are_aligned(self):
        out = describe(os.path.join(CONFIGS, "models", "cifar10-cnn.yaml")).stdout
        table = out.split("\n\n")[1].split("\n")
        self.assertEqual(table[0].split(), ["layer", "kind", "settings", "output", "parameters",
                                            "multiply-adds"])
        width = len(table[1])
        self.assertEqual(table[1], "-" * width)
        for line in table[3:]:
            self.assertEqual(len(line), width, line)
        self.assertTrue(table[-1].startswith("total") and table[-1].endswith("1,316,288"),
                        table[-1])

    def test_errors_point_into_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "bad.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write("model:\n  input: [28, 28]\n  layers:\n    - conv2d: {filters: 4}\n"
                           "    - batch_norm\n    - dense: {units: 10}\n"
                           "data: {train: {images: i, labels: l}}\n")
            done = describe(path)
            self.assertEqual(done.returncode, 78)
            self.assertEqual(done.stdout, "")
            self.assertIn(path + ":5:7: error: model.layers[1]: there is no batch normalisation",
                          done.stderr)
        self.assertEqual(describe("/nowhere/x.yaml").returncode, 66)
        self.assertEqual(describe().returncode, 64)


if __name__ == "__main__":
    unittest.main()
