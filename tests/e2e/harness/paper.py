"""covey-sim paper on tiny data: Ctrl-C keeps what is done, the same command goes on, other settings
do not mix in."""
import fcntl
import json
import pathlib
import re

from tiny import check, folder, make, run, signal, start, wait_for

ROWS = ["--row", "monolithic", "--row", "update_rate_M=1", "--row", "update_rate_M=0", "--row",
        "reply_drop_percent=100", "--row", "reply_drop_percent=0"]


def prepare(here, epochs):
    """The settings of the paper on the data of tiny.py, whose files are found by their names."""
    text = make(here, epochs=epochs).read_text()
    text = text.replace(f"{here}/train", "train").replace(f"{here}/test", "test")
    text = text.replace("controls: all", "controls: none")
    text = text.replace("faults: {weights_drop: 25%, deltas_drop: 25%}", "")
    (pathlib.Path(here) / "paper.yaml").write_text(text)
    return ["paper", "--dataset", "mnist", "--data", here, "--config", "paper.yaml", "--out", "out",
            *ROWS]


def lines(here):
    path = pathlib.Path(here) / "out" / "results.jsonl"
    return path.read_text().splitlines() if path.exists() else []


def whole(here):
    words = prepare(here, 2)
    code, out, err = run([*words, "--json"], here)
    check(code == 0, code, out, err)
    summary = json.loads(out)
    check([row["row"] for row in summary["rows"]] ==
          ["monolithic", "update_rate_M=0", "update_rate_M=1", "reply_drop_percent=0",
           "reply_drop_percent=100"], summary)
    check(len(lines(here)) == 4, "M = 1 and no drop are one run", lines(here))
    check(all(len(row["validation_curve"]) <= 20 for row in summary["rows"]), summary)
    check("paper" in summary["rows"][0] and "against_paper" in summary["rows"][0], summary)
    files = {path.name for path in (pathlib.Path(here) / "out").iterdir()}
    check(files == {"results.jsonl", "config.resolved.yaml", "table.csv", "curves.csv",
                    "summary.json", "report.html"}, files)
    # Again: nothing is left to do, and the same comes out.
    before = lines(here)
    code, again, err = run([*words, "--json"], here)
    check(code == 0 and json.loads(again) == summary and lines(here) == before, again, err)
    check("kept from before" in err, err)
    # Other settings: everything runs again, the old results stay.
    code, out, err = run([*words, "--json", "--epochs", "1"], here)
    check(code == 0 and len(lines(here)) == 8, out, err)
    check(json.loads(out)["rows"] != summary["rows"], out)
    code, out, err = run(words, here)
    check(code == 0 and "kept from before" in err and len(lines(here)) == 8, err)
    # Two seeds: the first is there.
    code, out, err = run([*words, "--seeds", "2", "--json"], here)
    check(code == 0 and len(lines(here)) == 12, out, err)
    check(json.loads(out)["rows"][0]["accuracy"]["seeds"] == 2, out)


def interrupted(here):
    """One job at a time, a Ctrl-C after the first; then a torn line; then the rest."""
    words = [*prepare(here, 300), "--jobs", "1"]
    process = start([*words, "--json"], here)
    wait_for("the first row", lambda: len(lines(here)) >= 1 or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    check(process.returncode == 130, process.returncode, out, err)
    done = len(lines(here))
    check(1 <= done < 4, "rows", lines(here))
    summary = json.loads(out)
    check(summary["interrupted"] is True and len(summary["rows"]) >= 1, summary)
    check("Go on with:\n  covey-sim paper --dataset mnist" in err, err)
    command = re.search(r"Go on with:\n  covey-sim (.*)", err).group(1).split()

    kept = lines(here)
    with open(pathlib.Path(here) / "out" / "results.jsonl", "a", encoding="utf-8") as file:
        file.write('{"job":"torn by a pow')
    code, out, err = run([*command, "--json", "--jobs", "2"], here)
    check(code == 0, code, out, err)
    check(lines(here)[:done] == kept and len(lines(here)) == 4, lines(here))
    check(err.count("kept from before") == done, err)
    summary = json.loads(out)
    check(len(summary["rows"]) == 5 and summary["interrupted"] is False, summary)

    # The same as a run that nobody stopped: threads and interruptions change no bit.
    straight = [*command[:command.index("--out")], "--out", "straight"]
    code, straight, err = run([*straight, "--json"], here)
    check(code == 0, straight, err)
    keep = ("row", "loss", "accuracy", "spread", "validation_curve")
    check([[row.get(k) for k in keep] for row in json.loads(straight)["rows"]] ==
          [[row.get(k) for k in keep] for row in summary["rows"]], straight, summary)


def added(here):
    """Rows asked for one after the other stand in one report; so do fewer seeds than asked for."""
    words = prepare(here, 2)[:-len(ROWS)]
    for row in ("monolithic", "update_rate_M=0"):
        code, out, err = run([*words, "--row", row, "--json"], here)
        check(code == 0, out, err)
    summary = json.loads(out)
    check([row["row"] for row in summary["rows"]] == ["monolithic", "update_rate_M=0"], summary)
    check(summary["rows_wanted"] == 2, summary)
    check("--row monolithic --row update_rate_M=0" in summary["command"], summary["command"])
    place = pathlib.Path(here) / "out"
    check("\nmnist,monolithic," in (place / "table.csv").read_text(), "table")
    check(">monolithic</td>" in (place / "report.html").read_text(), "report")
    code, out, err = run([*words, "--row", "update_rate_M=0", "--seeds", "2"], here)
    check(code == 0 and "1 row has fewer than 2 seeds" in out, out, err)
    # Who is refused leaves everything as it is.
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    with open(place / "results.jsonl", "a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        code, out, err = run([*words, "--epochs", "1"], here)
    check(code == 75 and "another process is writing it" in err, code, err)
    check({path.name: path.read_bytes() for path in place.iterdir()} == before, "was overwritten")


def folders(here):
    """Without --out, other settings than the built-in ones do not meet their report."""
    words = prepare(here, 1)
    words = [word for word in words[:-len(ROWS)] if word not in ("--out", "out")]
    code, out, err = run([*words, "--row", "monolithic"], here)
    place = re.search(r"report  (runs/paper-mnist-[0-9a-f]{8})/report.html", out)
    check(code == 0 and place and (pathlib.Path(here) / place[1]).is_dir(), out, err)
    built_in = ["paper", "--dataset", "fashion-mnist", "--row", "monolithic", "--epochs", "0.01"]
    if not pathlib.Path("/usr/share/datasets/fashion-mnist").is_dir():
        return
    code, out, err = run(built_in, here)
    check(code == 0 and "runs/paper-fashion-mnist-epochs-0.01/report.html" in out, out, err)
    # --config finds data by the names that `run` takes.
    text = (pathlib.Path(__file__).parents[3] / "configs/paper/fashion-mnist.yaml").read_text()
    for name in ("train", "t10k"):
        text = text.replace(f" {name}-", f" fashion-mnist/{name}-")
    check("fashion-mnist/train-images" in text, text)
    (pathlib.Path(here) / "named.yaml").write_text(text)
    code, out, err = run([*built_in, "--config", "named.yaml"], here)
    check(code == 0, out, err)


def wrong(here):
    prepare(here, 1)
    for words, code, text in [
            (["--dataset", "imagenet"], 64, "imagenet"),
            (["--dataset", "mnist", "--row", "nothing=1"], 64, "mix_rate_percent=10"),
            (["--dataset", "mnist", "--figure", "4"], 64, "--figure"),
            (["--dataset", "mnist", "--seeds", "0"], 64, "--seeds"),
            (["--dataset", "mnist", "--epochs", "0"], 64, "--epochs"),
            (["--dataset", "mnist", "--data", "nowhere"], 66, "fetch-data mnist"),
            (["--dataset", "mnist", "--config", "none.yaml"], 66, "none.yaml")]:
        got, out, err = run(["paper", *words], here)
        check(got == code and text in err and out == "", words, got, out, err)


for case in (whole, interrupted, added, folders, wrong):
    with folder() as here:
        print(case.__name__, flush=True)
        case(here)
