"""Real daemons of which one may use a twentieth of the processor time of the others."""
import json

from tiny import check, folder, make, run


def the_others_go_on_and_the_slow_one_learns_from_them(here):
    path = make(here, epochs=30, experiment="  overrides: {2: {node: {cpu_limit: 1%}}}")
    path.write_text(path.read_text() + "node: {cpu_limit: 20%}\n")
    code, out, err = run(["run", path, "--controls", "none", "--quiet", "--json"], here)
    check(code == 0, code, out, err)
    nodes = json.loads(out)["runs"]
    check([node["end"] for node in nodes] == ["done"] * 3, out)
    rates = [node["samples_per_second"] for node in nodes]
    check(rates[2] < 0.3 * min(rates[:2]), rates)
    accuracies = [node["last"]["test"]["accuracy"] for node in nodes]
    check(max(accuracies) - accuracies[2] < 0.1, accuracies)


def no_time_at_all_is_refused(here):
    path = make(here)
    path.write_text(path.read_text() + "node: {cpu_limit: 0}\n")
    code, _, err = run(["run", path, "--quiet"], here)
    check(code == 78 and "node.cpu_limit" in err, code, err)


for case in (the_others_go_on_and_the_slow_one_learns_from_them, no_time_at_all_is_refused):
    with folder() as here:
        print(case.__name__, flush=True)
        case(here)
