"""The models of bin/model_zoo, for tests that read them with other programs."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT = 1e-5


def skip(what):
    """Ends the test: ctest shows it as skipped."""
    print(f"skipped: {what} is not installed")
    sys.exit(0)


def models():
    """Yields (name, path without ending, what NAME.json holds)."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([Path(os.environ["COVEY_BIN"]) / "model_zoo", folder], check=True)
        for name in json.loads((Path(folder) / "zoo.json").read_text()):
            stem = Path(folder) / name
            yield name, str(stem), json.loads(Path(f"{stem}.json").read_text())


def worst(got, wanted):
    got, wanted = list(got), list(wanted)
    assert len(got) == len(wanted), (len(got), len(wanted))
    return max(abs(float(a) - float(b)) for a, b in zip(got, wanted))


def report(results, at_least):
    """results: {name: greatest difference}. Exits 1 when one is too large or there are too few."""
    for name, difference in results.items():
        print(f"{name:24} {difference:.1e}")
    bad = [name for name, difference in results.items() if not difference <= LIMIT]
    print(f"{len(results)} models, {len(bad)} differ by more than {LIMIT}: {bad}")
    sys.exit(1 if bad or len(results) < at_least else 0)
