#!/usr/bin/env python3
"""Holds the tree against the house style.

tidy.py RULE [--root DIR] [--compiler PROGRAM] [--flag FLAG]...
Exit code: 0 clean, 1 problems (one a line, path:line: text), 77 when a needed tool is missing.
"""

import argparse
import shutil
import sys
from pathlib import Path

import modules
import reach
import text
from tree import Tree

SKIPPED = 77


def tokens(tree):
    table, _ = modules.read_tables(tree)
    return text.check_tokens(tree, {m.name for m in table.values() if m.portable})


RULES = {
    "modules": [modules.check_table, modules.check_includes, modules.check_document],
    "tokens": [tokens],
    "sizes": [text.check_sizes],
    "words": [text.check_words],
    "reach": [reach.check_dead, reach.check_pragma, reach.check_own_header_first],
}


def clang_format():
    """Other versions format differently, so only the one of Debian 12 counts."""
    return shutil.which("clang-format-14")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rule", choices=[*RULES, "headers", "format"])
    parser.add_argument("--root", default=Path(__file__).resolve().parents[2], type=Path)
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--flag", action="append", default=[])
    options = parser.parse_args()
    tree = Tree(options.root)
    if options.rule == "headers":
        problems = reach.check_self_contained(tree, options.compiler, options.flag)
    elif options.rule == "format":
        program = clang_format()
        if not program:
            print("skipped: clang-format-14 is not installed")
            return SKIPPED
        problems = reach.check_format(tree, program)
    else:
        problems = [problem for check in RULES[options.rule] for problem in check(tree)]
    for problem in problems:
        print(problem)
    print(f"{options.rule}: {len(problems)} problems in {len(tree.files)} files")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
