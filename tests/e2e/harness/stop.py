"""However covey-sim ends, no daemon stays behind; Ctrl-C writes what there is."""
import json
import pathlib

from tiny import check, daemons_below, folder, make, signal, start, wait_for


def begin(here):
    path = make(here, epochs=1000000)
    process = start(["run", path, "--quiet"], here)
    wait_for("three daemons", lambda: len(daemons_below(here)) == 3 or process.poll() is not None)
    nodes = pathlib.Path(here) / "runs" / "latest" / "nodes"
    wait_for("the last one to be ready",
             lambda: "start_paused: false" in (nodes / "2" / "node.yaml").read_text())
    return process


def ctrl_c(here):
    process = begin(here)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    check(process.returncode == 130, process.returncode, out, err)
    check(daemons_below(here) == [], "daemons left")
    summary = json.loads((pathlib.Path(here) / "runs" / "latest" / "summary.json").read_text())
    check(summary["interrupted"] is True and "monolithic" not in summary, summary)
    check("interrupted" in out, out)


def sigkill(here):
    process = begin(here)
    process.kill()
    process.communicate(timeout=60)
    wait_for("the daemons to die", lambda: daemons_below(here) == [], 20)


def terminated_while_starting(here):
    process = start(["run", make(here), "--quiet"], here)
    wait_for("a daemon", lambda: daemons_below(here) or process.poll() is not None)
    process.terminate()
    process.communicate(timeout=60)
    check(process.returncode == 130, process.returncode)
    check(daemons_below(here) == [], "daemons left")


for case in (ctrl_c, sigkill, terminated_while_starting):
    with folder() as here:
        print(case.__name__, flush=True)
        case(here)
