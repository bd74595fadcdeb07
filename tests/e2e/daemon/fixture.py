"""A small fleet for tests: data that a tiny model learns, configurations, real daemons."""

import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time
import unittest

BIN = os.environ.get("COVEY_BIN", "build/release/bin")
LONG = 60.0  # seconds; only a hang takes that long

READY = re.compile(r"^coveyd ready name=(\S+) key=([0-9a-f]{64}) listen=(tcp://\S+:[1-9]\d*)"
                   r" api=(ipc:///\S+) pid=(\d+)$")

CONFIG = """
fleet: {{name: e2e}}
node: {{name: {name}, state_dir: {state}, seed: 7, index: {index}}}
network:
  listen: 127.0.0.1:0
  seeds: [{seeds}]
security: {{mode: {mode}, authorized_keys: [{keys}]}}
model:
  input: [4, 4]
  layers:
    - dense: {{units: 8, activation: relu}}
    - dense: {{units: 3, activation: linear}}
data:
  train: {{images: {data}/images, labels: {data}/labels}}
  test: {{images: {data}/images, labels: {data}/labels}}
  validation: {{last: 60}}
  batch: 8
  cache: {data}/cache
train:
  until: {until}
  settle: {settle}
  linger: {linger}
  evaluate: {{every: {{epochs: 5}}}}
  checkpoint_every: {checkpoint_every}
consensus: {{batches: 5, sends: 1, settle_patience: 5s}}
"""


def write_data(folder, samples=300):
    """Three classes of 4x4 images, each bright in its own rows."""
    dice = random.Random(1)
    labels = [dice.randrange(3) for _ in range(samples)]
    images = bytearray()
    for label in labels:
        for row in range(4):
            bright = row in (label, label + 1)
            images += bytes(dice.randrange(120, 256) if bright else dice.randrange(0, 130)
                            for _ in range(4))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "images"), "wb") as file:
        file.write(struct.pack(">BBBBIII", 0, 0, 8, 3, samples, 4, 4) + images)
    with open(os.path.join(folder, "labels"), "wb") as file:
        file.write(struct.pack(">BBBBI", 0, 0, 8, 1, samples) + bytes(labels))


def edit(path, *changes):
    """Replaces texts in a file; each change is (old, new)."""
    with open(path) as file:
        text = file.read()
    for old, new in changes:
        text = text.replace(old, new)
    with open(path, "w") as file:
        file.write(text)


class Daemon:
    """One coveyd; its ready line is read at once."""

    def __init__(self, config, *flags, environment=None, prefix=()):
        env = {k: v for k, v in os.environ.items() if k != "JOURNAL_STREAM"}
        env.update(environment or {})
        self.process = subprocess.Popen([*prefix, os.path.join(BIN, "coveyd"), "--config", config,
                                         *flags],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=env)
        self.errors = []
        self.lines = []
        self.changed = threading.Condition()
        self.reading = 2  # streams that have not ended
        self.readers = [threading.Thread(target=self._read, args=(stream, lines), daemon=True)
                        for stream, lines in ((self.process.stdout, self.lines),
                                              (self.process.stderr, self.errors))]
        for reader in self.readers:
            reader.start()

    def _read(self, stream, lines):
        for line in stream:
            with self.changed:
                lines.append(line.rstrip("\n"))
                self.changed.notify_all()
        with self.changed:
            self.reading -= 1
            self.changed.notify_all()

    def wait_line(self, lines, pattern):
        """The first line that matches; waits for it, or for the end of all that the daemon says."""
        def find():
            return next((line for line in lines if re.search(pattern, line)), None)

        with self.changed:
            self.changed.wait_for(lambda: find() or self.reading == 0, LONG)
            found = find()
        if found is None:
            raise AssertionError(f"no line like {pattern!r}; got {self.lines} {self.errors}")
        return found

    def ready(self):
        match = READY.match(self.wait_line(self.lines, "^coveyd ready"))
        assert match, self.lines
        self.name, self.key, self.listen, self.api, pid = match.groups()
        assert int(pid) == self.process.pid
        return self

    def log(self, pattern):
        return self.wait_line(self.errors, pattern)

    def stop(self, number=signal.SIGTERM):
        """Returns: exit code and seconds that it took."""
        begin = time.monotonic()
        self.process.send_signal(number)
        code = self.wait()
        return code, time.monotonic() - begin

    def wait(self):
        code = self.process.wait(LONG)
        for reader in self.readers:
            reader.join()
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.wait()


class FleetTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="covey-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.data = os.path.join(self.folder, "data")
        write_data(self.data)
        self.daemons = []
        self.addCleanup(lambda: [daemon.kill() for daemon in self.daemons])

    def state(self, name="a"):
        return os.path.join(self.folder, name)

    def config(self, name="a", extra="", **values):
        """Writes a node file. Returns: its path."""
        settings = {"name": name, "state": self.state(name), "index": 0, "seeds": "",
                    "mode": "none", "keys": "", "until": "forever", "settle": "0%",
                    "linger": "forever", "checkpoint_every": "5min", "data": self.data, **values}
        path = os.path.join(self.folder, name + ".yaml")
        with open(path, "w") as file:
            file.write(CONFIG.format(**settings) + extra)
        return path

    def start(self, config, *flags, **more):
        daemon = Daemon(config, *flags, **more)
        self.daemons.append(daemon)
        return daemon

    def first_key(self, config):
        """Starts a node once that knows nobody yet. Returns: the key that it has made."""
        edit(config, ("network:\n", "network:\n  alone: true\n"))
        daemon = self.start(config, "--paused").ready()
        daemon.stop()
        self.daemons.remove(daemon)
        return daemon.key

    def covey(self, *arguments, code=0, timeout=LONG):
        """Runs covey. Returns: stdout."""
        done = subprocess.run([os.path.join(BIN, "covey"), *arguments], capture_output=True,
                              text=True, timeout=timeout)
        self.assertEqual(done.returncode, code, (arguments, done.stdout, done.stderr))
        self.stderr = done.stderr
        return done.stdout

    def status(self, daemon):
        return json.loads(self.covey("status", "--json", "--socket", daemon.api))

    def wait_status(self, daemon, reached):
        """Asks until it holds; the daemon has no event for everything."""
        end = time.monotonic() + LONG
        while time.monotonic() < end:
            status = self.status(daemon)
            if reached(status):
                return status
        self.fail(f"never reached; last: {status}")

    def checkpoints(self, name="a"):
        folder = os.path.join(self.state(name), "checkpoints")
        if not os.path.isdir(folder):
            return []
        return sorted(file for file in os.listdir(folder) if file.endswith(".covey"))
