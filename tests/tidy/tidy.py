#!/usr/bin/env python3
"""Holds the tree against the house style.

tidy.py RULE [--root DIR] [--compiler PROGRAM] [--flag FLAG]...
Exit code: 0 clean, 1 problems (one a line, path:line: text), 77 when a needed tool is missing.
"""

import argparse
import shutil
import sys
from pathlib import Path

import claims
import groups
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
    "groups": [groups.check_hidden],
    "claims": [claims.check_named_tests],
    "reach": [reach.check_dead, reach.check_corpora, reach.check_pragma,
              reach.check_own_header_first],
}


# Rules that need a program. Other versions of clang-format format differently.
TOOLS = {
    "format": ("clang-format-14", reach.check_format),
    "shell": ("shellcheck", reach.check_shell),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rule", choices=[*RULES, *TOOLS, "headers"])
    parser.add_argument("--root", default=Path(__file__).resolve().parents[2], type=Path)
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--flag", action="append", default=[])
    options = parser.parse_args()
    tree = Tree(options.root)
    if options.rule == "headers":
        problems = reach.check_self_contained(tree, options.compiler, options.flag)
    elif options.rule in TOOLS:
        name, check = TOOLS[options.rule]
        program = shutil.which(name)
        if not program:
            print(f"skipped: {name} is not installed")
            return SKIPPED
        problems = check(tree, program)
    else:
        problems = [problem for check in RULES[options.rule] for problem in check(tree)]
    for problem in problems:
        print(problem)
    print(f"{options.rule}: {len(problems)} problems in {len(tree.files)} files")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
