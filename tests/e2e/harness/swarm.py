"""covey-sim swarm: seeds are green and repeatable, bad options are refused."""
import json

from tiny import check, folder, run


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
