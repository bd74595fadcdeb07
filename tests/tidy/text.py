"""Checks on the text of single files: banned tokens, lengths, unfinished words, white space."""

import re

from tree import Problem, line_of

# These modules, and the programs around a node, meet the world; everything else gets time and
# randomness from its caller.
WORLDLY = {"node", "transport_zmq", "control", "log", "harness", "api", "daemon", "cli"}
# Tests that start real threads or programs; the others never wait.
PATIENT = ("tests/e2e/",)

BANNED = [
    (r"\b(system|steady|high_resolution|utc|file)_clock\b|\bclock_gettime\b|\bgettimeofday\b"
     r"|\btime\s*\(\s*(nullptr|NULL|0)\s*\)", "a clock"),
    (r"\brandom_device\b|\bgetrandom\b|\bgetentropy\b", "randomness of the machine"),
    (r"(?<![\w.>])s?rand\s*\(|\bdrand48\b|\bmt19937", "a global or foreign random generator"),
    (r"::Random\s*\(|\bsetRandom\b", "Eigen's Random"),
]
SLEEP = (r"\b(sleep_for|sleep_until|usleep|nanosleep)\b|(?<![\w.>:])sleep\s*\(", "a sleep")
DISTRIBUTION = (r"\bstd::\w+_distribution\b", "std::*_distribution (implementation-defined)")
EXCEPTIONS = (r"\b(throw|try|catch|dynamic_cast|typeid)\b", "exceptions or RTTI (portable module)")
FIXED_PORT = re.compile(r'\b(listen|bind)\w*\b.*"[^"]*:[1-9]\d{3,4}"', re.I)
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")

MAX_COLUMNS = 100
MAX_LINES = 400
MAX_FUNCTION = 70


def find(source, pattern, what):
    return [Problem(source.path, line_of(source.bare, m.start()), f"{m.group().strip()}: {what}")
            for m in re.finditer(pattern, source.bare)]


def check_tokens(tree, portable=frozenset()):
    problems = []
    for source in tree.cpp("include", "src", "tests", "daemon", "cli", "sim"):
        worldly = source.module in WORLDLY
        in_tests = source.parts[0] == "tests"
        problems += find(source, *DISTRIBUTION)
        if not worldly:
            for pattern, what in BANNED:
                problems += find(source, pattern, what)
        if (in_tests and not source.path.startswith(PATIENT)) or not worldly:
            problems += find(source, *SLEEP)
        if in_tests and source.module in WORLDLY:
            problems += [Problem(source.path, number, "a fixed port; listen on port 0")
                         for number, line in enumerate(source.lines, 1)
                         if FIXED_PORT.search(line)]
        if source.module == "consensus" and not in_tests:
            problems += find(source, r"\bunordered_\w+", "hash order decides what happens")
        if source.module in portable and not in_tests:
            problems += find(source, *EXCEPTIONS)
    return problems


def check_sizes(tree):
    problems = []
    for source in tree.code():
        lines = source.lines
        if len(lines) > MAX_LINES:
            problems.append(Problem(source.path, MAX_LINES + 1,
                                    f"{len(lines)} lines; a file of more than {MAX_LINES} is two"))
        for number, line in enumerate(lines, 1):
            if len(line) > MAX_COLUMNS:
                problems.append(Problem(source.path, number,
                                        f"{len(line)} columns; at most {MAX_COLUMNS}"))
        if source.is_cpp:
            for start, end in functions(source.bare):
                if end - start + 1 > MAX_FUNCTION:
                    problems.append(Problem(source.path, start, f"function of {end - start + 1} "
                                            f"lines; at most {MAX_FUNCTION}"))
    return problems


SCOPE = re.compile(r"^\s*(?:template\s*<.*>\s*)?(?:\[\[.*?\]\]\s*)?"
                   r"(?:(?:typedef|inline|static)\s+)*"
                   r"(?:namespace|class|struct|union|enum|extern)\b", re.S)


def functions(bare):
    """(first line, last line) of outermost function bodies. Approximate: counts braces."""
    bare = re.sub(r"^[ \t]*#.*?(?<!\\)$", lambda m: re.sub(r"[^\n]", " ", m.group()), bare,
                  flags=re.M | re.S)
    found, head, at = [], 0, 0
    while at < len(bare):
        c = bare[at]
        if c in ";}":
            head = at + 1
        elif c == "{":
            before = bare[head:at]
            if SCOPE.match(before):
                head = at + 1
            else:
                end = matching(bare, at)
                if ")" in before:
                    start = head + len(before) - len(before.lstrip())
                    found.append((line_of(bare, start), line_of(bare, end)))
                    head = end + 1
                at = end
        at += 1
    return found


def matching(bare, at):
    depth = 0
    for position in range(at, len(bare)):
        if bare[position] == "{":
            depth += 1
        elif bare[position] == "}":
            depth -= 1
            if depth == 0:
                return position
    return len(bare) - 1


def check_words(tree):
    problems = []
    for source in tree.code():
        if source.parts[:2] == ["tests", "tidy"]:
            continue
        for number, line in enumerate(source.lines, 1):
            match = UNFINISHED.search(line)
            if match:
                problems.append(Problem(source.path, number, f"{match.group()}: finish it"))
            if "\t" in line:
                problems.append(Problem(source.path, number, "tab"))
            if line != line.rstrip():
                problems.append(Problem(source.path, number, "blank at the end of the line"))
        if source.text and not source.text.endswith("\n"):
            problems.append(Problem(source.path, len(source.lines), "no newline at the end"))
    return problems
