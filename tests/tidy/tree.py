"""The source tree as the style checks see it: files, with and without comments and literals."""

import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

SKIPPED_FOLDERS = {".git", "build", "runs", "__pycache__", "corpus"}
CPP = {".cc", ".h"}
CODE = CPP | {".py", ".sh", ".cmake", ".proto"}


@dataclass(frozen=True)
class Problem:
    path: str
    line: int
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text}"


class Source:
    """One text file. `path` is relative to the root, with forward slashes."""

    def __init__(self, root, path):
        self.path = path
        self.full = Path(root) / path
        self.parts = path.split("/")
        self.name = self.parts[-1]

    @cached_property
    def text(self):
        return self.full.read_text(encoding="utf-8")

    @cached_property
    def lines(self):
        return self.text.splitlines()

    @cached_property
    def bare(self):
        """The text with comments and the inside of literals blanked; lines keep their numbers."""
        return blank(self.text)

    @property
    def is_cpp(self):
        return self.full.suffix in CPP

    @property
    def is_code(self):
        if self.full.suffix in CODE or self.name == "CMakeLists.txt":
            return True
        return not self.full.suffix and self.text.startswith("#!")

    @property
    def module(self):
        """The module a C++ file belongs to, or the program's folder, or None."""
        parts = self.parts
        if parts[0] == "include" and len(parts) > 3:
            return parts[2]
        if parts[0] == "src" and len(parts) > 2:
            return parts[1]
        if parts[0] == "tests" and len(parts) > 3:
            return parts[2]
        return parts[0] if parts[0] in ("daemon", "cli", "sim") else None


class Tree:
    def __init__(self, root):
        self.root = Path(root)
        self.files = {}
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(f for f in folders if f not in SKIPPED_FOLDERS)
            for name in sorted(names):
                path = (Path(folder) / name).relative_to(self.root).as_posix()
                self.files[path] = Source(self.root, path)

    def cpp(self, *tops):
        """C++ files below the given top folders, or all."""
        return [f for f in self.files.values() if f.is_cpp and (not tops or f.parts[0] in tops)]

    def code(self):
        return [f for f in self.files.values() if f.full.suffix in CODE
                or f.name == "CMakeLists.txt" or f.parts[0] in ("scripts", ".ci")]


TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\\ \n]{0,16})\(.*?\)(?P=d)"'
    r'|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])\'(?:\\.|[^\'\\\n])*\'', re.S)


def blank(text):
    def replace(match):
        token = match.group()
        kept = "".join("\n" if c == "\n" else " " for c in token)
        if token[0] in "\"'":
            return token[0] + kept[1:-1] + token[0]
        if token[0] == "R":
            return '""' + kept[2:]
        return kept
    return TOKEN.sub(replace, text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1
