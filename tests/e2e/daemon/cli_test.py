"""covey against a live daemon and against none."""

import json
import os
import subprocess
import unittest

from fixture import FleetTest


class Cli(FleetTest):
    def test_status_for_people(self):
        daemon = self.start(self.config()).ready()
        self.wait_status(daemon, lambda s: "last_evaluation" in s)
        out = self.covey("status", "--socket", daemon.api)
        for text in ("node        a (" + daemon.key[:8], "mlp 16-8-3", "training",
                     str(daemon.process.pid), "accuracy", daemon.listen, "peers       0"):
            self.assertIn(text, out)
        self.assertEqual(self.stderr, "")

    def test_status_for_programs(self):
        daemon = self.start(self.config(until="{epochs: 1000000}")).ready()
        status = self.wait_status(daemon, lambda s: "last_evaluation" in s)
        self.assertEqual(status["schema"], "covey.status/1")
        self.assertEqual(status["pid"], daemon.process.pid)
        self.assertEqual(status["name"], "a")
        self.assertEqual(status["key"], daemon.key)
        self.assertEqual(status["endpoints"], [daemon.listen])
        self.assertEqual(status["until_batches"], 30000000)
        self.assertEqual(status["parameters"], 16 * 8 + 8 + 8 * 3 + 3)
        self.assertGreater(status["samples_per_second"], 0)
        self.assertLess(status["first_batch_ns"], status["last_batch_ns"])
        self.assertGreater(status["pss_bytes"], 1 << 20)
        self.assertGreaterEqual(status["peak_pss_bytes"], status["pss_bytes"])
        later = self.wait_status(daemon, lambda s: s["batches"] > status["batches"])
        self.assertEqual(later["first_batch_ns"], status["first_batch_ns"])
        self.assertGreaterEqual(later["best_evaluation"]["accuracy"],
                                status["best_evaluation"]["accuracy"])

    def test_daemon_is_found_by_its_configuration(self):
        path = self.config()
        self.start(path).ready()
        self.assertEqual(json.loads(self.covey("status", "--json", "--config", path))["name"], "a")

    def test_pause_and_resume(self):
        daemon = self.start(self.config()).ready()
        self.wait_status(daemon, lambda s: s["batches"] > 0)
        self.assertEqual(self.covey("pause", "--socket", daemon.api), "a: training, paused\n")
        paused = self.status(daemon)
        self.assertTrue(paused["paused"])
        self.assertEqual(self.status(daemon)["batches"], paused["batches"])
        self.assertEqual(self.covey("resume", "--socket", daemon.api), "a: training\n")
        self.wait_status(daemon, lambda s: s["batches"] > paused["batches"])

    def test_start_paused(self):
        daemon = self.start(self.config(), "--paused").ready()
        self.assertTrue(self.status(daemon)["paused"])
        self.assertEqual(self.status(daemon)["batches"], 0)
        resumed = json.loads(self.covey("resume", "--json", "--socket", daemon.api))
        self.assertFalse(resumed["paused"])
        self.wait_status(daemon, lambda s: s["batches"] > 0)

    def test_settle_ends_the_training(self):
        daemon = self.start(self.config(settle="2 rounds")).ready()
        self.wait_status(daemon, lambda s: s["batches"] > 0)
        self.covey("settle", "--socket", daemon.api)
        done = self.wait_status(daemon, lambda s: s["state"] == "done")
        self.assertEqual(self.status(daemon)["batches"], done["batches"])

    def test_leave_measures_the_model_and_ends_the_daemon(self):
        daemon = self.start(self.config(until="{epochs: 30}")).ready()
        self.wait_status(daemon, lambda s: s["state"] == "done")
        results = json.loads(self.covey("leave", "--json", "--socket", daemon.api))
        self.assertEqual(results["schema"], "covey.final/1")
        self.assertGreater(results["best"]["test_accuracy"], 0.6)
        self.assertGreaterEqual(results["best"]["validation_accuracy"],
                                results["last"]["validation_accuracy"])
        self.assertAlmostEqual(results["last"]["epoch"], 30, places=6)
        self.assertEqual(daemon.wait(), 0)
        self.covey("status", "--socket", daemon.api, code=69)

    def test_leave_for_people(self):
        daemon = self.start(self.config()).ready()
        out = self.covey("leave", "--socket", daemon.api)
        self.assertRegex(out, r"best model \(epoch [\d.]+\):  validation accuracy")
        self.assertEqual(daemon.wait(), 0)

    def test_nobody_there(self):
        self.covey("status", "--socket", os.path.join(self.folder, "none.sock"), code=69)
        self.assertEqual(self.stderr.splitlines(), [
            f"covey: cannot reach the daemon at ipc://{self.folder}/none.sock (no such file); "
            "is it running? systemctl status covey; another socket: --socket or --config"])
        self.covey("leave", "--config", self.config(), code=69)

    def test_killed_daemon_is_told_from_a_missing_one(self):
        daemon = self.start(self.config()).ready()
        daemon.kill()
        self.covey("pause", "--socket", daemon.api, code=69)
        self.assertIn("nobody listens", self.stderr)

    def test_stopped_daemon_is_a_time_out(self):
        daemon = self.start(self.config()).ready()
        daemon.process.send_signal(19)  # SIGSTOP
        self.covey("status", "--socket", daemon.api, "--timeout", "100ms", code=69)
        self.assertIn("did not answer within 100ms", self.stderr)
        daemon.process.send_signal(18)  # SIGCONT

    def test_usage(self):
        for arguments, text in (
            (["staus"], "unknown command 'staus'; did you mean 'status'?"),
            ([], "a command is missing; there are status, peers"),
            (["status", "--jsn"], "unknown option '--jsn'; did you mean '--json'?"),
            (["status", "--timeout", "5"], "--timeout"),
            (["status", "--socket", "/a", "--config", "/b"], "--config"),
        ):
            self.covey(*arguments, code=64)
            self.assertIn(text, self.stderr)

    def test_bad_configuration_is_78_here_too(self):
        self.covey("status", "--config", self.config(extra="nod: 1\n"), code=78)
        self.assertIn("did you mean 'node'", self.stderr)

    def test_version_and_help(self):
        self.assertRegex(self.covey("--version"), r"^covey \d")
        self.assertIn("status", self.covey("--help"))

    def test_full_stdout_is_no_success(self):
        daemon = self.start(self.config()).ready()
        with open("/dev/full", "w") as full:
            done = subprocess.run([os.path.join(os.environ.get("COVEY_BIN", "build/release/bin"),
                                                "covey"), "status", "--socket", daemon.api],
                                  stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 74, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
