#!/usr/bin/python3
"""The bar of bench_learning: the same network, data and settings in a plain PyTorch loop.

Prints the test accuracy after 5, 10 and 20 epochs for each seed, and the means.
"""

import argparse

import torch

import made
import torch_peer
from programs import FASHION

MILESTONES = (5, 10, 20)
BATCH = 32


def learn(seed, folder, test):
    torch.manual_seed(seed)
    options = argparse.Namespace(data=folder, batch=BATCH)
    model, step = torch_peer.mlp(options)
    images, labels = test
    accuracy = []
    for epoch in range(1, MILESTONES[-1] + 1):
        samples = 0
        while samples < 60000:
            samples += step()[0]
        if epoch in MILESTONES:
            with torch.no_grad():
                accuracy.append((model(images).argmax(1) == labels).float().mean().item())
    return accuracy


def row(name, values):
    print(f"{name:6}", *(f"{value:9.4f}" for value in values), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--data", default=FASHION)
    options = parser.parse_args()
    torch.set_num_threads(1)
    images, labels = made.fashion(options.data, "t10k")
    test = torch.from_numpy(images).float().div_(255), torch.from_numpy(labels).long()
    print("seed  ", *(f"{f'{epoch} epochs':>9}" for epoch in MILESTONES))
    results = []
    for seed in options.seeds:
        results.append(learn(seed, options.data, test))
        row(seed, results[-1])
    row("mean", [sum(column) / len(column) for column in zip(*results)])


if __name__ == "__main__":
    main()
