"""The installed client library: another project finds it, compiles, links and asks a daemon."""

import os
import subprocess
import tempfile
import unittest

from fixture import BIN, FleetTest

SOURCE = os.environ.get("COVEY_SOURCE", ".")
SAMPLE = ["10"] * 8 + ["240"] * 8  # bright in the rows of class 2


class ClientLibrary(FleetTest):
    def test_another_project_uses_it(self):
        with tempfile.TemporaryDirectory() as folder:
            prefix, build = os.path.join(folder, "prefix"), os.path.join(folder, "build")

            def run(*command):
                done = subprocess.run(command, text=True, capture_output=True, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

            run("cmake", "--install", os.path.dirname(BIN), "--component", "dev",
                "--prefix", prefix)
            run("cmake", "-S", os.path.join(SOURCE, "examples", "cpp"), "-B", build,
                f"-DCMAKE_PREFIX_PATH={prefix}")
            run("cmake", "--build", build)
            ask = os.path.join(build, "ask")
            nobody = subprocess.run([ask, "/nowhere/api.sock", "1"], text=True,
                                    capture_output=True, check=False)
            self.assertEqual(nobody.returncode, 69, nobody.stderr)
            daemon = self.start(self.config(until="{epochs: 40}")).ready()
            self.wait_status(daemon, lambda s: s["state"] == "done")
            done = subprocess.run([ask, daemon.api, *SAMPLE], text=True, capture_output=True,
                                  check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout.startswith("2 "), done.stdout)


if __name__ == "__main__":
    unittest.main()
