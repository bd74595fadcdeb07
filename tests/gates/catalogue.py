"""The lists of gates, and what is wrong with them.

A list is a text file, *.gates:

    # A comment.
    gate  NAME
    file  SOURCE                     below the root
    - LINE                           what stands once in it: a part of a line, or lines
    + LINE                           what disables it; where two lines guard, another file - +
    test  PROGRAM SUITE.TEST...      each must fail without the gate; PROGRAM may be a script of
                                     tests/e2e
    row   FIRST CELL OF A ROW        where the document names only the file of the test

    none  FIRST CELL OF A ROW
    why   REASON                     why no line of ours can be disabled there

Every row of docs/robustness.md has a gate with a test that it names, or a reason.
"""

import os
import re
from pathlib import Path
from typing import NamedTuple

DOCUMENT = "docs/robustness.md"
SKIPPED_FOLDERS = {".git", "build", "runs", "__pycache__"}
DEFINED = re.compile(r"^(?:TEST|TEST_F|TEST_P)\(\s*(\w+),\s*(\w+)\)", re.M)
NAMED = re.compile(r"`([A-Z]\w+\.[A-Z]\w+|tests/[\w/.]+)`")
METHOD = re.compile(r"^class (\w+)|^    def (test_\w+)", re.M)
WORDS = {"gate", "file", "test", "row", "none", "why", "-", "+"}


class Test(NamedTuple):
    program: str
    name: str

    @property
    def is_script(self):
        return self.program.endswith(".py")

    def source(self, root):
        """Returns: the file that has it, below the root, or an empty text."""
        if self.is_script:
            path = root / self.program
            return self.program if path.is_file() and self.name in methods(path) else ""
        # unit_session_test is made of tests/unit/session.
        label, _, module = self.program.removesuffix("_test").partition("_")
        for path in sorted((root / "tests" / label / module).glob("*_test.cc")):
            if self.name in (".".join(found) for found in DEFINED.findall(path.read_text())):
                return str(path.relative_to(root))
        return ""


def methods(path):
    found, last = set(), ""
    for of, method in METHOD.findall(path.read_text()):
        last = of or last
        found.add(f"{last}.{method}")
    return found


class Edit:
    def __init__(self, file):
        self.file = file
        self.lines = {"-": [], "+": []}

    @property
    def old(self):
        return "\n".join(self.lines["-"])

    @property
    def new(self):
        return "\n".join(self.lines["+"])


class Gate:
    def __init__(self, where, name):
        self.where, self.name = where, name
        self.edits, self.tests, self.rows = [], [], []


class Catalogue:
    def __init__(self):
        self.gates, self.reasons, self.problems = [], {}, []


def walk(root):
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f not in SKIPPED_FOLDERS]
        yield from (Path(folder) / name for name in names)


def read(root):
    all_of_them = Catalogue()
    for path in sorted((root / "tests" / "gates").glob("*.gates")):
        read_list(path, path.relative_to(root), all_of_them)
    return all_of_them


def read_list(path, name, into):
    gate, row = None, ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        word, _, rest = line.partition(" ")
        where = f"{name}:{number}"
        text = rest.strip()
        if word in "-+":
            text = rest  # white space counts
        orphan = ((word in ("file", "test", "row") and gate is None) or
                  (word == "why" and not row) or
                  (word in "-+" and (gate is None or not gate.edits)))
        if word not in WORDS or orphan:
            into.problems.append(f"{where}: not understood: {line}")
        elif word == "gate":
            gate = Gate(where, text)
            into.gates.append(gate)
        elif word == "file":
            gate.edits.append(Edit(text))
        elif word == "test":
            gate.tests += [Test(text.split()[0], each) for each in text.split()[1:]]
        elif word == "row":
            gate.rows.append(text)
        elif word == "none":
            row = text
            into.reasons[row] = (where, "")
        elif word == "why":
            into.reasons[row] = (where, text)
        else:
            gate.edits[-1].lines[word].append(text)


def rows(root):
    """Returns: first cell and names of tests of each row of the document."""
    found = {}
    for line in (root / DOCUMENT).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("|") or len(cells) < 3 or cells[0] in ("what happens", "---"):
            continue
        found[cells[0]] = set(NAMED.findall(cells[-1]))
    return found


def check(root):
    """Returns: the problems, and how many gates there are."""
    lists = read(root)
    table = rows(root)
    problems = list(lists.problems)
    names = [gate.name for gate in lists.gates]
    for gate in lists.gates:
        problems += [f"{gate.where}: {gate.name}: {text}"
                     for text in wrong_with(root, gate, table)]
        if names.count(gate.name) > 1:
            problems.append(f"{gate.where}: {gate.name}: two gates have this name")
    held = {row for gate in lists.gates for row in held_by(root, gate, table)}
    for row in table:
        if row not in held and row not in lists.reasons:
            problems.append(f"{DOCUMENT}: '{row}' has neither a gate nor a reason in tests/gates")
    for row, (where, why) in lists.reasons.items():
        if row not in table:
            problems.append(f"{where}: no row of {DOCUMENT} begins with '{row}'")
        elif row in held:
            problems.append(f"{where}: '{row}' has a gate, and needs no reason")
        if not why:
            problems.append(f"{where}: '{row}' has no reason")
    return problems, len(lists.gates)


def held_by(root, gate, table):
    """The rows of the document that a gate speaks for."""
    names = {test.name for test in gate.tests}
    files = {test.source(root) for test in gate.tests}
    return {row for row, tests in table.items()
            if tests & names or (row in gate.rows and tests & files)}


def wrong_with(root, gate, table):
    for edit in gate.edits:
        source = root / edit.file
        if not source.is_file():
            yield f"no such file: {edit.file}"
            continue
        times = source.read_text().count(edit.old) if edit.old else 0
        if times != 1:
            yield f"stands {times} times in {edit.file}, wanted once: {edit.old}"
        if edit.old == edit.new:
            yield "disables nothing"
    if not gate.edits or not gate.tests:
        yield "has no file or no test"
    for test in gate.tests:
        if not test.source(root):
            yield f"no such test: {test.program} {test.name}"
    named = set().union(*(table[row] for row in held_by(root, gate, table)))
    for test in gate.tests:
        if not {test.name, test.source(root)} & named:
            yield f"{DOCUMENT} names neither {test.name} nor its file in a row of this gate"
