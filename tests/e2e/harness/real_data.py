"""The fleets on real data, shortened: skipped where scripts/fetch-data has not been run."""

import json
import os
import sys

from tiny import check, folder, run

SOURCE = os.environ.get("COVEY_SOURCE", ".")
CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
DATA = os.environ.get("COVEY_DATA") or os.path.join(CACHE, "covey", "data")


def shortened(name, here):
    """The shipped file with its data where they are here, fewer epochs and no expectations."""
    with open(os.path.join(SOURCE, "configs", "experiments", name), encoding="utf-8") as file:
        text = file.read().replace("/var/lib/covey", DATA)
    head, _, rest = text.partition("expect:")
    if rest:
        text = head + "model:" + rest.partition("\nmodel:")[2]
    path = os.path.join(here, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def consensus(path, here, epochs):
    code, out, err = run(["run", path, "--quiet", "--json", "--epochs", epochs], here)
    check(code == 0, code, out, err)
    return json.loads(out)


RUNS = {"wall-following": ("wall-following.yaml", "wall-following/sensor_readings_24.data", "20"),
        "activity": ("activity-46.yaml", "activity/windows-idx3-int16", "1")}

missing = [name for name, (_, file, _) in RUNS.items()
           if not os.path.isfile(os.path.join(DATA, file))]
with folder() as here:
    for name, (config, file, epochs) in RUNS.items():
        if name in missing:
            continue
        read = consensus(shortened(config, here), here, epochs)
        check({"consensus", "monolithic", "isolated"} <= read.keys(), read)
        check(read["consensus"]["accuracy"] > 0.4, name, read["consensus"])
if missing:
    names = " ".join(missing)
    print(f"skipped {names}: not in {DATA}; scripts/fetch-data {names}")
    sys.exit(77 if len(missing) == len(RUNS) else 0)
