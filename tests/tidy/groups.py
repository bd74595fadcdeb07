"""Sources that compile as one group (covey_unite, cmake/options.cmake) may not change one another.

A helper in an anonymous namespace hides what a header declares under the same name for all files
that follow in the group, and no compiler warns of it.
"""

import re
from collections import defaultdict

from tree import Problem, line_of

NAMESPACE = re.compile(r"^namespace (covey[\w:]*) \{", re.M)
ANONYMOUS = re.compile(r"^namespace \{$(.*?)^\}", re.M | re.S)
DECLARED = re.compile(
    r"^(?:(?:inline |static )*constexpr [\w:<>, ]+?\b(k[A-Z]\w*)(?:\[\w*\])*\s*[={]"
    r"|(?:struct|class|enum class|enum) (\w+)\b[^;]*?\{"
    r"|using (\w+) ="
    r"|(?:(?!return\b)[\w:][\w:<>,&* ]*?)[ &*](\w+)\([^;{]*\{)", re.M)


def declared(text):
    """name -> its place, of what stands at the beginning of a line."""
    return {next(filter(None, match.groups())): match.start() for match in DECLARED.finditer(text)}


def namespace_of(source):
    match = NAMESPACE.search(source.bare)
    return match.group(1).split("::") if match else None


def check_hidden(tree):
    headers = defaultdict(dict)  # namespace -> name -> headers
    for header in tree.cpp("include", "src", "tests", "daemon", "cli", "sim"):
        if header.name.endswith(".h") and not header.name.endswith("-inl.h"):
            namespace = namespace_of(header)
            if namespace:
                for name in declared(ANONYMOUS.sub("", header.bare)):
                    headers["::".join(namespace)].setdefault(name, []).append(header)
    problems = []
    for source in tree.cpp("src", "tests", "daemon", "cli", "sim"):
        namespace = namespace_of(source)
        if not source.name.endswith(".cc") or namespace is None:
            continue
        if "define HWY_TARGET_INCLUDE" in source.text:
            continue
        for block in ANONYMOUS.finditer(source.bare):
            for name, place in declared(block.group(1)).items():
                for depth in range(1, len(namespace) + 1):
                    for header in headers["::".join(namespace[:depth])].get(name, []):
                        if meets(source, header):
                            line = line_of(source.text, block.start(1) + place)
                            problems.append(Problem(source.path, line,
                                                    f"{name} hides that of {header.path} in the"
                                                    " files that compile together with this one"))
    return problems


def meets(source, header):
    """Whether some file of the source's folder may include the header."""
    if header.parts[0] == "include" or header.parts[:-1] == source.parts[:-1]:
        return True
    if header.parts[0] == "src":
        return header.module == source.module
    return header.parts[:2] == ["tests", "support"] and source.parts[0] == "tests"
