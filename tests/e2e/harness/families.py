"""One small run for each family of models: images, symbols, 16-bit windows, regression."""
import json
import math
import pathlib
import random
import struct

from tiny import check, folder, run

TYPES = {"B": 0x08, "h": 0x0B, "f": 0x0D}


def write_idx(path, shape, values, kind="B"):
    head = struct.pack(">BBBB", 0, 0, TYPES[kind], len(shape))
    head += b"".join(struct.pack(">I", extent) for extent in shape)
    path.write_bytes(head + struct.pack(f">{len(values)}{kind}", *values))


def images(here, name, count, draw):
    """A bright quadrant of four."""
    pixels, labels = [], []
    for _ in range(count):
        label = draw.randrange(4)
        labels.append(label)
        for y in range(8):
            for x in range(8):
                bright = (y // 4) * 2 + x // 4 == label
                pixels.append((110 if bright else 0) + draw.randrange(140))
    write_idx(here / f"{name}-images", (count, 8, 8, 1), pixels)
    write_idx(here / f"{name}-answers", (count,), labels)


def symbols(here, name, count, draw):
    """The label is the symbol in the middle of a sequence: something has to be remembered."""
    text, labels = [], []
    for _ in range(count):
        row = [draw.randrange(5) for _ in range(7)]
        text += row
        labels.append(row[4])
    write_idx(here / f"{name}-images", (count, 7), text)
    write_idx(here / f"{name}-answers", (count,), labels)


def windows(here, name, count, draw):
    """Waves of three speeds in two channels of 16 bits."""
    values, labels = [], []
    for _ in range(count):
        label = draw.randrange(3)
        labels.append(label)
        phase = draw.random() * 6
        for t in range(32):
            wave = math.sin(phase + t * (0.25, 0.7, 1.6)[label])
            values += [int(12000 * wave + draw.gauss(0, 1500)), int(draw.gauss(0, 5000))]
    write_idx(here / f"{name}-images", (count, 32, 2), values, "h")
    write_idx(here / f"{name}-answers", (count,), labels)


def numbers(here, name, count, draw):
    """Two smooth functions of three numbers, with a little noise."""
    inputs, targets = [], []
    for _ in range(count):
        a, b, c = (draw.uniform(-1, 1) for _ in range(3))
        inputs += [a, b, c]
        targets += [a * b + c + draw.gauss(0, 0.02), math.sin(2 * a) - b + draw.gauss(0, 0.02)]
    write_idx(here / f"{name}-images", (count, 3), inputs, "f")
    write_idx(here / f"{name}-answers", (count, 2), targets, "f")


EXPERIMENT = """
experiment: {{name: {name}, nodes: 2, partition: {{kind: iid}}, mode: {mode}, seed: 5}}
{expect}
model:
{model}
data:
  train: {{images: {here}/train-images, {answers}: {here}/train-answers}}
  test: {{images: {here}/test-images, {answers}: {here}/test-answers}}
  validation: {{last: 100}}
  batch: 10
  cache: {here}/cache
train:
  optimizer: {{kind: adam, learning_rate: 0.01}}
  until: {{epochs: {epochs}}}
consensus: {{batches: 5, sends: 1}}
"""


def train(name, write, model, *, answers="labels", expect="", epochs=4, mode="virtual"):
    with folder() as path:
        here = pathlib.Path(path)
        write(here, "train", 700, random.Random(1))
        write(here, "test", 200, random.Random(2))
        file = here / f"{name}.yaml"
        file.write_text(EXPERIMENT.format(name=name, model=model, answers=answers, expect=expect,
                                          epochs=epochs, mode=mode, here=here))
        code, out, err = run(["run", file, "--quiet", "--json"], here)
        check(code == 0, name, code, out, err)
        latest = here / "runs" / "latest"
        report = (latest / "report.html").read_text()
        lines = [json.loads(line) for line in (latest / "metrics.jsonl").read_text().splitlines()]
        check(lines, name, "no evaluation")
        return json.loads(out)["consensus"], lines[-1], report


cnn, _, _ = train("cnn", images, expect="expect: {accuracy: 0.9}", model="""
  input: [8, 8, 1]
  layers:
    - conv2d: {filters: 4, kernel: 3, activation: relu}
    - max_pool2d: {size: 2}
    - flatten
    - dropout: {rate: 0.1}
    - dense: {units: 4}
""")
check("r2" not in cnn, cnn)

train("lstm", symbols, expect="expect: {accuracy: 0.8}", epochs=12, model="""
  input: [7]
  layers:
    - one_hot: {symbols: 5}
    - lstm: {units: 12, output: sequence}
    - lstm: {units: 12, gates: hard_sigmoid}
    - dense: {units: 5}
""")

train("embedding", symbols, epochs=1, model="""
  input: [7]
  layers:
    - embedding: {symbols: 5, size: 3}
    - lstm: {units: 4}
    - dense: {units: 5}
  numerics: portable
""")

train("windows", windows, expect="expect: {accuracy: 0.9}", epochs=6, model="""
  input: [1, 32, 2]
  layers:
    - conv2d: {filters: 6, kernel: [1, 5], stride: [1, 2], padding: same, activation: relu}
    - group_norm: {groups: 2}
    - max_pool2d: {size: [1, 4]}
    - dense: {units: 12, activation: tanh}
    - dense: {units: 3}
""")

for mode in ("virtual", "process"):
    found, line, report = train("regression", numbers, answers="targets", epochs=16, mode=mode,
                                model="""
  input: [3]
  layers:
    - dense: {units: 16, activation: tanh}
    - dense: {units: 2}
  loss: mean_squared_error
""")
    check(found["r2"] > 0.9 and found["loss"] < 0.1, found)
    check(0 < found["mean_absolute_error"] < 0.3, found)
    check("accuracy" not in found and "accuracy" not in found["last"], found)
    check("accuracy" not in line and "r2" in line, line)
    check("R2 0.9" in report and "accuracy" not in report.lower(), "report")
