"""Daemons with one thread, two, and as many as they choose themselves: the same model, bit by bit,
where samples are split among threads and numerics are portable."""
import json
import pathlib
import re
import struct

from tiny import check, folder, make, run

# Each with the samples of a step: those of the whole gradient are split by samples into parts.
OPTIMIZERS = {
    "irprop_plus": ("{kind: irprop_plus}", "all"),
    "backprop": ("{kind: backprop, learning_rate: 0.5, blend: 0.8}", "all"),
    "adam": ("{kind: adam, learning_rate: 0.01}", "50"),
}
ROUNDS = {"irprop_plus": 60, "backprop": 60, "adam": 10}


def tensors(path):
    """The parameters of a safetensors file, as bytes."""
    content = path.read_bytes()
    return content[8 + struct.unpack("<Q", content[:8])[0]:]


def train(here, optimizer, threads):
    settings, batch = OPTIMIZERS[optimizer]
    path = make(here, epochs=ROUNDS[optimizer])
    text = path.read_text()
    text = re.sub(r"optimizer: .*", f"optimizer: {settings}", text)
    text = text.replace("  batch: 10\n", f"  batch: {batch}\n")
    text = text.replace("model:\n", f"node: {{threads: {threads}}}\nmodel:\n  numerics: portable\n")
    path.write_text(text)
    code, out, err = run(["run", path, "--nodes", "1", "--controls", "none", "--mode", "process",
                          "--weights-drop", "0", "--deltas-drop", "0", "--quiet", "--json"], here)
    check(code == 0, optimizer, threads, code, out, err)
    results = pathlib.Path(here) / "runs" / "latest"
    check(f"threads: {threads}\n" in (results / "config.resolved.yaml").read_text(), threads)
    return json.loads(out)["consensus"]["accuracy"], tensors(results / "model/model.safetensors")


with folder() as place:
    for name in OPTIMIZERS:
        accuracy, one = train(place, name, "1")
        check(accuracy > 0.7, name, accuracy)
        for count in ("2", "auto"):
            check(train(place, name, count) == (accuracy, one), name, count, "another model")
