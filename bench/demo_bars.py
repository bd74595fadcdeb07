#!/usr/bin/env python3
"""The demo over several seeds: daemons, the virtual clock, and daemons of which one is killed.

    bench/demo_bars.py [--seeds 1,2,3] [--bin build/release/bin] [--epochs 40]

Prints a row a seed and the means: test accuracy, mean over the nodes and worst node; the killed
one dies half-way. Run it on a quiet machine.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import tempfile
import time

EXPERIMENT = "configs/experiments/fashion-8x25.yaml"
VICTIM = 3


def command(options, folder, seed, mode):
    return [f"{options.bin}/covey-sim", "run", EXPERIMENT, "--mode", mode, "--seed", str(seed),
            "--epochs", str(options.epochs), "--controls", "none", "--quiet", "--out", str(folder)]


def status(options, folder, node):
    """What a daemon says of itself, or None while it is not there."""
    config = folder / "nodes" / str(node) / "node.yaml"
    reply = subprocess.run([f"{options.bin}/covey", "status", "--json", "--config", str(config)],
                           capture_output=True, text=True, check=False)
    return json.loads(reply.stdout) if reply.returncode == 0 else None


def find(tree, name):
    """The first value of that name anywhere in a status."""
    if isinstance(tree, dict):
        if name in tree:
            return tree[name]
        tree = list(tree.values())
    if isinstance(tree, list):
        for part in tree:
            found = find(part, name)
            if found is not None:
                return found
    return None


def kill_half_way(options, process, folder):
    while process.poll() is None:
        told = status(options, folder, VICTIM)
        if told is not None and float(find(told, "epochs") or 0) >= options.epochs / 2:
            os.kill(int(find(told, "pid")), signal.SIGKILL)
            return
        time.sleep(0.05)


def run(options, seed, mode, kill=False):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "run"
        process = subprocess.Popen(command(options, folder, seed, mode), stdout=subprocess.DEVNULL)
        if kill:
            kill_half_way(options, process, folder)
        process.wait()
        summary = json.loads((folder / "summary.json").read_text())
    ends = [node["end"] for node in summary["runs"]]
    assert ends.count("died") == int(kill), ends
    accuracies = [node["best"]["test"]["accuracy"]
                  for node in summary["runs"] if node["end"] == "done"]
    return statistics.mean(accuracies), min(accuracies)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--epochs", type=int, default=40)
    options = parser.parse_args()
    assert re.fullmatch(r"\d+(,\d+)*", options.seeds), "--seeds takes numbers with commas"
    print(f"{'seed':>6}{'daemons':>18}{'virtual':>18}{'one killed':>18}")
    rows = []
    for seed in options.seeds.split(","):
        row = [run(options, seed, "process"), run(options, seed, "virtual"),
               run(options, seed, "process", kill=True)]
        rows.append(row)
        cells = "".join(f"{mean:>10.4f} {worst:.4f} " for mean, worst in row)
        print(f"{seed:>6}{cells}", flush=True)
    means = [statistics.mean(row[i][0] for row in rows) for i in range(3)]
    print(f"{'mean':>6}" + "".join(f"{mean:>10.4f}" + " " * 8 for mean in means))


if __name__ == "__main__":
    main()
