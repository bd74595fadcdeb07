"""covey-sim sweep --launcher mpi: real daemons, two slots on this machine.

Skipped without mpirun.
"""
import json
import pathlib
import shutil
import sys

from tiny import check, daemons_below, folder, make, run, signal, start, wait_for

if shutil.which("mpirun") is None:
    print("skipped: mpirun is not there (package openmpi-bin)")
    sys.exit(77)


def sweep(here, text, epochs):
    make(here, epochs=epochs)
    (pathlib.Path(here) / "hosts").write_text("localhost slots=2\n")
    (pathlib.Path(here) / "sweep.yaml").write_text(
        "sweep:\n  experiment: tiny.yaml\n  set: {experiment.nodes: 2}\n" + text)
    return ["sweep", "sweep.yaml", "--out", "out", "--launcher", "mpi", "--hostfile", "hosts"]


def lines(here):
    path = pathlib.Path(here) / "out" / "results.jsonl"
    return path.read_text().splitlines() if path.exists() else []


def whole(here):
    words = sweep(here, "  grid: {consensus.sends: [1, 2]}\n", 4)
    code, out, err = run([*words, "--json"], here)
    check(code == 0, code, out, err)
    points = json.loads(out)["points"]
    check(len(points) == 2 and len(lines(here)) == 2, out)
    for point in points:
        check(point["accuracy"]["mean"] > 0.5, point)
        check(point["spread"]["mean"] < 0.5 and point["bytes_sent_per_node"] > 0, point)
    for line in lines(here):
        result = json.loads(line)["result"]
        check(result["nodes"] == 2 and result["on_test_set"] and result["curve"], result)
        check(result["traffic"][0] > 0 and result["traffic"][5] > 0, result)
    check(daemons_below(here) == [], "daemons left")
    code, out, err = run(words, here)
    check(code == 0 and err.count("kept from before") == 2, out, err)


def interrupted(here):
    words = sweep(here, "  seeds: 1\n", 1000000)
    process = start(words, here)
    wait_for("two daemons", lambda: len(daemons_below(here)) == 2 or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    check(process.returncode == 130, process.returncode, out, err)
    wait_for("the daemons to end", lambda: daemons_below(here) == [], 30)
    check("--launcher mpi --hostfile hosts" in err, err)


def wrong(here):
    words = sweep(here, "  seeds: 1\n", 1)
    (pathlib.Path(here) / "hosts").write_text("localhost slots=1\n")  # for two nodes
    code, out, err = run(words, here)
    check(code == 69 and "slots" in err, code, out, err)
    code, out, err = run(["sweep", "sweep.yaml", "--launcher", "slurm"], here)
    check(code == 64 and "slurm" in err, code, out, err)
    code, out, err = run(["sweep", "sweep.yaml", "--hostfile", "hosts"], here)
    check(code == 64 and "--hostfile" in err, code, out, err)
    code, out, err = run(["sweep", "sweep.yaml", "--launcher", "mpi", "--hostfile", "none"], here)
    check(code == 66 and "covey-sim: none: " in err and "ORTE" not in err, code, out, err)
    code, out, err = run(["mpi-node", "."], here)
    check(code == 64 and "mpirun" in err, code, out, err)


def simulated_only(here):
    """What a daemon refuses is told at its line before mpirun starts."""
    words = sweep(here, "  list: [{consensus.sends: 1}, {faults.links.delay: 2ms}]\n", 1)
    code, out, err = run(words, here)
    check(code == 78 and "sweep.yaml:4:" in err and "only a simulator" in err, code, out, err)
    check(not (pathlib.Path(here) / "out").exists(), "something was started")


def another_launcher(here):
    """A folder keeps the runs of one launcher."""
    words = sweep(here, "  seeds: 1\n", 1)
    code, out, err = run(["sweep", "sweep.yaml", "--out", "out"], here)
    check(code == 0 and "virtual clock" in out, code, out, err)
    table = (pathlib.Path(here) / "out/table.csv").read_text()
    check(table.splitlines()[1].endswith(",virtual"), table)
    code, out, err = run(words, here)
    check(code == 64 and "holds runs of --launcher virtual" in err, code, out, err)
    check((pathlib.Path(here) / "out/table.csv").read_text() == table, "was replaced")
    without_out = [word for word in words if word not in ("--out", "out")]
    code, out, err = run(without_out, here)
    check(code == 0 and "real daemons by mpirun" in out, code, out, err)
    check((pathlib.Path(here) / "runs/sweep-sweep-mpi/table.csv").exists(), out)


for case in (whole, interrupted, wrong, simulated_only, another_launcher):
    with folder() as here:
        print(case.__name__, flush=True)
        case(here)
