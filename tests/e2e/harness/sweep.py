"""covey-sim sweep on tiny data: a grid and a list, several seeds, Ctrl-C and going on."""
import csv
import io
import json
import pathlib

from tiny import check, folder, make, run, signal, start, wait_for


def sweep(here, text, epochs):
    make(here, expect="expect: {accuracy: 0.9999}", epochs=epochs)
    (pathlib.Path(here) / "sweep.yaml").write_text("sweep:\n  experiment: tiny.yaml\n" + text)


def lines(here, out="out"):
    path = pathlib.Path(here) / out / "results.jsonl"
    return path.read_text().splitlines() if path.exists() else []


def whole(here):
    sweep(here, """
  seeds: [4, 8]
  grid: {consensus.sends: [0, 1, 2]}
  list: [{faults.weights_drop: 0%}, {faults.weights_drop: 50%}]
""", 2)
    code, out, err = run(["sweep", "sweep.yaml", "--out", "out"], here)
    check(code == 0 and "* " in out and "±" in out, code, out, err)
    check(len(lines(here)) == 12, lines(here))
    table = list(csv.DictReader(io.StringIO((pathlib.Path(here) / "out/table.csv").read_text())))
    check([(row["consensus.sends"], row["faults.weights_drop"]) for row in table] ==
          [(m, drop) for m in "012" for drop in ("0%", "50%")], table)
    check(all(row["seeds"] == "2" and row["accuracy_deviation"] for row in table), table)
    # The same points as an experiment of its own: equal to the digit.
    code, alone, err = run(["run", "tiny.yaml", "--mode", "virtual", "--sends", "2", "--seed", "4",
                            "--weights-drop", "0.5", "--controls", "none", "--json", "--quiet"],
                           here)
    check(code == 1, "expect: counts there", code, err)
    stored = [json.loads(line)["result"] for line in lines(here)
              if json.loads(line)["job"].startswith("seed=4/")]
    want = json.loads(alone)["consensus"]
    check(any(abs(s["best"]["loss"] - want["loss"]) < 1e-12 and s["spread"] == want["spread"]
              for s in stored), want, stored)
    before = lines(here)
    code, out, err = run(["sweep", "sweep.yaml", "--out", "out", "--json"], here)
    check(code == 0 and lines(here) == before and len(json.loads(out)["points"]) == 6, out, err)


def interrupted(here):
    sweep(here, "  seeds: 4\n  grid: {consensus.sends: [1, 2]}\n", 200)
    words = ["sweep", "sweep.yaml", "--out", "out", "--jobs", "1"]
    process = start(words, here)
    wait_for("the first run", lambda: len(lines(here)) >= 1 or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    check(process.returncode == 130, process.returncode, out, err)
    kept = lines(here)
    check(1 <= len(kept) < 8, kept)
    check("Go on with:\n  covey-sim sweep sweep.yaml --out out" in err, err)
    code, out, err = run(["sweep", "sweep.yaml", "--out", "out"], here)
    check(code == 0 and lines(here)[:len(kept)] == kept and len(lines(here)) == 8, out, err)


def sections(here):
    """Sections as values, keys of one node; the report says what the points share."""
    sweep(here, """
  grid: {train.optimizer: [{kind: sgd, momentum: 0.5}, {kind: adam}]}
  list: [{experiment.overrides.1.consensus.sends: 0}, {experiment.overrides.1.consensus.sends: 2}]
""", 1)
    code, out, err = run(["sweep", "sweep.yaml", "--out", "out"], here)
    check(code == 0 and "kind sgd, momentum 0.5" in out, code, out, err)
    check("memory: about " in err and "fleet" in err, err)
    losses = {json.loads(line)["result"]["best"]["loss"] for line in lines(here)}
    check(len(losses) == 4, "every point is another", losses)
    report = (pathlib.Path(here) / "out/report.html").read_text()
    settings = report[report.index("Settings of all points"):]
    check("<dt>optimizer</dt>" not in settings, settings)
    check("<dt>batch</dt><dd>10</dd>" in settings, settings)
    check("differs from point to point</dt><dd>optimizer; node 1</dd>" in settings, settings)


def too_large(here):
    """More than any machine's memory is refused before anything runs."""
    sweep(here, "  set: {experiment.nodes: 1024}\n", 1)
    path = pathlib.Path(here) / "tiny.yaml"
    path.write_text(path.read_text().replace(
        "- dense: {units: 8,", "- dense: {units: 65536, activation: relu}\n"
        "    - dense: {units: 200,"))
    code, out, err = run(["sweep", "sweep.yaml", "--out", "out"], here)
    check(code == 69 and "this machine has" in err and lines(here) == [], code, out, err)


def wrong(here):
    sweep(here, "  grid: {consensus.sends: [1, many]}\n", 1)
    code, out, err = run(["sweep", "sweep.yaml"], here)
    check(code == 78 and "sweep.yaml:3:" in err and out == "", code, out, err)
    code, out, err = run(["sweep", "none.yaml"], here)
    check(code == 66 and "none.yaml" in err, code, out, err)
    (pathlib.Path(here) / "lonely.yaml").write_text("sweep: {experiment: nowhere.yaml}\n")
    code, out, err = run(["sweep", "lonely.yaml"], here)
    check(code == 66 and "nowhere.yaml" in err, code, out, err)
    # A run that fails is told, the others are kept, and it runs again.
    sweep(here, "  grid: {data.batch: [10, 500]}\n", 1)
    for kept in (0, 1):
        code, out, err = run(["sweep", "sweep.yaml", "--out", "out"], here)
        check(code in (65, 78) and "batch 500" in err and "failed: " in err, code, out, err)
        check(len(lines(here)) == 1 and err.count("kept from before") == kept, lines(here), err)


for case in (whole, interrupted, sections, too_large, wrong):
    with folder() as here:
        print(case.__name__, flush=True)
        case(here)
