"""covey-sim swarm: seeds are green and repeatable, bad options are refused, Ctrl-C is no crash."""
import json
import os
import pathlib
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

    for wrong in (("--seeds", "6..1"), ("--seeds", "x"), ("--nodes", "1"), ("--exchanges", "5")):
        code, out, err = run(["swarm", *wrong], here)
        check(code == 64 and "want --seeds" in err, wrong, code, err)


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


with folder() as here:
    ctrl_c(here)
