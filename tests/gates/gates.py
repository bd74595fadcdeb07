#!/usr/bin/env python3
"""Proves that a test fails when the line of code that it is about is disabled.

gates.py check [--root DIR]                  Lists, sources, tests and docs/robustness.md agree.
gates.py run [--only WORD...] [--jobs N]     Disables one gate after the other, in a copy of the
             [--scratch DIR]                 tree: each time its tests must fail.

The gates stand in *.gates beside this file; catalogue.py says how. A test that crashes, or that
goes on ten times as long as it should, has failed, and the line of its gate says so.
Exit code: 0 all hold, 1 a gate whose test passes without it, or another problem (one a line),
77 when a needed tool is missing.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import catalogue

SKIPPED = 77
TOOLS = ("cmake", "ninja")
SHORTEST = 10  # seconds that a test may always take
LONGEST = 300
TIMES = 10
DAEMONS = {"coveyd", "covey"}  # what a script of tests/e2e starts
HELD, SURVIVES, BROKEN = "held", "SURVIVES", "BROKEN"
PASSES, SKIPS = "PASSES", "runs no test"


class Scratch:
    """A copy of the tree and a build of it, both kept for the next time."""

    def __init__(self, root, folder, jobs):
        self.root, self.jobs = root, jobs
        self.tree, self.build = folder / "tree", folder / "build"
        # Where another checkout has compiled the same, its cache serves this one too.
        self.environment = dict(os.environ, CCACHE_BASEDIR=str(self.tree),
                                COVEY_SOURCE=str(self.tree), COVEY_BIN=str(self.build / "bin"))

    def copy(self):
        wanted = set()
        for source in catalogue.walk(self.root):
            name = source.relative_to(self.root)
            wanted.add(name)
            target = self.tree / name
            if target.is_file() and target.read_bytes() == source.read_bytes():
                continue  # ninja goes by the time
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
        for old in catalogue.walk(self.tree):
            if old.relative_to(self.tree) not in wanted:
                old.unlink()

    def call(self, *words):
        """Returns: what it said when it failed, or None."""
        done = subprocess.run([str(word) for word in words], env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
        return done.stdout if done.returncode else None

    def configure(self):
        if (self.build / "build.ninja").is_file():
            return None
        # File by file, so that a gate costs one file; -w, because what it disables may be unused.
        words = ["cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-DCOVEY_UNITY=OFF",
                 "-DCOVEY_BENCH=OFF", "-DCMAKE_BUILD_TYPE=Gates", "-DCMAKE_CXX_FLAGS=-O1 -w"]
        if shutil.which("ccache"):
            words.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
        return self.call(*words)

    def compile(self, tests):
        programs = set()
        for test in tests:
            programs |= DAEMONS if test.is_script else {test.program}
        return self.call("ninja", "-C", self.build, f"-j{self.jobs}", *sorted(programs))

    def run(self, test, limit):
        """Returns: how it ended, and the seconds that it took."""
        if test.is_script:
            words = [sys.executable, self.tree / test.program, test.name]
        else:
            words = [self.build / "bin" / test.program,
                     f"--gtest_filter={test.name}:*/{test.name}/*:{test.name}/*"]
        started = time.monotonic()
        # A group of its own, so that a time-out ends also the daemons that a script has started.
        child = subprocess.Popen(words, env=self.environment, cwd=self.build,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 start_new_session=True)
        try:
            said, _ = child.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            return f"took more than {limit:.0f} s", limit
        took = time.monotonic() - started
        if child.returncode < 0:
            return f"crashed with signal {-child.returncode}", took
        if child.returncode > 0:
            return "failed", took
        skipped = (b"skipped" if test.is_script else b"[  PASSED  ] 0 tests") in said
        return (SKIPS if skipped else PASSES), took


def without(scratch, gate, limits):
    """Returns: what the tests of a gate do without it, and whether all fail: one of the words."""
    whole = {}
    try:
        for edit in gate.edits:
            path = scratch.tree / edit.file
            text = path.read_text()
            whole.setdefault(path, text)
            path.write_text(text.replace(edit.old, edit.new))
        problem = scratch.compile(gate.tests)
        if problem is not None:
            return f"without it, nothing is built:\n{problem}", BROKEN
        ends = [(test, scratch.run(test, limits[test])[0]) for test in gate.tests]
    finally:
        for path, text in whole.items():
            path.write_text(text)
    held = not any(end in (PASSES, SKIPS) for _, end in ends)
    return ", ".join(f"{test.name} {end}" for test, end in ends), HELD if held else SURVIVES


def passing(scratch, tests):
    """Returns: the seconds that each may take, and the problems of those that fail anyway."""
    limits, problems = {}, []
    for test in tests:
        end, took = scratch.run(test, LONGEST)
        # Scripts give up by themselves, and clean up.
        limits[test] = LONGEST if test.is_script else max(SHORTEST, TIMES * took)
        if end != PASSES:
            problems.append(f"{test.program} {test.name}: {end} although nothing is disabled")
    return limits, problems


def run(options):
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed")
        return SKIPPED
    gates = [gate for gate in catalogue.read(options.root).gates
             if not options.only or any(word in gate.name for word in options.only)]
    tests = sorted({test for gate in gates for test in gate.tests})
    scratch = Scratch(options.root, options.scratch, options.jobs)
    scratch.copy()
    problem = scratch.configure() or scratch.compile(tests)
    if problem is not None:
        print(f"the tree does not build:\n{problem}")
        return 1
    limits, problems = passing(scratch, tests)
    if problems:
        print("\n".join(problems))
        return 1
    holds = 0
    for gate in gates:
        line, word = without(scratch, gate, limits)
        holds += word == HELD
        print(f"{word}: {gate.name}: {line}", flush=True)
    print(f"{holds} of {len(gates)} gates are held by their tests")
    return 0 if gates and holds == len(gates) else 1


def check(options):
    problems, gates = catalogue.check(options.root)
    for problem in problems:
        print(problem)
    print(f"gates: {len(problems)} problems in {gates} gates")
    return 1 if problems else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["check", "run"])
    parser.add_argument("--root", default=Path(__file__).resolve().parents[2], type=Path)
    parser.add_argument("--only", nargs="+", default=[],
                        help="gates with such a word in their name")
    parser.add_argument("--jobs", default=os.cpu_count(), type=int)
    parser.add_argument("--scratch", type=Path, help="default: build/gates")
    options = parser.parse_args()
    options.root = options.root.resolve()
    options.scratch = (options.scratch or options.root / "build" / "gates").resolve()
    return check(options) if options.what == "check" else run(options)


if __name__ == "__main__":
    sys.exit(main())
