"""Every format of data, damaged in every way that is common: a clear message, 65 or 66, no hang."""

import gzip
import io
import os
import struct
import subprocess
import tempfile
import unittest
import zipfile

BIN = os.path.abspath(os.environ.get("COVEY_BIN", "build/release/bin"))

NODE = """
model: {{input: {input}, layers: [{layers}{{dense: {{units: 2}}}}]}}
data: {{train: {{{train}}}, batch: 1, cache: cache{more}}}
node: {{state_dir: state}}
"""


def idx(kind, extents, values):
    return struct.pack(">HBB", 0, kind, len(extents)) + b"".join(
        struct.pack(">I", extent) for extent in extents) + values


def npy(header, values):
    text = header.encode().ljust(64 - 10 - 1 if len(header) < 53 else 117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + values


def npz(**arrays):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in arrays.items():
            archive.writestr(name + ".npy", content)
    return file.getvalue()


IMAGES = idx(8, [4, 2], bytes(8))
LABELS = idx(8, [4], bytes([0, 1, 0, 1]))
NPY = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4, 2), }", bytes(32))
TABLE = b"x,y,label\n1,2,a\n3,4,b\n5,6,a\n"
PGM = b"P5 2 2 255\n" + bytes(4)

# name: (how the file is named in the section, the other parts of it, content)
GOOD = {
    "idx": ("images", ", labels: labels", IMAGES),
    "gz": ("images", ", labels: labels", gzip.compress(IMAGES)),
    "npy": ("images", ", labels: labels", NPY),
    "csv": ("csv", "", TABLE),
    "cifar": ("cifar", "", bytes([1]) + bytes(3072)),
    "text": ("text", "", b"abababab"),
}
WINDOW = {"cifar": "[32, 32, 3]", "text": "[2]"}

BAD = {
    "idx": [IMAGES[:-1], IMAGES + b"x", b"\x00\x00\x07\x02" + IMAGES[4:], IMAGES[:3],
            idx(8, [2 ** 31, 2], bytes(8)), idx(8, [2 ** 32 - 1] * 4, b""),
            idx(8, [0, 2], b""), idx(8, [4, 3], bytes(12)), idx(13, [4, 2], b"\x7f\xc0\0\0" * 8),
            idx(8, [5, 2], bytes(10)), b"GIF89a", idx(8, [1] * 9, b"\0")],
    "gz": [gzip.compress(IMAGES)[:-5], gzip.compress(IMAGES)[:12],
           gzip.compress(IMAGES + bytes(1 << 20)), gzip.compress(b"no idx in it"),
           gzip.compress(idx(8, [2 ** 31, 2 ** 20], b"")), gzip.compress(IMAGES) + b"tail",
           b"\x1f\x8b" + bytes(30)],
    "npy": [NPY[:-1], NPY + b"x", NPY[:9], NPY[:20], NPY.replace(b"<f4", b"|O8"),
            NPY.replace(b"False", b"True"), NPY.replace(b"(4, 2)", b"(2147483648, 2147483648)"),
            NPY.replace(b"(4, 2)", b"(-4, 2)"), NPY.replace(b"(4, 2)", b"(5, 2)"),
            NPY.replace(b"\x01\x00", b"\x09\x00", 1), NPY[:-32] + b"\x00\x00\xc0\x7f" * 8],
    "csv": [b"x,y,label\n1,2\n", b"x,y,label\n1,2,a,b\n", b"x,y,label\n1,nan,a\n3,4,b\n",
            b"x,y,label\n1,,a\n", b"x,y,label\n1,\"2,a\n", b"x,y,label\n", b"\n\n",
            b"x,y,label\n1,2,a\0\n", TABLE.decode().encode("utf-16"),
            b"x,label\n1,a\n2,b\n", b"x,y,label\n1,2,a\n1,2,b\n1,2,c\n",
            b"x,y,label\n" + b"1" * (2 << 20), b"\xef\xbb\xbf"],
    "cifar": [bytes(3072), bytes([10]) + bytes(3072), b"x", bytes(3073 * 2 - 1)],
    "text": [b"ab", b"abc\xff", b"abcabc", "a\ud800b".encode("utf-8", "surrogatepass")],
}


class Malformed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("labels", LABELS)

    def write(self, name, content):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)

    def check(self, train, input_shape="[2]", layers="", more=""):
        self.write("node.yaml", NODE.format(train=train, input=input_shape, layers=layers,
                                            more=more).encode())
        done = subprocess.run([os.path.join(BIN, "coveyd"), "--config", "node.yaml", "--check"],
                              cwd=self.folder, capture_output=True, text=True, timeout=60,
                              env={**os.environ, "JOURNAL_STREAM": ""})
        return done.returncode, done.stderr

    def check_file(self, form, name="data"):
        key, beside, _ = GOOD[form]
        layers = "{one_hot: {symbols: 2}}, " if form == "text" else ""
        return self.check(f"{key}: {name}{beside}", WINDOW.get(form, "[2]"), layers)

    def test_all_that_is_wrong(self):
        for form, contents in BAD.items():
            for content in contents:
                with self.subTest(form=form, start=content[:40], size=len(content)):
                    self.write("data", content)
                    code, error = self.check_file(form)
                    self.assertEqual(code, 65, error)
                    self.assertIn("data", error)

    def test_what_is_no_file_at_all(self):
        os.mkfifo(os.path.join(self.folder, "fifo"))
        os.mkdir(os.path.join(self.folder, "folder"))
        self.write("empty", b"")
        for form in GOOD:
            for name, codes in (("fifo", {65}), ("empty", {65}), ("folder", {65, 66}),
                                ("nowhere", {66})):
                with self.subTest(form=form, name=name):
                    code, error = self.check_file(form, name)
                    self.assertIn(code, codes, error)
                    self.assertIn(name, error)

    def test_the_good_ones_are_good(self):
        for form, (_, _, content) in GOOD.items():
            with self.subTest(form=form):
                if form == "cifar":  # ten classes, and the model here has two
                    continue
                self.write("data", content)
                code, error = self.check_file(form)
                self.assertEqual(code, 0, error)
        for content in (b"\xef\xbb\xbf" + TABLE, TABLE.replace(b"\n", b"\r\n"), TABLE[:-1],
                        TABLE.replace(b",", b";"), TABLE.replace(b",a\n", b',"a"\n')):
            self.write("data", content)
            self.assertEqual(self.check_file("csv")[0], 0, content)

    def test_archives(self):
        good = npz(x=NPY, y=npy("{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }",
                                bytes([0, 1, 0, 1])))
        self.write("set.npz", good)
        self.assertEqual(self.check("images: 'set.npz:x', labels: 'set.npz:y'")[0], 0)
        code, error = self.check("images: 'set.npz:z', labels: 'set.npz:y'")
        self.assertEqual(code, 65, error)
        for content in (good[:-30], good[:40], b"PK\x03\x04", good.replace(b"x.npy", b"w.npy"),
                        good[:60] + bytes([good[60] ^ 255]) + good[61:]):
            self.write("set.npz", content)
            code, error = self.check("images: 'set.npz:x', labels: 'set.npz:y'")
            self.assertEqual(code, 65, (content[:20], error))
            self.assertIn("set.npz", error)

    def test_images(self):
        good = {"photos/a/1.pgm": PGM, "photos/b/1.pgm": PGM}
        for content in (PGM[:-1], b"P5 2 2 70000\n" + bytes(4), b"P5 99999999 99999999 255\n",
                        b"\x89PNG\r\n\x1a\n" + bytes(40), b"\xff\xd8\xff\xe0" + bytes(40), b"text",
                        b"P5 3 2 255\n" + bytes(6)):
            for name, image in good.items():
                self.write(name, image)
            self.write("photos/b/1.pgm", content)
            code, error = self.check("folder: photos", "[2, 2]")
            self.assertEqual(code, 65, (content[:20], error))
            self.assertIn("photos/b/1.pgm", error)


if __name__ == "__main__":
    unittest.main()
