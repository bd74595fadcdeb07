"""The data that both sides train on: Fashion-MNIST from its files, everything else from a formula.

The formulas use 32-bit integers, so that C++ (bench/workloads.h) and JavaScript (tfjs/lstm.js)
compute the same bytes. Speed depends on shapes, not on what the numbers mean.
"""

import gzip
from pathlib import Path

import numpy

PICTURES = 8192
SAMPLES, INPUTS, OUTPUTS = 30000, 13, 8
WINDOWS, STEPS, SYMBOLS = 20000, 40, 100


def words(seed, count):
    """Pseudo-random 32-bit words: a mixed counter. Source of the mixer: Wellons, "lowbias32"."""
    x = numpy.arange(count, dtype=numpy.uint32) * numpy.uint32(0x9E3779B9) + numpy.uint32(seed)
    x ^= x >> numpy.uint32(16)
    x *= numpy.uint32(0x7FEB352D)
    x ^= x >> numpy.uint32(15)
    x *= numpy.uint32(0x846CA68B)
    x ^= x >> numpy.uint32(16)
    return x


def idx(folder, name, header):
    with gzip.open(Path(folder) / f"{name}.gz") as file:
        return numpy.frombuffer(bytearray(file.read()), dtype=numpy.uint8, offset=header)


def fashion(folder, part="train"):
    """Images [n, 784] and labels [n] as bytes."""
    return (idx(folder, f"{part}-images-idx3-ubyte", 16).reshape(-1, 784),
            idx(folder, f"{part}-labels-idx1-ubyte", 8))


def pictures():
    """Images [n, 32, 32, 3] of random bytes, and random labels below 10."""
    images = (words(2, PICTURES * 32 * 32 * 3) >> numpy.uint32(24)).astype(numpy.uint8)
    labels = (words(3, PICTURES) % numpy.uint32(10)).astype(numpy.uint8)
    return images.reshape(-1, 32, 32, 3), labels


def regression():
    """Inputs [n, 13] in [0, 1) and targets [n, 8]: 0.1 + 0.8 x_k x_(k+5)."""
    inputs = (words(4, SAMPLES * INPUTS) >> numpy.uint32(8)).astype(numpy.float32)
    inputs = inputs.reshape(-1, INPUTS) * numpy.float32(2 ** -24)
    return inputs, (0.1 + 0.8 * inputs[:, :OUTPUTS] * inputs[:, 5:]).astype(numpy.float32)


def text():
    """Windows [n, 40] of symbols and the symbol [n] that follows each: a text of random symbols."""
    symbols = (words(5, WINDOWS + STEPS) % numpy.uint32(SYMBOLS)).astype(numpy.int64)
    windows = numpy.lib.stride_tricks.sliding_window_view(symbols, STEPS)[:WINDOWS]
    return windows.copy(), symbols[STEPS:]


def write(folder, target):
    """All of it but the pictures and the text, as raw little-endian files."""
    images, labels = fashion(folder)
    inputs, targets = regression()
    for name, part in {"images": images, "labels": labels, "inputs": inputs,
                       "targets": targets}.items():
        part.tofile(Path(target) / f"{name}.bin")
