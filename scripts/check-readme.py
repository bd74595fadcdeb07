#!/usr/bin/env python3
"""Runs the commands of README.md verbatim in a fresh copy of the tree, as a newcomer would.

Each fenced block marked `sh` is one bash session, stopped at its first failing command; the blocks
run in order in the same folder. Lines that run the test suite are skipped, visibly, because the
caller runs it. What a block leaves running in the background is stopped at its end.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOT_COPIED = ("build", "runs", ".git", "__pycache__", "*.tmp")
SKIPPED = re.compile(r"^\s*(\./)?(scripts/test|\.ci/run)\b")


def blocks(text):
    """(line number, commands) of each ```sh block."""
    for match in re.finditer(r"^```sh\n(.*?)^```$", text, re.M | re.S):
        yield text.count("\n", 0, match.start()) + 1, match.group(1)


def prepare(commands):
    """The commands to run and the lines left out."""
    kept, skipped = [], []
    for line in commands.splitlines():
        (skipped if SKIPPED.match(line) else kept).append(line)
    return "\n".join(kept), skipped


def run(commands, folder, seconds):
    """Exit code of the block; None when it took too long."""
    session = subprocess.Popen(["bash", "-euo", "pipefail", "-c", commands], cwd=folder,
                               stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        return session.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        stop_group(session.pid)


def stop_group(group):
    """Ends what the session has left: politely, after five seconds for certain."""
    for number, patience in [(signal.SIGTERM, 5.0), (signal.SIGKILL, 0.0)]:
        try:
            os.killpg(group, number)
            deadline = time.monotonic() + patience
            while time.monotonic() < deadline:
                os.killpg(group, 0)
                time.sleep(0.05)
        except ProcessLookupError:
            return


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readme", default=ROOT / "README.md", type=Path)
    parser.add_argument("--seconds", default=900, type=float, help="time for each block")
    options = parser.parse_args()
    found = list(blocks(options.readme.read_text(encoding="utf-8")))
    if not found:
        print(f"{options.readme}: no ```sh block", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="covey-readme-") as scratch:
        folder = Path(scratch) / "covey"
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True)
        for line, block in found:
            commands, skipped = prepare(block)
            for command in skipped:
                print(f"README.md:{line}: skipped here: {command.strip()}", flush=True)
            if not commands.strip():
                continue
            print(f"README.md:{line}: running\n{commands}", flush=True)
            started = time.monotonic()
            code = run(commands, folder, options.seconds)
            if code != 0:
                what = "took too long" if code is None else f"exit code {code}"
                print(f"README.md:{line}: {what}", file=sys.stderr)
                return 1
            print(f"README.md:{line}: passed in {time.monotonic() - started:.0f} s", flush=True)
    print(f"README.md: {len(found)} blocks passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
