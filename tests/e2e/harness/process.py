"""Three real daemons: results, exit codes, a node that starts late, a node that is killed."""
import json
import os
import pathlib
import re
import subprocess

from tiny import BIN, SIDE, check, daemons_below, folder, make, run, signal, start, wait_for

FIGURES = {"experiment", "seed", "nodes", "mode", "wall_seconds", "monolithic", "consensus",
           "isolated", "traffic", "samples_per_second", "pss_bytes_per_node"}


def expectations_hold(here):
    path = make(here, "expect: {accuracy: 0.7, gain_over_isolated: -0.5}")
    code, out, err = run(["run", path], here)
    check(code == 0, code, out, err)
    results = pathlib.Path(here) / "runs" / "latest"
    for name in ("summary.json", "results.csv", "metrics.jsonl", "report.html",
                 "config.resolved.yaml", "model/model.safetensors", "model/model.onnx"):
        check((results / name).stat().st_size > 0, name)
    for name in ("model/model.safetensors", "model/model.onnx"):
        sample = [200 if pixel // SIDE == 2 else 70 for pixel in range(SIDE * SIDE)]
        said = subprocess.run([BIN / "covey", "predict", "--model", results / name, "--top", "1",
                               "--row=" + ",".join(map(str, sample))], text=True,
                              capture_output=True, check=False)
        check(said.stdout.split()[:1] == ["2"], name, said.stdout, said.stderr)
    summary = json.loads((results / "summary.json").read_text())
    check(FIGURES <= summary.keys(), summary)
    check(summary["mode"] == "process" and summary["nodes"] == 3, summary)
    check(summary["consensus"]["spread"] < 1, summary["consensus"])
    traffic = summary["traffic"]
    check(0 < traffic["weights_dropped"] < traffic["weights_sent"], traffic)
    check(summary["samples_per_second"] > 0 and summary["pss_bytes_per_node"] > 0, summary)
    check(not summary["notes"], summary["notes"])
    lines = [json.loads(line) for line in (results / "metrics.jsonl").read_text().splitlines()]
    check({line["group"] for line in lines} == {"consensus", "monolithic", "isolated"}, lines[:5])
    check(len((results / "results.csv").read_text().splitlines()) == 1 + 3 + 1 + 3)
    check("against isolated" in out and "report.html" in out, out)
    check(re.search(r"consensus\s+\d+ %", err), err)
    check(daemons_below(here) == [], "daemons left")


def a_broken_expectation_fails(here):
    path = make(here, "expect: {accuracy: 1.0}", epochs=1)
    code, out, err = run(["run", path, "--controls", "none", "--quiet", "--json"], here)
    check(code == 1, code, out, err)
    check(err == "", err)
    check(json.loads(out)["expect"]["holds"] is False, out)
    code, out, err = run(["run", path, "--weights-drop", "25"], here)
    check(code == 64 and "--weights-drop" in err, code, err)
    code, out, err = run(["run", "missing.yaml"], here)
    check(code == 66, code, err)


def a_late_node_learns_too(here):
    path = make(here, epochs=60, experiment="  overrides: {2: {start_after: 1s}}")
    code, out, err = run(["run", path, "--controls", "none", "--quiet", "--json"], here)
    check(code == 0, code, out, err)
    ends = [node["end"] for node in json.loads(out)["runs"]]
    check(ends == ["done"] * 3, out)


def a_killed_node_does_not_stop_the_others(here):
    path = make(here, epochs=500)
    process = start(["run", path, "--controls", "none", "--quiet", "--json"], here)
    metrics = pathlib.Path(here) / "runs" / "latest" / "metrics.jsonl"
    wait_for("three daemons", lambda: len(daemons_below(here)) == 3)
    wait_for("training", lambda: len(metrics.read_bytes()) > 0)
    victim = [pid for pid in daemons_below(here)
              if b"/nodes/1/" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()]
    os.kill(victim[0], signal.SIGKILL)
    out, err = process.communicate(timeout=240)
    check(process.returncode == 0, process.returncode, out, err)
    summary = json.loads(out)
    check([node["end"] for node in summary["runs"]] == ["done", "died", "done"], out)
    check(summary["consensus"]["nodes"] == 2 and len(summary["notes"]) == 1, out)
    check("signal 9" in summary["notes"][0] and "signal 9" in err, err)


for case in (expectations_hold, a_broken_expectation_fails, a_late_node_learns_too,
             a_killed_node_does_not_stop_the_others):
    with folder() as here:
        print(case.__name__, flush=True)
        case(here)
