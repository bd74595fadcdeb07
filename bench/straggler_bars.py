#!/usr/bin/env python3
"""One of eight daemons ten times slower: what it costs the others, and what it learns from them.

    bench/straggler_bars.py [--seeds 1,2,3] [--bin build/release/bin] [--epochs 40] [--share 0.1]

Runs the demo twice a seed: every node with --share of one processor (node.cpu_limit), so that eight
of them never compete for the processors of a small machine; then the same with a tenth of that for
the last one, which trains a tenth of the epochs. Prints the samples a second of the other seven
against those without a slow one (bar: 0.95), and the final accuracy of the slow one against the
mean (bar: one point). Run it on a machine that has nothing else to do.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import tempfile

EXPERIMENT = "configs/experiments/fashion-8x25.yaml"
SLOW = 7


def experiment(options, slow):
    """The demo's file with limits."""
    text = pathlib.Path(EXPERIMENT).read_text()
    assert "\nnode:" not in text and "\n  overrides:\n" in text, EXPERIMENT
    text += f"\nnode: {{cpu_limit: {options.share}}}\n"
    if slow:
        share, epochs = options.share / 10, options.epochs / 10
        own = f"{{node: {{cpu_limit: {share}}}, train: {{until: {{epochs: {epochs}}}}}}}"
        text = text.replace("  overrides:\n", f"  overrides:\n    {SLOW}: {own}\n", 1)
    return text


def run(options, seed, slow):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        file = folder / "straggler.yaml"
        file.write_text(experiment(options, slow))
        ended = subprocess.run([f"{options.bin}/covey-sim", "run", str(file), "--mode", "process",
                                "--seed", seed, "--epochs", str(options.epochs),
                                "--controls", "none", "--quiet", "--out", str(folder / "run")],
                               stdout=subprocess.DEVNULL, check=False)
        assert ended.returncode in (0, 1), ended  # 1: the demo's own bars need more epochs
        return json.loads((folder / "run" / "summary.json").read_text())["runs"]


def accuracy(node):
    return node["last"]["test"]["accuracy"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--epochs", type=float, default=40)
    parser.add_argument("--share", type=float, default=0.1)
    options = parser.parse_args()
    assert re.fullmatch(r"\d+(,\d+)*", options.seeds), "--seeds takes numbers with commas"
    print(f"{'seed':>6}{'others: rate':>14}{'slow: rate':>12}{'slow':>9}{'mean':>9}{'points':>8}")
    ratios, points = [], []
    for seed in options.seeds.split(","):
        even, uneven = run(options, seed, slow=False), run(options, seed, slow=True)
        before = statistics.mean(node["samples_per_second"] for node in even[:SLOW])
        after = statistics.mean(node["samples_per_second"] for node in uneven[:SLOW])
        slow = uneven[SLOW]["samples_per_second"]
        mean = statistics.mean(accuracy(node) for node in uneven)
        ratios.append(after / before)
        points.append(100 * (accuracy(uneven[SLOW]) - mean))
        print(f"{seed:>6}{ratios[-1]:>14.3f}{slow / before:>12.3f}{accuracy(uneven[SLOW]):>9.4f}"
              f"{mean:>9.4f}{points[-1]:>8.2f}", flush=True)
    print(f"{'mean':>6}{statistics.mean(ratios):>14.3f}{'':>30}{statistics.mean(points):>8.2f}")


if __name__ == "__main__":
    main()
