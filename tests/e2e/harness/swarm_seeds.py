"""covey-sim swarm: 200 seeds of the size that the simulator is judged by, all green.

In release builds only: it takes a minute of two processors there. Under the sanitizers
tests/sim/simulate/swarm_test.cc runs the same seeds with fewer exchanges.
"""
import json

from tiny import check, folder, run

with folder() as here:
    code, out, err = run(["swarm", "--seeds", "1..200", "--json"], here, timeout=1700)
    check(code == 0, code, out, err)
    summary = json.loads(out)
    check(summary["green"] == 200 and summary["exchanges"] > 200 * 16 * 500, summary)
