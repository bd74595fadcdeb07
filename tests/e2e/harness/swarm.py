"""covey-sim swarm: seeds are green and repeatable, bad options are refused, Ctrl-C is no crash,
and a crash is told with how to repeat it."""
import json
import os
import pathlib
import pty
import signal
import subprocess

from tiny import BIN, check, folder, run, wait_for


def swarm(here, *arguments):
    return run(["swarm", "--exchanges", "30", "--nodes", "6", *arguments], here)


with folder() as here:
    code, out, err = swarm(here, "--seeds", "1..6", "--json", "--trace-hash")
    check(code == 0, code, out, err)
    one = json.loads(out)
    check(one["seeds"] == 6 and one["green"] == 6 and one["failures"] == [], one)
    check(one["exchanges"] > 6 * 6 * 10, one)
    check(len(set(one["trace_hashes"].values())) == 6, one)

    code, out, err = swarm(here, "--seeds", "3", "--trace-hash", "--jobs", "1")
    check(code == 0, code, out, err)
    check(f"seed 3: green, trace {one['trace_hashes']['3']}" in out, out)
    check("1 of 1 seeds are green" in out, out)

    for option, value, wanted in (
            ("--seeds", "6..1", "got '6..1', want A..B"), ("--seeds", "x", "got 'x', want A..B"),
            ("--seeds", "-1", "got '-1', want A..B"),
            ("--seeds", "1..-1", "got '1..-1', want A..B"),
            ("--nodes", "1", "got 1, want 2 to 64"), ("--nodes", "-2", "got '-2', want a whole"),
            ("--jobs", "-1", "got '-1', want a whole"),
            ("--exchanges", "9", "got 9, want 10 to 10000"),
            ("--exchanges", "10001", "got 10001, want 10 to 10000")):
        code, out, err = run(["swarm", option, value], here)
        check(code == 64 and f"{option}: {wanted}" in err, option, value, code, err)


def children(pid):
    return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def ctrl_c(here):
    """A terminal sends it to the whole process group."""
    process = subprocess.Popen(
        [BIN / "covey-sim", "swarm", "--seeds", "1..1000000", "--jobs", "2", "--json"], cwd=here,
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    wait_for("two workers", lambda: len(children(process.pid)) == 2 or process.poll() is not None)
    workers = children(process.pid)
    for number in workers:
        wait_for("a worker that has set its signals", lambda: ignores_sigint(number))
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    check(process.returncode == 130, process.returncode, out, err)
    summary = json.loads(out)
    check(summary["interrupted"] is True and summary["failures"] == [], summary)
    check(not any(pathlib.Path(f"/proc/{number}").exists() for number in workers), workers)


def ignores_sigint(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    mask = next(line.split()[1] for line in status.splitlines() if line.startswith("SigIgn:"))
    return int(mask, 16) >> (signal.SIGINT - 1) & 1 == 1


def crash(here, *more):
    """The first of two seeds is killed while it runs."""
    process = subprocess.Popen(
        [BIN / "covey-sim", "swarm", "--seeds", "1..2", "--jobs", "1", "--nodes", "6",
         "--exchanges", "3000", *more], cwd=here, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)
    wait_for("a worker", lambda: children(process.pid) or process.poll() is not None)
    os.kill(int(children(process.pid)[0]), signal.SIGKILL)
    out, err = process.communicate(timeout=240)
    check(process.returncode == 1, process.returncode, out, err)
    return out, err


def crashes(here):
    repeat = "covey-sim swarm --seeds 1 --nodes 6 --exchanges 3000 --trace-hash"
    out, err = crash(here)
    check(out.startswith("seed 1: crash\n  killed by signal 9\n  nodes 6\n"), out)
    check("\n  heal_at 4.2 s\n" in out and f"\n  repeat: {repeat}\n" in out, out)
    check("\n1 of 2 seeds are green, " in out, out)
    check(err.startswith("seed 1: crash, killed by signal 9\n"), err)
    out, err = crash(here, "--json", "--quiet")
    check(err == "", err)
    summary = json.loads(out)
    check(summary["seeds"] == 2 and summary["green"] == 1, summary)
    (failure,) = summary["failures"]
    check(failure["seed"] == 1 and failure["verdict"] == "crash", failure)
    check(failure["what"] == "killed by signal 9" and failure["command"] == repeat, failure)
    check({"name": "nodes", "value": "6"} in failure["parameters"], failure)


def live_line(here):
    """On a terminal the last line tells how far it is; standard output stays JSON."""
    terminal, other = pty.openpty()
    process = subprocess.Popen(
        [BIN / "covey-sim", "swarm", "--seeds", "1..30", "--nodes", "6", "--json"], cwd=here,
        text=True, stdout=subprocess.PIPE, stderr=other, env={**os.environ, "TERM": "xterm"})
    os.close(other)
    out, _ = process.communicate(timeout=240)
    told = os.read(terminal, 65536).decode()
    check(process.returncode == 0 and json.loads(out)["green"] == 30, out, told)
    check(" of 30 seeds" in told and "; ETA " in told and told.endswith("\r\x1b[K"), told)


with folder() as here:
    ctrl_c(here)
    crashes(here)
    live_line(here)
