#!/usr/bin/env python3
"""Cuts the recordings of sp-sw-har (CC BY 4.0, doi 10.5281/zenodo.8398688) into windows as IDX.

    unpack-activity.py FOLDER OUT

FOLDER holds sXX/sXX_YY_sp.csv and sXX/sXX_YY_sw.csv somewhere below it. Windows are 128 samples
long (about 1.3 s) and overlap by half; a recording's rest is left out. Acceleration is stored in
1/500 m/s2, angular rate in 1/1000 rad/s, as 16-bit integers. A window's class is the one that most
of its samples have (of equals the earlier number). Devices are numbered 2 * (person - 1), plus 1
for the watch.
"""

import csv
import glob
import os
import re
import struct
import sys

CLASSES = ["SEATED", "STANDING_UP", "WALKING", "TURNING", "SITTING_DOWN"]
LENGTH = 128
STEP = 64
SCALES = [500] * 3 + [1000] * 3


def recordings(folder):
    """Yields (device, path) by person, execution and device."""
    found = []
    for path in glob.glob(os.path.join(folder, "**", "s*_*_s[pw].csv"), recursive=True):
        name = re.fullmatch(r"s(\d+)_(\d+)_s([pw])\.csv", os.path.basename(path))
        if name:
            device = 2 * (int(name[1]) - 1) + (name[3] == "w")
            found.append((int(name[1]), int(name[2]), device, path))
    for _, _, device, path in sorted(found):
        yield device, path


def windows(path):
    """Yields (values, class) of one recording."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    for start in range(0, len(rows) - LENGTH + 1, STEP):
        part = rows[start:start + LENGTH]
        values = [max(-32768, min(32767, round(float(cell) * scale)))
                  for row in part for cell, scale in zip(row, SCALES)]
        counts = [0] * len(CLASSES)
        for row in part:
            counts[CLASSES.index(row[7])] += 1
        yield values, counts.index(max(counts))


def write(path, kind, extents, body):
    with open(path, "wb") as file:
        file.write(struct.pack(f">HBB{len(extents)}I", 0, kind, len(extents), *extents))
        file.write(body)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    body, labels, devices = bytearray(), bytearray(), bytearray()
    for device, path in recordings(sys.argv[1]):
        for values, label in windows(path):
            body += struct.pack(f">{len(values)}h", *values)
            labels.append(label)
            devices.append(device)
    if not labels:
        sys.exit(f"unpack-activity: no recording below {sys.argv[1]}")
    os.makedirs(sys.argv[2], exist_ok=True)
    out = lambda name: os.path.join(sys.argv[2], name)
    write(out("windows-idx3-int16"), 0x0B, [len(labels), LENGTH, 6], body)
    write(out("labels-idx1-ubyte"), 0x08, [len(labels)], labels)
    write(out("devices-idx1-ubyte"), 0x08, [len(devices)], devices)


if __name__ == "__main__":
    main()
