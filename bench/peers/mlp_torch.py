#!/usr/bin/python3
"""The plain PyTorch loop that throughput is compared with: 784-72-10, Adam, one thread.

Prints one JSON object: samples per second (median over the epochs after the first) and the accuracy
on the test set, so that a fast loop that learns nothing shows. On a busy machine only the rate by
CPU seconds means something. Needs packages-bench.txt.
"""

import argparse
import gzip
import json
import os
import statistics
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its own threads fight with those of PyTorch

import numpy
import torch

DATA = Path("/usr/share/datasets/fashion-mnist")


def idx(name, header):
    with gzip.open(DATA / f"{name}.gz") as file:
        return numpy.frombuffer(file.read(), dtype=numpy.uint8, offset=header)


def load(part):
    images = idx(f"{part}-images-idx3-ubyte", 16).reshape(-1, 784).astype(numpy.float32) / 255
    return torch.from_numpy(images), torch.from_numpy(idx(f"{part}-labels-idx1-ubyte", 8)
                                                      .astype(numpy.int64))


def epoch(model, optimizer, loss, images, labels, batch):
    """Seconds, and CPU seconds, for one pass over the data in random order."""
    order = torch.randperm(len(images))
    started = time.perf_counter(), time.process_time()
    for at in range(0, len(order), batch):
        rows = order[at:at + batch]
        optimizer.zero_grad()
        loss(model(images[rows]), labels[rows]).backward()
        optimizer.step()
    return time.perf_counter() - started[0], time.process_time() - started[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    images, labels = load("train")
    model = torch.nn.Sequential(torch.nn.Linear(784, 72), torch.nn.ReLU(), torch.nn.Linear(72, 10))
    for layer in (model[0], model[2]):
        torch.nn.init.xavier_uniform_(layer.weight)
        torch.nn.init.zeros_(layer.bias)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-7)
    loss = torch.nn.CrossEntropyLoss()
    seconds = [epoch(model, optimizer, loss, images, labels, options.batch)
               for _ in range(options.epochs)]
    with torch.no_grad():
        test_images, test_labels = load("t10k")
        accuracy = (model(test_images).argmax(1) == test_labels).float().mean().item()
    rate, cpu_rate = (round(statistics.median(len(images) / taken for taken in kind))
                      for kind in zip(*(seconds[1:] or seconds)))
    print(json.dumps({"program": f"PyTorch {torch.__version__}", "threads": options.threads,
                      "batch": options.batch, "epochs": options.epochs,
                      "samples_per_second": rate, "samples_per_cpu_second": cpu_rate,
                      "accuracy": round(accuracy, 4)}))


if __name__ == "__main__":
    main()
