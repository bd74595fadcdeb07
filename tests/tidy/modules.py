"""The module table: cmake/modules.cmake against every #include and against docs/architecture.md."""

import re
from dataclasses import dataclass, field

from tree import Problem

# CMake target -> (name in the table of docs/architecture.md, what its headers look like).
THIRD_PARTY = {
    "Eigen3::Eigen": ("Eigen", r"Eigen/"),
    "covey_hwy": ("Highway", r"hwy/"),
    "spdlog::spdlog": ("spdlog", r"spdlog/"),
    "yaml-cpp": ("yaml-cpp", r"yaml-cpp/"),
    "covey_proto": ("protobuf", r"google/protobuf/|covey/v1/\w+\.pb\.h"),
    "PkgConfig::ZMQ": ("cppzmq", r"zmq(_addon|_utils)?\.h(pp)?$"),
    "PkgConfig::SODIUM": ("libsodium", r"sodium"),
    "CLI11::CLI11": ("CLI11", r"CLI/"),
    "nlohmann_json::nlohmann_json": ("nlohmann-json", r"nlohmann/"),
    "ZLIB::ZLIB": ("zlib", r"zlib\.h$"),
    "PNG::PNG": ("libpng", r"png\.h$"),
    "JPEG::JPEG": ("libjpeg", r"jpeglib\.h$"),
    "Boost::headers": ("Boost", r"boost/"),
    "Threads::Threads": ("threads", r"pthread\.h$"),
}
ALWAYS = r"tl/expected\.hpp$"  # Result, through base
TEST_ONLY = r"(gtest|gmock|benchmark)/"

NOT_PORTABLE = re.compile(
    r"^(thread|mutex|shared_mutex|condition_variable|future|stop_token|semaphore|latch|barrier"
    r"|fstream|filesystem|iostream|unistd\.h|fcntl\.h|pthread\.h|signal\.h|csignal|time\.h|ctime"
    r"|poll\.h|sys/.*|netinet/.*|arpa/.*|exception|stdexcept|typeinfo)$")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


@dataclass
class Module:
    name: str
    line: int
    portable: bool = False
    uses: list = field(default_factory=list)
    third_party: list = field(default_factory=list)


def parse_table(text, function):
    """All calls of covey_module or covey_program, by the name of the module or of the folder."""
    found = {}
    for match in re.finditer(rf"^{function}\(([^)]*)\)", text, re.M):
        words = match.group(1).split()
        name = words[0] if function == "covey_module" else words[1]
        module = Module(name, text.count("\n", 0, match.start()) + 1)
        target = None
        for word in words[1:] if function == "covey_module" else words[2:]:
            if word == "PORTABLE":
                module.portable = True
            elif word == "USES":
                target = module.uses
            elif word == "THIRD_PARTY":
                target = module.third_party
            elif target is not None:
                target.append(word)
        found[name] = module
    return found


def closure(table, name):
    seen, todo = set(), [name]
    while todo:
        current = todo.pop()
        if current not in seen and current in table:
            seen.add(current)
            todo += table[current].uses
    return seen


def read_tables(tree):
    modules = parse_table(tree.files["cmake/modules.cmake"].text, "covey_module")
    programs = tree.files.get("cmake/programs.cmake")
    return modules, parse_table(programs.text, "covey_program") if programs else {}


def check_table(tree):
    """Each row names only rows above it, so the graph has no cycle; each folder has a row."""
    modules, _ = read_tables(tree)
    problems, above = [], set()
    for module in modules.values():
        for used in module.uses:
            if used not in above:
                problems.append(Problem("cmake/modules.cmake", module.line,
                                        f"{module.name} uses {used}, which has no row above it"))
        for target in module.third_party:
            if target not in THIRD_PARTY:
                problems.append(Problem("cmake/modules.cmake", module.line,
                                        f"{target} is unknown to tests/tidy/modules.py"))
        above.add(module.name)
    for source in tree.cpp("include", "src"):
        if source.module not in modules:
            problems.append(Problem(source.path, 1, f"module {source.module} has no row"))
    return problems


def third_party_of(include):
    for target, (_, pattern) in THIRD_PARTY.items():
        if re.match(pattern, include):
            return target
    return None


def check_includes(tree):
    """Every include is allowed by the row of the module and its transitive closure."""
    modules, programs = read_tables(tree)
    table = {**modules, **programs}
    problems = []
    for source in tree.cpp("include", "src", "tests", "daemon", "cli", "sim"):
        own = table.get(source.module)
        if own is None:
            continue
        allowed = closure(table, own.name)
        for match in INCLUDE.finditer(source.text):
            reason = refuse(tree, source, own, table, allowed, match.group(1), match.group(2))
            if reason:
                line = source.text.count("\n", 0, match.start()) + 1
                problems.append(Problem(source.path, line, f'"{match.group(2)}": {reason}'))
    return problems


def refuse(tree, source, own, table, allowed, quote, include):
    is_test = source.parts[0] == "tests"
    third = third_party_of(include)
    if third:
        public = source.parts[0] == "include"
        targets = set(own.third_party if public else
                      [t for name in allowed for t in table[name].third_party])
        if third not in targets:
            where = "the row of" if public else "any row that is allowed to"
            return f"{THIRD_PARTY[third][0]} is not in {where} {own.name}"
        return None
    if re.match(ALWAYS, include) or (is_test and re.match(TEST_ONLY, include)):
        return None
    if include.startswith("covey/"):
        other = include.split("/")[1]
        if f"include/{include}" not in tree.files:
            return "no such header"
        return None if other in allowed else f"{own.name} may not use {other}"
    if quote == "<":
        if own.portable and not is_test and NOT_PORTABLE.match(include):
            return f"{own.name} is portable: no threads, files, clocks, exceptions"
        return None
    if f"src/{include}" in tree.files:
        other = include.split("/")[0]
        return None if other == own.name else f"private header of {other}"
    beside = "/".join(source.parts[:-1] + [include])
    if include in tree.files or beside in tree.files or f"tests/{include}" in tree.files:
        return None
    return "unknown header; teach tests/tidy/modules.py what it belongs to"


def check_document(tree):
    """The table in docs/architecture.md says what cmake/modules.cmake says."""
    modules, _ = read_tables(tree)
    page = "docs/architecture.md"
    rows, problems = {}, []
    for number, line in enumerate(tree.files[page].lines if page in tree.files else [], 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        match = re.match(r"`(\w+)`( p)?$", cells[0])
        if match and len(cells) == 4:
            rows[match.group(1)] = (number, bool(match.group(2)), words(cells[2]), words(cells[3]))
    for module in modules.values():
        if module.name not in rows:
            problems.append(Problem(page, 1, f"no row for module {module.name}"))
            continue
        number, portable, uses, third = rows.pop(module.name)
        names = {THIRD_PARTY[t][0] for t in module.third_party if t in THIRD_PARTY}
        for what, got, wanted in [("portable", portable, module.portable),
                                  ("may use", uses, set(module.uses)),
                                  ("third party", third - {"tl::expected"}, names)]:
            if got != wanted:
                problems.append(Problem(page, number, f"{module.name}, {what}: the page says "
                                        f"{show(got)}, cmake/modules.cmake {show(wanted)}"))
    for name, row in rows.items():
        problems.append(Problem(page, row[0], f"{name} has no row in cmake/modules.cmake"))
    return problems


def words(cell):
    return set() if cell == "-" else {word.strip() for word in cell.split(",")}


def show(value):
    return value if isinstance(value, bool) else ", ".join(sorted(value)) or "-"
