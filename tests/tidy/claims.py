"""Checks that documents name tests that exist."""

import re

from tree import Problem

DOCUMENT = "docs/robustness.md"
DEFINED = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.M)
NAMED = re.compile(r"`([A-Z]\w+\.[A-Z]\w+|tests/[\w/.]+)`")


def check_named_tests(tree):
    path = tree.root / DOCUMENT
    if not path.is_file():
        return []
    defined = {f"{suite}.{name}" for source in tree.cpp("tests")
               for suite, name in DEFINED.findall("\n".join(source.lines))}
    problems = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for name in NAMED.findall(line):
            known = (tree.root / name).is_file() if "/" in name else name in defined
            if not known:
                problems.append(Problem(DOCUMENT, number, f"{name}: no such test"))
    return problems
