"""The programs that are compared: how each is built, started and asked for a window of training.

The protocol, the same for all of them:
  arguments         --workload W --batch B --threads T --seconds S, and what else a program needs
  first line        once data and model are ready: a JSON object, with "version" if it has one
  for each line of  trains until S seconds are over and prints {"samples", "seconds", "cpu_seconds",
  standard input    "loss"}: samples trained, wall and processor time they took, their mean loss
  end of input      ends
Between requests a program waits in a read, so several can be up at once and take turns.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "peers"
PYTHON = "/usr/bin/python3"  # python3-torch belongs to Debian's interpreter
FASHION = "/usr/share/datasets/fashion-mnist"
INSTALL = "scripts/setup --bench installs what the peers need"


class Unavailable(Exception):
    """A program can't be built or started here; the text says what to do."""


def call(command, folder=ROOT):
    print(f"run: {' '.join(map(str, command))}", file=sys.stderr)
    done = subprocess.run(command, cwd=folder, stdout=sys.stderr, check=False)
    if done.returncode != 0:
        raise Unavailable(f"{command[0]} failed with {done.returncode}; {INSTALL}")


def needed(program):
    found = shutil.which(program)
    if not found:
        raise Unavailable(f"{program} is not installed; {INSTALL}")
    return found


def stamped(name, inputs, make):
    """Calls make() unless it succeeded before on the same content of the input files."""
    digest = hashlib.sha256(b"".join(Path(path).read_bytes() for path in inputs)).hexdigest()
    stamp = BUILD / f"{name}.stamp"
    if stamp.exists() and stamp.read_text(encoding="ascii") == digest:
        return
    make()
    stamp.write_text(digest, encoding="ascii")


def compiled(name, flags):
    source = HERE / f"{name}.cc"
    target = BUILD / name
    command = [needed("g++"), "-O2", "-std=c++17", source, "-o", target, *flags]
    stamped(name, [source, HERE / "window.h"], lambda: call(command))
    return [target]


def raw_data(folder):
    """The data as plain binary files, for the peers that are written in C++."""
    def make():
        call([PYTHON, "-c", "import sys; import made; made.write(*sys.argv[1:])", folder, BUILD],
             HERE)

    sources = [HERE / "made.py", Path(folder) / "train-labels-idx1-ubyte.gz"]
    if not sources[1].exists():
        raise Unavailable(f"{sources[1]} is missing: --data FOLDER has Fashion-MNIST's four files")
    stamped("data", sources, make)
    return ["--data", BUILD]


def ours(options):
    if options.bin:
        program = Path(options.bin).resolve() / "bench_train"
        if not program.exists():
            raise Unavailable(f"{program} is missing")
        return [program, "--serve", "--data", options.data]
    if not (ROOT / "build" / "release" / "build.ninja").exists():
        call(["cmake", "--preset", "release"])
    call(["cmake", "--build", "build/release", "--target", "bench_train"])
    return [ROOT / "build" / "release" / "bin" / "bench_train", "--serve", "--data", options.data]


def torch(options):
    return [PYTHON, HERE / "torch_peer.py", "--data", options.data]


def libtorch(options):
    flags = ["-I/usr/include/torch/csrc/api/include", "-ltorch", "-ltorch_cpu", "-lc10", "-pthread"]
    return compiled("libtorch_peer", flags) + raw_data(options.data)


def fann(options):
    return compiled("fann_peer", ["-lfloatfann", "-lm"]) + raw_data(options.data)


def tfjs(_):
    folder = BUILD / "tfjs"
    lists = [HERE / "tfjs" / "package.json", HERE / "tfjs" / "package-lock.json"]

    def install():
        folder.mkdir(exist_ok=True)
        for path in lists:
            shutil.copy(path, folder)
        call([needed("npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund"], folder)

    stamped("tfjs", lists, install)
    return [needed("node"), HERE / "tfjs" / "lstm.js"]


MAKERS = {"ours": ours, "torch": torch, "libtorch": libtorch, "fann": fann, "tfjs": tfjs}


class Makers:
    """The command of each program, built at its first use; one failure is remembered."""

    def __init__(self, options):
        self.options = options
        self.made = {}
        BUILD.mkdir(parents=True, exist_ok=True)

    def command(self, name):
        if name not in self.made:
            try:
                self.made[name] = MAKERS[name](self.options)
            except Unavailable as problem:
                self.made[name] = problem
        if isinstance(self.made[name], Unavailable):
            raise self.made[name]
        return self.made[name]


class Running:
    """A started program that is ready to train. Use as a context."""

    def __init__(self, command, threads):
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS="1",
                           NODE_PATH=str(BUILD / "tfjs" / "node_modules"))
        try:
            self.process = subprocess.Popen(list(map(str, command)), env=environment, text=True,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as problem:
            raise Unavailable(f"{command[0]}: {problem.strerror}") from problem
        self.version = self.answer().get("version", "")

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            name = Path(self.process.args[0]).name
            hint = "" if name == "bench_train" else f"; {INSTALL}"
            raise Unavailable(f"{name} ended with {self.process.wait()}{hint}")
        return json.loads(line)

    def window(self):
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has died: answer() says how
        return self.answer()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.wait()
