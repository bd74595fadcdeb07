"""Data that arrive while a node runs: pushed, in files, in a growing table; and a sudden death."""

import json
import os
import random
import signal
import struct
import subprocess
import time
import unittest
import urllib.error
import urllib.request
import zipfile

from fixture import BIN, LONG, FleetTest

NODE = """
fleet: {{name: live}}
node: {{name: a, state_dir: {state}, seed: 7}}
network: {{listen: 127.0.0.1:0}}
security: {{mode: none}}
model:
  input: [2]
  layers: [{{dense: {{units: 8, activation: relu}}}}, {{dense: {{units: 3}}}}]
data:
  live: {{{live}}}
  csv: {{label: tree}}
  labels: [birch, oak, pine]
  normalize: given
  normalization: {{mean: [7, 2.5], std: [4, 1.5]}}
  validation: {{share: 0.2}}
  batch: 8
train: {{evaluate: {{every: {{batches: 50}}}}, optimizer: {{kind: adam, learning_rate: 0.01}}}}
http: {{enabled: true, listen: 127.0.0.1:0}}
"""

HEADER = "height,width,tree\n"


class Live(FleetTest):
    def setUp(self):
        super().setUp()
        self.dice = random.Random(4)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def node(self, live="start_at: 40"):
        path = self.path("live.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(NODE.format(state=self.state(), live=live))
        return path

    def row(self):
        tree, height, width = self.dice.choice(
            [("birch", 3, 1), ("oak", 7, 4), ("pine", 12, 2.5)])
        height, width = (size + self.dice.gauss(0, 0.5) for size in (height, width))
        return f"{height:.4f},{width:.4f},{tree}\n"

    def rows(self, count):
        return "".join(self.row() for _ in range(count))

    def push(self, daemon, text, code=0):
        done = subprocess.run(
            [os.path.join(BIN, "covey"), "push", "--json", "--socket", daemon.api, "--csv", "-",
             "--timeout", "60s"],
            input=text, capture_output=True, text=True, timeout=LONG)
        self.assertEqual(done.returncode, code, done.stderr)
        self.stderr = done.stderr
        return json.loads(done.stdout) if done.stdout else None

    def live(self, daemon):
        return self.status(daemon)["live"]

    def kept(self, daemon):
        live = self.live(daemon)
        return live["to_train"] + live["set_aside"]

    def test_training_begins_with_enough_and_goes_on(self):
        daemon = self.start(self.node()).ready()
        self.assertTrue(self.live(daemon)["waiting"])
        self.push(daemon, HEADER + self.rows(10))
        status = self.status(daemon)
        self.assertEqual((status["batches"], status["paused"]), (0, False))
        self.assertIn("training begins with 40", self.covey("status", "--socket", daemon.api))
        pushed = self.push(daemon, HEADER + self.rows(300))
        self.assertEqual((pushed["accepted"], pushed["rejected"]), (300, 0))
        self.wait_status(daemon, lambda s: s["batches"] > 500)
        live = self.live(daemon)
        self.assertFalse(live["waiting"])
        self.assertEqual(live["to_train"] + live["set_aside"], 310)
        self.assertTrue(30 < live["set_aside"] < 100, live)
        self.assertEqual(sum(one["samples"] for one in live["classes"]), 310)
        answer = json.loads(self.covey("predict", "--json", "--socket", daemon.api, "--wait", "30s",
                                       "12", "2.5"))
        self.assertEqual(answer["answers"][0]["classes"][0]["label"], "pine")
        # One sample by its values; a pause is not undone by data.
        self.covey("pause", "--socket", daemon.api)
        self.covey("push", "--socket", daemon.api, "3.1", "1.1", "--class", "birch")
        self.wait_status(daemon, lambda s: s["live"]["accepted"] == 311)
        self.assertTrue(self.status(daemon)["paused"])

    def test_what_is_wrong_is_rejected_and_the_rest_taken(self):
        daemon = self.start(self.node()).ready()
        pushed = self.push(daemon, HEADER + "1,2,oak\n1,2,elm\n1,x,oak\n1,2\n,2,oak\n4,5,2\n", 65)
        self.assertEqual((pushed["accepted"], pushed["rejected"]), (2, 4))
        for words in ("line 3", "'elm' is new", "birch, oak, pine", "data.labels"):
            self.assertIn(words, pushed["reason"])
        self.assertIn("elm", self.live(daemon)["last_rejected"])
        self.push(daemon, "height,tree\n1,oak\n", 65)
        self.assertIn("1 features, wanted 2", self.stderr)
        self.covey("push", "--socket", daemon.api, "1", "--class", "oak", code=65)
        self.covey("push", "--socket", daemon.api, "--class", "oak", code=64)
        self.assertEqual(self.kept(daemon), 2)
        fixed = self.start(self.config("b")).ready()
        self.push(fixed, HEADER + "1,2,oak\n", 64)
        self.assertIn("live: {}", self.stderr)

    def test_memory_is_bounded(self):
        daemon = self.start(self.node("start_at: 10, max_samples: 50, keep: newest")).ready()
        self.push(daemon, HEADER + self.rows(400))
        live = self.live(daemon)
        self.assertEqual((live["to_train"], live["set_aside"], live["accepted"]), (50, 10, 400))
        self.wait_status(daemon, lambda s: s["batches"] > 50)

    def test_http(self):
        daemon = self.start(self.node()).ready()
        address = daemon.log("serves HTTP").split("address=")[1].split()[0]

        def ask(path, body=None):
            request = urllib.request.Request(
                address + path, None if body is None else json.dumps(body).encode(),
                {"Content-Type": "application/json"})
            try:
                with urllib.request.urlopen(request, timeout=LONG) as answer:
                    return answer.status, json.load(answer)
            except urllib.error.HTTPError as error:
                return error.code, json.load(error)

        def post(body):
            return ask("/v1/push", body)

        status, body = post({"samples": [[1, 2], [3, 4]], "classes": ["oak", "elm"]})
        self.assertEqual((status, body["accepted"], body["rejected"]), (200, 1, 1))
        self.assertEqual(post({"samples": [[1, 2, 3]], "classes": ["oak"]})[0], 422)
        self.assertEqual(post({"samples": [[1, "x"]]})[0], 400)
        self.assertEqual(ask("/v1/predict", {"samples": [[1, 2]]})[0], 503)
        self.push(daemon, HEADER + self.rows(200))
        self.wait_status(daemon, lambda s: s["batches"] > 500 and s.get("last_evaluation"))
        status, body = ask("/v1/predict", {"samples": [[12, 2.5], [3, 1]], "top": 1})
        self.assertEqual(status, 200)
        self.assertEqual([one["classes"][0]["label"] for one in body["answers"]],
                         ["pine", "birch"])
        self.assertEqual(ask("/v1/predict", {"samples": [[12]]})[0], 422)
        self.assertEqual(ask("/healthz"), (200, {"status": "ok", "state": "training"}))

    def test_arrays_in_a_spool(self):
        spool = self.path("spool")
        daemon = self.start(self.node(f"spool: {spool}")).ready()

        def npy(kind, shape, values):
            header = f"{{'descr': '{kind[0]}', 'fortran_order': False, 'shape': {shape}, }}"
            header = header.ljust(117) + "\n"
            return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
                    struct.pack("<" + str(len(values)) + kind[1], *values))

        def put(name, **arrays):
            with zipfile.ZipFile(self.path("new"), "w", zipfile.ZIP_DEFLATED) as file:
                for key, array in arrays.items():
                    file.writestr(key + ".npy", array)
            os.rename(self.path("new"), os.path.join(spool, name))

        x = npy(("<f8", "d"), (3, 2), [3, 1, 7, 4, 12, 2.5])
        put("a.npz", x=x, y=npy(("<i8", "q"), (3,), [0, 1, 2]))
        put("new-class.npz", x=x, y=npy(("<i8", "q"), (3,), [0, 1, 3]))
        put("no-classes.npz", x=x)
        status = self.wait_status(daemon, lambda s: s["live"]["accepted"] == 3 and
                                  s["live"]["quarantined"] == 2)
        self.assertEqual([one["samples"] for one in status["live"]["classes"]], [1, 1, 1])
        self.assertEqual(os.listdir(os.path.join(spool, "done")), ["a.npz"])
        for name, says in (("new-class", "sample 2: sample: class 3"), ("no-classes", "y")):
            with open(os.path.join(spool, "bad", name + ".npz.reason"), encoding="utf-8") as file:
                self.assertIn(says, file.read())

    def test_a_spool(self):
        spool = self.path("spool")
        daemon = self.start(self.node(f"spool: {spool}")).ready()

        def put(name, text):
            with open(self.path("new"), "w", encoding="utf-8") as file:
                file.write(text)
            os.rename(self.path("new"), os.path.join(spool, name))

        put("a.csv", HEADER + self.rows(30))
        put("b.csv.part", HEADER + self.rows(5))
        put("c.csv", HEADER + self.rows(3) + "1,2,elm\n")
        put("d.txt", "hello")
        put("e.csv", "")
        self.wait_status(daemon, lambda s: s["live"]["quarantined"] == 3)
        self.assertEqual(self.kept(daemon), 30)
        self.assertEqual(os.listdir(os.path.join(spool, "done")), ["a.csv"])
        with open(os.path.join(spool, "bad", "c.csv.reason"), encoding="utf-8") as file:
            self.assertIn("line 5", file.read())
        self.assertTrue(os.path.exists(os.path.join(spool, "b.csv.part")))
        # What came while the node was away.
        daemon.stop()
        put("f.csv", HEADER + self.rows(20))
        again = self.start(self.node(f"spool: {spool}, remove: true")).ready()
        self.wait_status(again, lambda s: s["live"]["accepted"] == 20)
        self.assertEqual(self.kept(again), 50)
        self.assertFalse(os.path.exists(os.path.join(spool, "f.csv")))

    def test_a_table_that_grows(self):
        log = self.path("log.csv")
        daemon = self.start(self.node(f"csv: {log}")).ready()

        def append(text):
            with open(log, "a", encoding="utf-8") as file:
                file.write(text)

        def reaches(node, accepted):
            self.wait_status(node, lambda s: s["live"]["accepted"] == accepted)

        append(HEADER + self.rows(5) + "1.5,2")  # the last line has no end yet
        reaches(daemon, 5)
        append(".5,oak\n1,2,elm\n")
        reaches(daemon, 6)
        self.wait_status(daemon, lambda s: s["live"]["rejected"] == 1)
        append(self.rows(2))
        os.rename(log, log + ".1")  # rotation
        append(HEADER + self.rows(4))
        reaches(daemon, 12)
        with open(log, "w", encoding="utf-8") as file:  # truncation
            file.write(HEADER + "1,2,oak\n")
        reaches(daemon, 13)
        append(self.rows(7))
        reaches(daemon, 20)
        daemon.kill()
        append(self.rows(9))
        again = self.start(self.node(f"csv: {log}")).ready()
        reaches(again, 9)
        self.assertEqual(self.kept(again), 29)

    def pusher(self, daemon, rows):
        """Pushes a thousand samples a second, ten at a time. Returns: the process."""
        push = subprocess.Popen(
            [os.path.join(BIN, "covey"), "push", "--json", "--socket", daemon.api, "--csv", "-",
             "--timeout", "60s"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        push.stdin.write(HEADER)
        begin = time.monotonic()
        try:
            for sent in range(0, rows, 10):
                push.stdin.write(self.rows(10))
                push.stdin.flush()
                time.sleep(max(0.0, begin + sent / 1000 - time.monotonic()))
        except BrokenPipeError:
            pass
        return push

    def test_a_clean_stop_loses_nothing_that_was_accepted(self):
        daemon = self.start(self.node("start_at: 100, max_samples: 100000")).ready()
        push = self.pusher(daemon, 3000)
        out, err = push.communicate(timeout=LONG)
        self.assertEqual(push.returncode, 0, err)
        accepted = json.loads(out)["accepted"]
        self.assertEqual(accepted, 3000, err)
        self.assertGreater(self.wait_status(daemon, lambda s: s["batches"] > 0)["batches"], 0)
        self.assertEqual(daemon.stop()[0], 0)
        again = self.start(self.node()).ready()
        self.assertEqual(self.kept(again), accepted)
        self.wait_status(again, lambda s: s["batches"] > 0)

    def test_killed_it_loses_at_most_what_was_not_acknowledged(self):
        total = 0
        for life in range(3):
            daemon = self.start(self.node("start_at: 100")).ready()
            self.assertGreaterEqual(self.kept(daemon), total)
            kept = self.kept(daemon)
            acknowledged = 0
            for _ in range(20 + 7 * life):
                acknowledged += self.push(daemon, HEADER + self.rows(25))["accepted"]
            total = kept + acknowledged
            daemon.process.send_signal(signal.SIGKILL)
            daemon.wait()
            # A record that the death cut short.
            with open(os.path.join(self.state(), "live.journal"), "ab") as file:
                file.write(b"\x40\x00\x00\x00torn")
        daemon = self.start(self.node()).ready()
        self.assertEqual(self.kept(daemon), total)
        daemon.log("never confirmed")


if __name__ == "__main__":
    unittest.main()
