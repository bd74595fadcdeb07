"""Every file is reached: compiled, included or registered; every header stands alone."""

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

from modules import INCLUDE, read_tables
from tree import Problem

LABELS = {"unit", "property", "scenario", "sim"}
HIGHWAY = re.compile(r'#\s*define\s+HWY_TARGET_INCLUDE\s+"([^"]+)"')


def check_dead(tree):
    modules, programs = read_tables(tree)
    included = set()
    for source in tree.cpp():
        beside = source.parts[:-1]
        for match in list(INCLUDE.finditer(source.text)):
            name = match.group(2)
            included |= {f"include/{name}", f"src/{name}", f"tests/{name}", name,
                         "/".join(beside + [name])}
    problems = []
    for source in tree.cpp():
        if source.name.endswith(".h"):
            if source.path not in included:
                problems.append(Problem(source.path, 1, "no file includes this header"))
        elif not compiled(source, modules, programs):
            problems.append(Problem(source.path, 1, "no build rule compiles this file"))
    return problems + check_scripts(tree)


def compiled(source, modules, programs):
    parts = source.parts
    if parts[0] == "src":
        return len(parts) == 3 and parts[1] in modules
    if parts[0] in programs:
        return len(parts) == 2
    if parts[0] == "tests" and parts[1] in LABELS:
        return len(parts) == 4 and parts[2] in modules and source.name.endswith("_test.cc")
    if parts[:2] == ["tests", "fuzz"]:
        if len(parts) == 3:
            return source.name == "replay_main.cc"
        return parts[2] in modules and source.name.endswith("_fuzz.cc")
    return parts[0] in ("tests", "bench", "examples")


def check_scripts(tree):
    """Each Python file below tests/ is named by a CMake file or imported by another one."""
    mentions = "\n".join(f.text for f in tree.files.values()
                         if f.name == "CMakeLists.txt" or f.full.suffix == ".cmake")
    imports = set()
    python = [f for f in tree.files.values() if f.name.endswith(".py") and f.parts[0] == "tests"]
    for source in python:
        imports |= set(re.findall(r"^\s*(?:import|from)\s+(\w+)", source.text, re.M))
    return [Problem(f.path, 1, "no CMake file registers and no test imports it") for f in python
            if f.name not in mentions and f.name[:-3] not in imports
            and not re.search(rf"\b{re.escape(f.name[:-3])}\b", mentions)]


def check_corpora(tree):
    """Each fuzz target has a corpus to replay, each corpus a target."""
    problems, targets = [], set()
    for source in tree.cpp("tests"):
        if source.parts[1] == "fuzz" and source.name.endswith("_fuzz.cc"):
            folder = source.full.parent / "corpus" / source.name[:-len("_fuzz.cc")]
            targets.add(folder)
            if not folder.is_dir() or not any(folder.iterdir()):
                problems.append(Problem(source.path, 1, "no corpus to replay"))
    for folder in sorted((tree.root / "tests" / "fuzz").glob("*/corpus/*")):
        if folder not in targets:
            path = folder.relative_to(tree.root).as_posix()
            problems.append(Problem(path, 1, "a corpus without a fuzz target"))
    return problems


def check_shell(tree, program):
    """shellcheck has nothing to say about the shell scripts."""
    scripts = [f.path for f in tree.code() if f.text.startswith("#!/usr/bin/env bash")]
    done = subprocess.run([program, "-x", "-f", "gcc", *scripts], cwd=tree.root, text=True,
                          capture_output=True, check=False)
    found = [re.match(r"(.*?):(\d+):\d+: (.*)", line) for line in done.stdout.splitlines()]
    return [Problem(m.group(1), int(m.group(2)), m.group(3)) for m in found if m]


def check_pragma(tree):
    problems = []
    for source in tree.cpp():
        if source.name.endswith(".h") and not source.name.endswith("-inl.h"):
            if source.text.count("#pragma once\n") != 1:
                problems.append(Problem(source.path, 1, "needs one '#pragma once'"))
    return problems


def own_header(tree, source):
    """The header that belongs to a source file: include/covey/m/x.h or src/m/x.h for src/m/x.cc."""
    stem = source.name[:-3] + ".h"
    for path in (f"include/covey/{source.parts[1]}/{stem}", f"src/{source.parts[1]}/{stem}"):
        if path in tree.files:
            return path
    return None


def check_own_header_first(tree):
    """x.cc includes x.h before anything else: the compiler then proves that x.h stands alone."""
    problems = []
    for source in tree.cpp("src"):
        if not source.name.endswith(".cc") or HIGHWAY.search(source.text):
            continue
        header = own_header(tree, source)
        first = INCLUDE.search(source.text)
        if header and (not first or not header.endswith("/" + first.group(2))):
            problems.append(Problem(source.path, 1, f"its first include must be {header}"))
    return problems


def lonely_headers(tree):
    """Headers that no source file proves self-contained."""
    proven = {own_header(tree, s) for s in tree.cpp("src")
              if s.name.endswith(".cc") and not HIGHWAY.search(s.text)}
    return [s.path for s in tree.cpp("include", "src") if s.name.endswith(".h")
            and not s.name.endswith("-inl.h") and s.path not in proven]


def check_self_contained(tree, compiler, flags):
    """Compiles each lonely header alone."""
    def run(path):
        command = [compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", *flags, "-I",
                   str(tree.root / "include"), "-I", str(tree.root / "src"), "-"]
        text = f'#include "{tree.root / path}"\n'
        done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
        if done.returncode == 0:
            return []
        first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr)
        return [Problem(path, 1, f"does not compile alone: {first.strip()}")]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [problem for found in pool.map(run, lonely_headers(tree)) for problem in found]


def check_format(tree, program):
    """clang-format would change nothing."""
    paths = [str(source.full) for source in tree.cpp()]
    done = subprocess.run([program, "--dry-run", "--ferror-limit=0", "-style=file", *paths],
                          cwd=tree.root, text=True, capture_output=True, check=False)
    found = {}
    for line in done.stderr.splitlines():
        match = re.match(r"(.*?):(\d+):\d+: \w+: code should be clang-formatted", line)
        if match:
            path = os.path.relpath(match.group(1), tree.root)
            found.setdefault(path, int(match.group(2)))
    return [Problem(path, line, "clang-format would change it (first place)")
            for path, line in found.items()]
