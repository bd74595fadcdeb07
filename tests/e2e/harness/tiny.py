"""A tiny experiment for tests of covey-sim: synthetic IDX files, settings, ways to run it."""
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

BIN = pathlib.Path(os.environ["COVEY_BIN"])
CLASSES, SIDE = 4, 6


def write_idx(folder, name, count, seed):
    """Each class is bright in rows of its own; noise everywhere."""
    draw = random.Random(seed)
    images, labels = bytearray(), bytearray()
    for _ in range(count):
        label = draw.randrange(CLASSES)
        labels.append(label)
        for pixel in range(SIDE * SIDE):
            bright = pixel // SIDE == label
            images.append(min(255, (90 if bright else 0) + draw.randrange(140)))
    head = struct.pack(">IIII", 0x803, count, SIDE, SIDE)
    (folder / f"{name}-images").write_bytes(head + bytes(images))
    (folder / f"{name}-labels").write_bytes(struct.pack(">II", 0x801, count) + bytes(labels))


def make(folder, expect="", epochs=4, experiment=""):
    folder = pathlib.Path(folder)
    write_idx(folder, "train", 700, 1)
    write_idx(folder, "test", 200, 2)
    path = folder / "tiny.yaml"
    path.write_text(f"""
experiment:
  name: tiny
  nodes: 3
  partition: {{kind: iid}}
  controls: all
  seed: 5
{experiment}
{expect}
model:
  input: [{SIDE}, {SIDE}]
  layers:
    - dense: {{units: 8, activation: relu}}
    - dense: {{units: {CLASSES}, activation: linear}}
data:
  train: {{images: {folder}/train-images, labels: {folder}/train-labels}}
  test: {{images: {folder}/test-images, labels: {folder}/test-labels}}
  validation: {{last: 100}}
  batch: 10
  cache: {folder}/cache
train:
  optimizer: {{kind: adam, learning_rate: 0.01}}
  until: {{epochs: {epochs}}}
  settle: 10%
consensus: {{batches: 2, sends: 1}}
faults: {{weights_drop: 25%, deltas_drop: 25%}}
""")
    return path


def start(arguments, cwd):
    return subprocess.Popen([BIN / "covey-sim", *map(str, arguments)], cwd=cwd, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run(arguments, cwd, timeout=240):
    process = start(arguments, cwd)
    out, err = process.communicate(timeout=timeout)
    return process.returncode, out, err


def alive(pid):
    """Whether the process runs; a zombie that nobody has reaped yet does not."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def daemons_below(folder):
    """Pids of coveyd processes whose configuration lies below `folder`."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"/coveyd") and any(str(folder).encode() in word for word in words):
            if alive(entry.name):
                found.append(int(entry.name))
    return found


def wait_for(what, condition, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"{what}: not within {seconds} s")


def check(condition, *details):
    if not condition:
        print("FAILED", *details, sep="\n", file=sys.stderr)
        raise SystemExit(1)


def folder():
    return tempfile.TemporaryDirectory(prefix="covey-e2e-")


__all__ = ["alive", "check", "daemons_below", "folder", "make", "run", "signal", "start",
           "wait_for"]
