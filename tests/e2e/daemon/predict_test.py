"""A trained node answers questions, leaves model files, and starts from one."""

import hashlib
import json
import os
import subprocess
import unittest

from fixture import BIN, FleetTest, edit

# Bright in the rows of class 2.
SAMPLE = ["10"] * 8 + ["240"] * 8


class Predict(FleetTest):
    def trained(self):
        """A node that has learned the classes, and the folder with its model."""
        config = self.config(until="{epochs: 40}")
        daemon = self.start(config).ready()
        self.wait_status(daemon, lambda s: s["state"] == "done")
        return daemon, config

    def run_covey(self, *arguments, **more):
        return subprocess.run([os.path.join(BIN, "covey"), *arguments], text=True,
                              capture_output=True, check=False, timeout=60, **more)

    def test_a_node_answers(self):
        daemon, _ = self.trained()
        answer = json.loads(self.covey("predict", "--json", "--socket", daemon.api, *SAMPLE))
        self.assertEqual(answer["schema"], "covey.predict/1")
        best = answer["answers"][0]["classes"]
        self.assertEqual(best[0]["label"], "2")
        self.assertGreater(best[0]["probability"], 0.6)
        self.assertAlmostEqual(sum(one["probability"] for one in best), 1, places=5)
        text = self.covey("predict", "--socket", daemon.api, "--row=" + ",".join(SAMPLE))
        self.assertRegex(text, r"^2 +\d+\.\d %")
        rows = "a,b\n" + "\n".join(",".join(SAMPLE) for _ in range(3)) + "\n"
        done = self.run_covey("predict", "--socket", daemon.api, "--csv", "-", input=rows)
        self.assertEqual(done.stdout.count("\n"), 3, done.stderr)

    def test_questions_that_make_no_sense(self):
        daemon, _ = self.trained()
        for arguments, code, says in (
                (["1", "2"], 65, "wanted 16"), (["x"], 64, "'x' is not"),
                ([], 64, "nothing to answer"),
                (["--csv", "/nowhere"], 66, "/nowhere"), (["1", "--csv", "-"], 64, "more than one"),
                (["--model", "/nowhere.onnx", "1"], 66, "/nowhere.onnx")):
            done = self.run_covey("predict", "--socket", daemon.api, *arguments, input="")
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(says, done.stderr)
            self.assertEqual(done.stdout, "")

    def wait_learned(self, daemon):
        """Until the best model is right about all of the held-out samples."""
        self.wait_status(daemon, lambda status: (status.get("best_evaluation") or {})
                         .get("accuracy") == 1)

    def test_columns_by_name(self):
        folder = os.path.join(self.folder, "node")
        table = os.path.join(self.folder, "pets.csv")
        with open(table, "w", encoding="utf-8") as file:
            file.write("size,fur,pet\n" + "".join(
                f"2.{i:02},long,cat\n8.{i:02},short,dog\n" for i in range(80)))
        self.covey("init", table, "--to", folder, "--listen", "127.0.0.1:0")
        config = os.path.join(folder, "node.yaml")
        daemon = self.start(config).ready()
        self.covey("predict", "--wait", "60s", "--socket", daemon.api, "--row=size=2,fur=long")
        self.wait_learned(daemon)
        self.covey("leave", "--socket", daemon.api)
        daemon.wait()
        other = os.path.join(self.folder, "other.csv")
        with open(other, "w", encoding="utf-8") as file:
            file.write("name,fur,size\nTom,long,2\nRex,short,9\n")
        daemon = self.start(config).ready()  # knows the columns before it has trained
        model = os.path.join(folder, "state", "model", "model.onnx")
        info = json.loads(self.covey("model", "info", model, "--json"))
        self.assertEqual(info["features"], ["size", "fur=long", "fur=short"])
        self.assertIn("columns     size, fur=long", self.covey("model", "info", model))
        for whom in (["--socket", daemon.api], ["--model", model]):
            for row, pet in (("size=2,fur=long", "cat"), ('{"fur": "short", "size": 9}', "dog")):
                answer = json.loads(self.covey("predict", "--json", "--row", row, *whom))
                self.assertEqual(answer["answers"][0]["classes"][0]["label"], pet)
            text = self.covey("predict", "--top", "1", "--csv", other, *whom)
            self.assertEqual([line.split()[0] for line in text.splitlines()], ["cat", "dog"])
            done = self.run_covey("predict", "--row", "size=2,furr=long", *whom)
            self.assertEqual(done.returncode, 65)
            self.assertIn("lacks the column fur", done.stderr)

    def test_images(self):
        photos = os.path.join(self.folder, "photos")
        for name, grey in (("night", 10), ("day", 200)):
            os.makedirs(os.path.join(photos, name))
            for i in range(20):
                with open(os.path.join(photos, name, f"{i}.pgm"), "wb") as file:
                    file.write(b"P5 16 16 255\n" + bytes([grey + i]) * 256)
        folder = os.path.join(self.folder, "node")
        self.covey("init", photos, "--to", folder, "--size", "12", "12", "--listen", "127.0.0.1:0")
        daemon = self.start(os.path.join(folder, "node.yaml")).ready()
        night, day = (os.path.join(photos, name, "3.pgm") for name in ("night", "day"))
        self.covey("predict", "--wait", "60s", "--socket", daemon.api, "--image", night)
        model = os.path.join(folder, "state", "model", "model.safetensors")
        self.wait_learned(daemon)
        self.covey("leave", "--socket", daemon.api)
        daemon.wait()
        answer = json.loads(self.covey("predict", "--json", "--model", model,
                                       "--image", night, day))
        self.assertEqual([(one["image"], one["classes"][0]["label"]) for one in answer["answers"]],
                         [(night, "night"), (day, "day")])
        self.assertIn(night, self.covey("predict", "--model", model, "--image", night))
        for path, code, says in ((model, 65, "no image"), ("/nowhere.png", 66, "/nowhere.png")):
            done = self.run_covey("predict", "--model", model, "--image", path)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(says, done.stderr)

    def test_recordings(self):
        for person in range(4):
            folder = os.path.join(self.folder, "logs", f"p{person}")
            os.makedirs(folder)
            for act, swing in (("rest", 1), ("walk", 9)):
                with open(os.path.join(folder, f"p{person}_{act}.csv"), "w") as file:
                    file.write("time,acc\n" + "".join(
                        f"{t},{swing * (1 if t % 2 else -1)}\n" for t in range(120)))
        with open(os.path.join(self.folder, "logs", "people.csv"), "w") as file:
            file.write("person,age\n0,33\n")
        config = os.path.join(self.folder, "node.yaml")
        with open(config, "w") as file:
            file.write(f"""
node: {{state_dir: {self.state()}}}
network: {{listen: "127.0.0.1:0", alone: true}}
model:
  input: [8, 1]
  layers: [{{dense: {{units: 4, activation: relu}}}}, {{dense: {{units: 2}}}}]
data:
  train: {{recordings: '{self.folder}/logs/p*/*.csv'}}
  csv: {{ignore: [time]}}
  windows: {{step: 4, key: 'p(*)_*.csv', label: 'p*_(*).csv'}}
  hold_out: {{keys: '3'}}
  validation: {{share: 0.1}}
  normalize: per_channel
  batch: 8
  cache: {self.folder}/cache
train: {{until: {{epochs: 30}}, settle: 0%, linger: none}}
""")
        daemon = self.start(config)
        self.assertEqual(daemon.wait(), 0, daemon.errors)
        walk = os.path.join(self.folder, "logs", "p3", "p3_walk.csv")
        model = os.path.join(self.state(), "model", "model.onnx")
        answers = self.covey("predict", "--model", model, "--csv", walk, "--top", "1").splitlines()
        self.assertEqual([line.split()[0] for line in answers], ["walk"] * 15)
        edit(config, ("logs/p*/*.csv", "logs"))
        self.assertIn("people.csv", self.start(config).log("people.csv"))

    def test_a_node_without_a_model_says_so(self):
        daemon = self.start(self.config(), "--paused").ready()
        done = self.run_covey("predict", "--socket", daemon.api, *SAMPLE)
        self.assertEqual(done.returncode, 75, done.stderr)
        self.assertIn("evaluation", done.stderr)

    def test_model_files(self):
        daemon, config = self.trained()
        self.covey("leave", "--socket", daemon.api)
        daemon.process.wait(60)
        state = os.path.dirname(daemon.api.removeprefix("ipc://"))
        folder = os.path.join(state, "model")
        with open(os.path.join(folder, "latest.json"), encoding="utf-8") as file:
            latest = json.load(file)
        for facts in latest["files"].values():
            with open(os.path.join(folder, facts["name"]), "rb") as file:
                self.assertEqual(hashlib.sha256(file.read()).hexdigest(), facts["sha256"])
        info = json.loads(self.covey("model", "info", state, "--json"))
        self.assertEqual(info["version"], latest["version"])
        self.assertEqual(info["accuracy"], latest["accuracy"])
        self.assertIn("mlp 16-8-3", self.covey("model", "info", os.path.join(folder, "model.onnx")))

        onnx = os.path.join(state, "copy.onnx")
        self.covey("model", "export", state, onnx)
        with open(onnx, "rb") as one, open(os.path.join(folder, "model.onnx"), "rb") as other:
            self.assertEqual(one.read(), other.read())
        answer = json.loads(self.covey("predict", "--json", "--model", onnx, *SAMPLE))
        self.assertEqual(answer["answers"][0]["classes"][0]["label"], "2")
        diff = json.loads(self.covey("model", "diff", onnx, state, "--json"))
        self.assertEqual([one["greatest"] for one in diff["tensors"]], [0, 0, 0, 0])
        self.assertEqual(self.run_covey("model", "export", state, "x.bin").returncode, 64)

        if latest["version"] > 1:
            self.covey("model", "rollback", "--config", config)
            back = json.loads(self.covey("model", "info", state, "--json"))
            self.assertEqual(back["version"], latest["version"] - 1)

    def test_a_node_starts_from_a_model(self):
        daemon, config = self.trained()
        state = os.path.dirname(daemon.api.removeprefix("ipc://"))
        onnx = os.path.join(state, "copy.onnx")
        done = self.run_covey("model", "import", state, "--config", config)
        self.assertEqual(done.returncode, 75, done.stderr)  # it runs
        self.covey("leave", "--socket", daemon.api)
        daemon.process.wait(60)
        self.covey("model", "export", state, onnx)
        done = self.run_covey("model", "import", onnx, "--config", config)
        self.assertEqual(done.returncode, 73, done.stderr)
        self.covey("model", "import", onnx, "--config", config, "--replace")
        other = self.start(config, "--paused").ready()
        status = self.status(other)
        self.assertEqual(status["batches"], 0)
        answer = json.loads(self.covey("predict", "--json", "--socket", other.api, *SAMPLE))
        self.assertEqual(answer["answers"][0]["classes"][0]["label"], "2")


if __name__ == "__main__":
    unittest.main()
