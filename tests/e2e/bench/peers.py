#!/usr/bin/env python3
"""bench/peers/run: its help, its answers to a wrong command line, its figures and ratios.

Starts no peer: what must be installed for them is not needed here.
"""
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

PEERS = pathlib.Path(os.environ["COVEY_SOURCE"]) / "bench" / "peers"
FIELDS = {"name", "threads", "ours", "unit", "peer", "peer_name", "ratio"}


def run(*arguments):
    return subprocess.run([sys.executable, PEERS / "run", *arguments], text=True,
                          capture_output=True, check=False)


def expect(condition, *shown):
    if not condition:
        sys.exit(f"failed: {shown}")


def check_command_line():
    done = run("--help")
    expect(done.returncode == 0 and "Exit code" in done.stdout, done)
    for name in ("mlp-8", "cnn-32", "rprop", "batch_backprop", "lstm-128"):
        expect(name in done.stdout, name, done.stdout)
    for arguments in (["--only", "mpl"], ["--threads", "3"], ["--rounds", "0"], ["--only"],
                      ["--seconds", "0"], ["--seconds", "nan"], ["--cpu-time"], ["--quik"], ["x"]):
        done = run(*arguments)
        expect(done.returncode == 64 and not done.stdout, arguments, done)
        expect(arguments[-1].lstrip("-") in done.stderr and "--help" in done.stderr, done)


def check_missing_program():
    """Without bench_train there is nothing to compare with."""
    with tempfile.TemporaryDirectory() as folder:
        done = run("--only", "mlp-8", "--json", "--quick", "--bin", folder)
    expect(done.returncode == 69 and not done.stdout, done)
    expect("bench_train is missing" in done.stderr, done)


def load():
    sys.path.insert(0, str(PEERS))
    loader = importlib.machinery.SourceFileLoader("peers_run", str(PEERS / "run"))
    spec = importlib.util.spec_from_loader("peers_run", loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules["peers_run"] = module
    loader.exec_module(module)
    return module


def check_figures():
    """The median of the rates in each unit, and a ratio above 1 where Covey is the faster one."""
    peers = load()
    rows = {row.name: row for row in peers.ROWS}
    windows = [{"samples": 100, "seconds": s, "cpu_seconds": 1} for s in (1, 4, 2)]
    for name, wanted in (("mlp-32", 50), ("rprop", 50 * 2100 / 1e6), ("lstm-8", 160)):
        got = peers.figure(rows[name], windows, "seconds")
        expect(abs(got - wanted) < 1e-9, name, got, wanted)
    expect(peers.figure(rows["mlp-32"], windows, "cpu_seconds") == 100)
    peer = peers.Peer("Peer {}", "torch")
    for name in ("mlp-32", "lstm-8"):  # 30 samples a second, 20 milliseconds a batch
        results = [(None, "v4", 30.0 if name == "mlp-32" else 20.0),
                   (peer, "1.2", 15.0 if name == "mlp-32" else 40.0), (peer, "?", None)]
        lines = list(peers.rows_of(rows[name], 1, results))
        expect(set(lines[0]) == FIELDS, lines)
        expect(lines[0]["ratio"] == 2 and lines[0]["peer_name"] == "Peer 1.2", lines)
        expect(lines[1]["ratio"] is None and lines[1]["peer"] is None, lines)


sys.dont_write_bytecode = True
check_command_line()
check_missing_program()
check_figures()
print("ok")
