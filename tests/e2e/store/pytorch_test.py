"""load_state_dict takes our safetensors as they are, and the module gives our answers."""

import json
import struct
from collections import OrderedDict

from zoo import models, report, skip, worst

try:
    import numpy
    import torch
    from torch import nn
except ImportError:
    skip("python3-torch")


def read_safetensors(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    metadata = header.pop("__metadata__")
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        values = numpy.frombuffer(data[begin:end], "<f4").reshape(entry["shape"]).copy()
        tensors[name] = torch.from_numpy(values)
    return tensors, metadata


class Last(nn.Module):
    """Of a sequence of states, the last."""

    def forward(self, states):
        return states[0][:, -1]


class Sequence(nn.Module):
    def forward(self, states):
        return states[0]


FUNCTIONS = {"relu": nn.ReLU, "leaky_relu": nn.LeakyReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid}


class Builder:
    """The modules that the metadata describe, under the names of the tensors."""

    def __init__(self, spec):
        self.modules = []
        self.counts = {}
        self.shape = spec["input"]
        self.spec = spec

    def add(self, kind, module):
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self.modules.append((f"{kind}{self.counts[kind]}", module))

    def function(self, name):
        if name != "linear":
            self.modules.append((f"function{len(self.modules)}", FUNCTIONS[name]()))

    def build(self):
        """None where PyTorch has no module of that function."""
        for layer in self.spec["layers"]:
            visit = getattr(self, layer["kind"], None)
            if visit is None or visit(layer) is False:
                return None
        return nn.Sequential(OrderedDict(self.modules))

    def size(self):
        return int(numpy.prod(self.shape))

    def dense(self, layer):
        if layer["activation"] not in ("linear", *FUNCTIONS):
            return False
        if len(self.shape) != 1:
            self.modules.append((f"flatten_{len(self.modules)}", nn.Flatten()))
        self.add("dense", nn.Linear(self.size(), layer["units"]))
        self.shape = [layer["units"]]
        last = layer is self.spec["layers"][-1]
        if not (last and self.spec["loss"] == "binary_crossentropy"):
            self.function(layer["activation"])
        return True

    def conv2d(self, layer):
        if layer["padding"] != "valid" or len(self.shape) != 3:
            return False
        height, width, channels = self.shape
        self.add("conv", nn.Conv2d(channels, layer["filters"], layer["kernel"], layer["stride"]))
        (kh, kw), (sh, sw) = layer["kernel"], layer["stride"]
        self.shape = [(height - kh) // sh + 1, (width - kw) // sw + 1, layer["filters"]]
        self.function(layer["activation"])
        return True

    def max_pool2d(self, layer):
        size, stride = layer["size"], [s or k for s, k in zip(layer["stride"], layer["size"])]
        self.add("pool", nn.MaxPool2d(size, stride))
        self.shape = [(n - k) // s + 1 for n, k, s in zip(self.shape, size, stride)
                      ] + self.shape[2:]
        return True

    def flatten(self, layer):
        self.add("flatten", nn.Flatten())
        self.shape = [self.size()]
        return self.spec["layers"][-1]["kind"] == "dense" and not any(
            one["kind"].endswith("norm") for one in self.spec["layers"])

    def dropout(self, layer):
        self.add("dropout", nn.Dropout(layer["rate"]))
        return True

    def activation(self, layer):
        self.function(layer["function"])
        return True

    def group_norm(self, layer):
        if len(self.shape) == 2:
            return False
        self.add("norm", nn.GroupNorm(layer["groups"], self.shape[-1], layer["epsilon"]))
        return True

    def layer_norm(self, layer):
        if len(self.shape) == 3:
            return False
        self.add("norm", nn.LayerNorm(self.shape[-1], layer["epsilon"]))
        return True

    def embedding(self, layer):
        if len(self.shape) != 1:
            return False
        self.add("embedding", nn.Embedding(layer["symbols"], layer["size"]))
        self.shape = self.shape + [layer["size"]]
        return True

    def lstm(self, layer):
        if layer["gates"] != "sigmoid":
            return False
        self.add("lstm", nn.LSTM(self.shape[1], layer["units"], batch_first=True))
        sequence = layer["output"] == "sequence"
        self.modules.append((f"state{len(self.modules)}", Sequence() if sequence else Last()))
        self.shape = [self.shape[0], layer["units"]] if sequence else [layer["units"]]
        return True


results = {}
for name, stem, facts in models():
    tensors, metadata = read_safetensors(stem + ".safetensors")
    spec = json.loads(metadata["covey.model"])
    module = Builder(spec).build()
    if module is None:
        continue
    module.load_state_dict(tensors)  # strict
    module.eval()
    inputs = torch.tensor(facts["input"]).reshape(facts["shape"])
    if name.startswith("embedding"):
        inputs = inputs.long()
    else:
        image = len(facts["shape"]) == 4
        if image:
            inputs = inputs.permute(0, 2, 3, 1)  # the numbers are listed with channels last
        of_all = inputs.reshape(len(inputs), -1, len(facts["mean"]))
        of_all = (of_all - torch.tensor(facts["mean"])) * torch.tensor(facts["scale"])
        inputs = of_all.reshape(inputs.shape)
        if image:
            inputs = inputs.permute(0, 3, 1, 2)
    with torch.no_grad():
        results[name] = worst(module(inputs).flatten().tolist(), facts["plain"])
report(results, 12)
