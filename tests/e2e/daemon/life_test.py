"""How a daemon starts, goes on, and ends."""

import json
import os
import signal
import stat
import subprocess
import time
import unittest

from fixture import BIN, LONG, FleetTest, edit


class Start(FleetTest):
    def test_ready_line_names_bound_endpoints(self):
        daemon = self.start(self.config()).ready()
        self.assertEqual(daemon.name, "a")
        self.assertTrue(os.path.exists(daemon.api.removeprefix("ipc://")))
        self.assertEqual(len(daemon.lines), 1, "stdout is for the ready line alone")

    def test_key_is_made_once_private_and_told(self):
        daemon = self.start(self.config()).ready()
        daemon.log("made a key pair.*" + daemon.key)
        key_file = os.path.join(self.state(), "identity.key")
        self.assertEqual(stat.S_IMODE(os.stat(key_file).st_mode), 0o600)
        daemon.stop()
        again = self.start(self.config()).ready()
        self.assertEqual(again.key, daemon.key)
        self.assertFalse([line for line in again.errors if "made a key pair" in line])

    def test_key_is_shown_and_not_made(self):
        path = self.config("c", mode="curve")
        self.covey("key", "show", "--config", path, code=66)
        self.assertIn("there is no key yet", self.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.state("c"), "identity.key")))
        made = subprocess.run([os.path.join(BIN, "coveyd"), "--init", "--config", path],
                              capture_output=True, text=True, timeout=LONG)
        shown = self.covey("key", "show", "--config", path).strip()
        self.assertEqual((made.returncode, made.stdout), (0, f"key={shown}\n"), made.stderr)
        told = json.loads(self.covey("key", "show", "--json", "--config", path))
        self.assertEqual((told["schema"], told["public_key"]), ("covey.key/1", shown))

    def test_bad_configuration_is_78_with_all_errors(self):
        path = self.config(extra="trian: 1\napi: {listem: /x}\n")
        daemon = self.start(path)
        self.assertEqual(daemon.wait(), 78)
        errors = "\n".join(daemon.errors)
        self.assertIn("a.yaml:", errors)
        self.assertIn("did you mean 'train'", errors)
        self.assertIn("listem", errors)
        self.assertIn("2 errors", errors)
        self.assertEqual(daemon.lines, [])

    def test_other_mistakes_have_their_codes(self):
        cases = [
            (["--config", "/does/not/exist.yaml"], 66, "/does/not/exist.yaml"),
            (["--confg", "x"], 64, "did you mean '--config'"),
            ([], 64, "--config"),
        ]
        for arguments, code, text in cases:
            done = subprocess.run([os.path.join(BIN, "coveyd"), *arguments], capture_output=True,
                                  text=True, timeout=LONG)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(text, done.stderr)

    def test_missing_and_damaged_data(self):
        images = os.path.join(self.data, "images")
        with open(images, "r+b") as file:
            file.truncate(100)
        self.assertEqual(self.start(self.config()).wait(), 65)
        os.remove(images)
        daemon = self.start(self.config())
        self.assertEqual(daemon.wait(), 66)
        self.assertIn(images, "\n".join(daemon.errors))

    def test_check_opens_the_data_and_leaves_no_trace(self):
        done = subprocess.run([os.path.join(BIN, "coveyd"), "--check", "--config", self.config()],
                              capture_output=True, text=True, timeout=LONG)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("240 samples to train on, 60 to validate, 300 to test", done.stdout)
        self.assertFalse(os.path.exists(self.state()))

    def test_two_daemons_on_one_state_folder(self):
        first = self.start(self.config()).ready()
        second = self.start(self.config())
        self.assertEqual(second.wait(), 75)
        self.assertIn(str(first.process.pid), "\n".join(second.errors))
        self.assertEqual(self.status(first)["pid"], first.process.pid)

    def test_two_daemons_on_one_port(self):
        first = self.start(self.config()).ready()
        path = self.config("b")
        edit(path, ("listen: 127.0.0.1:0", "listen: 127.0.0.1:" + first.listen.rpartition(":")[2]))
        second = self.start(path)
        self.assertEqual(second.wait(), 73)
        second.log(rf"Address already in use; coveyd \(pid {first.process.pid}\) listens there")

    def test_two_daemons_on_one_socket(self):
        socket = os.path.join(self.folder, "api.sock")
        first = self.start(self.config(extra=f"api: {{listen: {socket}}}\n")).ready()
        second = self.start(self.config("b", extra=f"api: {{listen: {socket}}}\n"))
        self.assertEqual(second.wait(), 73)
        self.assertEqual(self.status(first)["name"], "a")

    def test_address_in_use(self):
        first = self.start(self.config()).ready()
        path = self.config("b")
        edit(path, ("127.0.0.1:0", first.listen.removeprefix("tcp://")))
        self.assertEqual(self.start(path).wait(), 73)

    def test_version_names_build_protocol_and_kernels(self):
        out = subprocess.check_output([os.path.join(BIN, "coveyd"), "--version"], text=True)
        self.assertRegex(out, r"^coveyd \d+\.\d+\.\d+ \(git \S+, protocol \d+, linux/\S+, "
                              r"kernels \w+, .*zmq 4\.3\.\d+, protobuf ")


class Stop(FleetTest):
    def test_signal_ends_it_in_time_and_a_restart_goes_on(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            daemon = self.start(self.config()).ready()
            before = self.wait_status(daemon, lambda s: s["batches"] > 200)
            code, seconds = daemon.stop(number)
            self.assertEqual(code, 0, daemon.errors)
            self.assertLess(seconds, 5)
            again = self.start(self.config(), "--paused").ready()
            again.log("goes on from a checkpoint.*ckpt-")
            after = self.status(again)
            self.assertGreaterEqual(after["batches"], before["batches"])
            self.assertEqual(after["batches"], int(self.checkpoints()[-1][5:25]))
            self.assertAlmostEqual(after["epochs"], after["batches"] / 30, delta=0.04)
            self.assertTrue(after["paused"])
            self.assertEqual(again.stop()[0], 0)

    def test_second_signal_ends_it_at_once(self):
        # Both wait for the stopped process; SIGINT has the lower number and is read first.
        daemon = self.start(self.config()).ready()
        daemon.process.send_signal(signal.SIGSTOP)
        daemon.process.send_signal(signal.SIGINT)
        daemon.process.send_signal(signal.SIGTERM)
        daemon.process.send_signal(signal.SIGCONT)
        self.assertEqual(daemon.wait(), 128 + signal.SIGTERM)

    def test_hang_up_is_reported_and_survived(self):
        daemon = self.start(self.config()).ready()
        daemon.process.send_signal(signal.SIGHUP)
        daemon.log("SIGHUP")
        self.assertEqual(self.status(daemon)["state"], "training")

    def test_kill_leaves_a_checkpoint_that_can_be_loaded(self):
        daemon = self.start(self.config(checkpoint_every="1s")).ready()
        end = time.monotonic() + LONG
        while len(self.checkpoints()) < 2:  # of which it must take the newer
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        daemon.kill()
        written = self.checkpoints()
        again = self.start(self.config(), "--paused").ready()
        again.log("goes on from a checkpoint")
        self.assertEqual(self.status(again)["batches"], int(written[-1][5:25]))

    def test_leftovers_of_a_killed_writer_are_removed(self):
        folder = os.path.join(self.state(), "checkpoints")
        os.makedirs(folder, mode=0o700)
        os.chmod(self.state(), 0o700)
        leftover = os.path.join(folder, "ckpt-" + "0" * 20 + ".covey.tmp.1.1")
        open(leftover, "w").close()
        self.start(self.config()).ready()
        self.assertFalse(os.path.exists(leftover))

    def test_checkpoint_of_another_model_is_refused(self):
        self.start(self.config()).ready().stop()
        path = self.config()
        edit(path, ("units: 8", "units: 9"))
        daemon = self.start(path)
        self.assertEqual(daemon.wait(), 76)
        self.assertIn("mlp 16-8-3", "\n".join(daemon.errors))

    def test_full_disk_or_lost_folder_is_a_failure_and_said_so(self):
        daemon = self.start(self.config()).ready()
        folder = os.path.join(self.state(), "checkpoints")
        if os.path.isdir(folder):
            os.rmdir(folder)
        open(folder, "w").close()  # a file where the folder should be
        code, seconds = daemon.stop()
        self.assertNotEqual(code, 0)
        self.assertLess(seconds, 5)


class Fleet(FleetTest):
    def pair(self, mode, **values):
        """Two daemons that know each other; b dials a."""
        keys = []
        for name in "ab":
            out = subprocess.check_output([os.path.join(BIN, "coveyd"), "--init", "--config",
                                           self.config(name, mode=mode)], text=True)
            keys.append(out.strip().removeprefix("key="))
        a = self.start(self.config("a", mode=mode, keys=keys[1], **values)).ready()
        address = a.listen.removeprefix("tcp://")
        seed = f"{{key: {a.key}, address: '{address}'}}"
        b = self.start(self.config("b", mode=mode, index=1, seeds=seed, **values)).ready()
        return a, b

    def check_exchange(self, mode):
        a, b = self.pair(mode)
        for daemon in (a, b):
            status = self.wait_status(
                daemon, lambda s: min(s["traffic"]["weights_received"],
                                      s["traffic"]["deltas_received"],
                                      s["traffic"]["weights_sent"],
                                      s["traffic"]["deltas_sent"]) >= 5)
            self.assertEqual([peer["state"] for peer in status["peers"]], ["up"])
            # Rounds of microseconds overtake answers, which then find a full queue, an exchange
            # that is no longer pending, or one that was given up; a peer that breaks a rule is
            # something else.
            self.assertLessEqual(set(status["rejects"]),
                                 {"fifo_refused_deltas", "core_not_pending", "unsolicited"})
        self.assertEqual(b.stop()[0], 0)
        self.wait_status(a, lambda s: not s["peers"])  # it said goodbye
        self.assertEqual(a.stop()[0], 0)

    def test_they_exchange_in_the_clear(self):
        self.check_exchange("none")

    def test_they_exchange_encrypted(self):
        self.check_exchange("curve")

    def test_done_node_answers_until_it_is_told_to_leave(self):
        a, b = self.pair("none", until="{epochs: 20}", settle="10 rounds")
        for daemon in (a, b):
            self.wait_status(daemon, lambda s: s["state"] == "done")
            self.assertIsNone(daemon.process.poll())
        out = self.covey("leave", "--json", "--socket", a.api)
        self.assertIn('"schema":"covey.final/1"', out)
        self.assertEqual(a.wait(), 0)
        self.assertIsNone(b.process.poll())
        self.covey("leave", "--socket", b.api)
        self.assertEqual(b.wait(), 0)
        self.assertTrue(self.checkpoints("a") and self.checkpoints("b"))

    def test_node_leaves_by_itself_after_its_linger_time(self):
        daemon = self.start(self.config(until="{epochs: 2}", linger="none")).ready()
        self.assertEqual(daemon.wait(), 0, daemon.errors)
        self.assertTrue(self.checkpoints())

    def test_training_ends_at_an_accuracy(self):
        daemon = self.start(self.config(until="{accuracy: 80%}")).ready()
        status = self.wait_status(daemon, lambda s: s["state"] == "done")
        self.assertGreaterEqual(status["best_evaluation"]["accuracy"], 0.8)

    def test_diverging_training_ends_with_70_and_keeps_the_good_checkpoint(self):
        self.start(self.config()).ready().stop()
        before = self.checkpoints()
        path = self.config()
        # Linear layers never go silent, so their product grows without end.
        edit(path,
             ("train:\n  until",
              "train:\n  optimizer: {kind: sgd, learning_rate: 1000}\n  until"),
             ("activation: relu", "activation: linear"),
             (self.state(), self.state("other")))
        daemon = self.start(path)
        self.assertEqual(daemon.wait(), 70)
        errors = "\n".join(daemon.errors)
        self.assertRegex(errors, r"the loss of step \d+ \(epoch [\d.]+\) is not a finite number")
        self.assertIn("outputs of layer dense", errors)
        self.assertEqual(self.checkpoints("other"), [])
        self.assertEqual(self.checkpoints(), before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
