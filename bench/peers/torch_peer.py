#!/usr/bin/python3
"""PyTorch as a peer: trains one workload a window at a time (the protocol is in programs.py).

Debian's interpreter on purpose: python3-torch belongs to it. Everything that a loop could prepare
beforehand (float images, their layout, the one-hot rows of symbols) is prepared before the clock
runs.
"""

import argparse
import json
import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its own threads fight with those of PyTorch

import torch
from torch import nn

import made

VARIANTS = {"mlp": ["plain"], "cnn": ["nchw", "channels_last"], "rprop": ["full", "chunks"],
            "batch_backprop": ["full", "chunks"], "lstm": ["plain"]}
CHUNK = 1000  # samples whose gradient is added at once; this net then stays in the caches


class Epochs:
    """Batches of indices, in a new random order for each pass over the samples."""

    def __init__(self, samples, batch):
        self.samples, self.batch, self.at = samples, batch, samples

    def next(self):
        if self.at + self.batch > self.samples:
            self.order, self.at = torch.randperm(self.samples), 0
        self.at += self.batch
        return self.order[self.at - self.batch:self.at]


def classifier(model, optimizer, batches, inputs, labels):
    """The model and a step of the plain loop: one mini-batch of classified samples."""
    loss_of = nn.CrossEntropyLoss()

    def step():
        rows = batches.next()
        optimizer.zero_grad()
        loss = loss_of(model(inputs(rows)), labels[rows])
        loss.backward()
        optimizer.step()
        return len(rows), loss

    return model, step


def glorot(model):
    for layer in model:
        if isinstance(layer, (nn.Linear, nn.Conv2d)):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
    return model


def mlp(options):
    images, labels = made.fashion(options.data)
    images = torch.from_numpy(images).float().div_(255)
    model = glorot(nn.Sequential(nn.Linear(784, 72), nn.ReLU(), nn.Linear(72, 10)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-7)
    return classifier(model, optimizer, Epochs(len(images), options.batch),
                      lambda rows: images[rows], torch.from_numpy(labels).long())


def cnn(options):
    images, labels = made.pictures()
    images = torch.from_numpy(images).permute(0, 3, 1, 2).float().div_(255)
    layout = torch.contiguous_format if options.variant == "nchw" else torch.channels_last
    images = images.contiguous(memory_format=layout)
    model = glorot(nn.Sequential(
        nn.Conv2d(3, 16, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(1152, 128), nn.ReLU(), nn.Dropout(0.5),
        nn.Linear(128, 10))).to(memory_format=layout)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-7)
    # Indexing forgets the layout for a batch of one only; "contiguous" is free otherwise.
    return classifier(model, optimizer, Epochs(len(images), options.batch),
                      lambda rows: images[rows].contiguous(memory_format=layout),
                      torch.from_numpy(labels).long())


def whole_set(options):
    """An epoch is a step: the gradient of all samples, at once or added up in chunks."""
    inputs, targets = (torch.from_numpy(part) for part in made.regression())
    model = nn.Sequential(nn.Linear(13, 100), nn.Sigmoid(), nn.Linear(100, 8), nn.Sigmoid())
    if options.workload == "rprop":
        optimizer = torch.optim.Rprop(model.parameters(), lr=0.1, etas=(0.5, 1.2),
                                      step_sizes=(1e-6, 50))
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    chunk = len(inputs) if options.variant == "full" else CHUNK

    def step():
        optimizer.zero_grad()
        total = 0
        for at in range(0, len(inputs), chunk):
            error = model(inputs[at:at + chunk]) - targets[at:at + chunk]
            loss = error.square().sum() / targets.numel()
            loss.backward()
            total = total + loss.detach()
        optimizer.step()
        return len(inputs), total

    return model, step


class Symbols(nn.Module):
    def __init__(self):
        super().__init__()
        self.recurrent = nn.LSTM(made.SYMBOLS, 50, num_layers=2, batch_first=True)
        self.out = nn.Linear(50, made.SYMBOLS)

    def forward(self, sequences):
        return self.out(self.recurrent(sequences)[0][:, -1])


def lstm(options):
    windows, following = (torch.from_numpy(part) for part in made.text())
    rows_of_symbols = torch.eye(made.SYMBOLS)
    model = Symbols()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01, alpha=0.9, eps=1e-7)
    return classifier(model, optimizer, Epochs(len(windows), options.batch),
                      lambda rows: rows_of_symbols[windows[rows]], following)


WORKLOADS = {"mlp": mlp, "cnn": cnn, "rprop": whole_set, "batch_backprop": whole_set, "lstm": lstm}


def window(step, seconds):
    samples, loss_sum = 0, 0.0
    began = time.perf_counter(), time.process_time()
    while samples == 0 or time.perf_counter() - began[0] < seconds:
        count, loss = step()
        samples += count
        loss_sum += count * loss.item()
    return {"samples": samples, "seconds": time.perf_counter() - began[0],
            "cpu_seconds": time.process_time() - began[1], "loss": loss_sum / samples}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workload", choices=WORKLOADS, required=True)
    parser.add_argument("--variant")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--data", help="folder of Fashion-MNIST")
    options = parser.parse_args()
    options.variant = options.variant or VARIANTS[options.workload][-1]
    if options.variant not in VARIANTS[options.workload]:
        parser.error(f"--variant: one of {VARIANTS[options.workload]}")
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    _, step = WORKLOADS[options.workload](options)
    print(json.dumps({"version": torch.__version__.split("a")[0]}), flush=True)
    for _ in sys.stdin:
        print(json.dumps(window(step, options.seconds)), flush=True)


if __name__ == "__main__":
    main()
