#!/usr/bin/env python3
"""What is wrong with a list of gates is found, and a test that passes without its gate is too."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import catalogue

HERE = Path(__file__).resolve().parent
LIST = """# A comment.
gate  limit
file  src/a/door.cc
- if (x > 3) return;
+
test  unit_a_test Door.Limit
"""
GOOD = {
    "src/a/door.cc": "void F(int x) {\n  if (x > 3) return;\n  G();\n  G();\n}\n",
    "tests/unit/a/door_test.cc": "TEST(Door, Limit) {}\nTEST(Door, Other) {}\n",
    "tests/e2e/d/door_test.py": "class Doors(TestCase):\n    def test_limit(self):\n",
    "docs/robustness.md": "| what happens | what Covey does | tests |\n| --- | --- | --- |\n"
                          "| too many | they wait | `Door.Limit` |\n"
                          "| a storm | it passes | `tests/e2e/d/door_test.py` |\n",
    "tests/gates/list.gates": LIST + "\nnone  a storm\nwhy   Nobody stops the wind.\n",
}
# Python instead of a compiler: the test reads the source.
CMAKE = "#!/bin/sh\nmkdir -p build/gates/build/bin && : > build/gates/build/build.ninja\n"
NINJA = """#!/bin/sh
cat > build/gates/build/bin/unit_a_test <<'end'
#!/bin/sh
%s
end
chmod +x build/gates/build/bin/unit_a_test
"""


class Sample(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        for name, text in GOOD.items():
            self.write(name, text)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def gates(self, *words):
        search = f"{self.root}/tools:{os.environ['PATH']}"
        done = subprocess.run([sys.executable, HERE / "gates.py", *words, "--root", self.root],
                              capture_output=True, text=True, cwd=self.root,
                              env=dict(os.environ, PATH=search))
        return done.returncode, done.stdout + done.stderr


class Check(Sample):
    def expect(self, words, **changed):
        for name, text in changed.items():
            self.write({"lists": "tests/gates/list.gates", "source": "src/a/door.cc",
                        "document": "docs/robustness.md"}[name], text)
        problems, _ = catalogue.check(self.root)
        self.assertTrue(any(words in problem for problem in problems), problems)
        self.assertEqual(self.gates("check")[0], 1)

    def test_a_good_list_passes(self):
        self.assertEqual(self.gates("check"), (0, "gates: 0 problems in 1 gates\n"))

    def test_text_that_is_gone_or_stands_twice(self):
        self.expect("stands 0 times", source="void F() {}\n")
        self.expect("stands 2 times", source="if (x > 3) return;\n" * 2)

    def test_a_test_that_does_not_exist_or_is_not_named(self):
        good = GOOD["tests/gates/list.gates"]
        self.expect("no such test", lists=good.replace("Door.Limit", "Door.Gone"))
        self.expect("names neither Door.Other", lists=good.replace("Door.Limit", "Door.Other"))

    def test_a_row_without_gate_and_reason(self):
        self.expect("'a storm' has neither", lists=LIST)

    def test_a_reason_for_nothing(self):
        good = GOOD["tests/gates/list.gates"]
        self.expect("no row", lists=good + "none  a flood\nwhy   It is wet.\n")
        self.expect("needs no reason", lists=good + "none  too many\nwhy   It is wet.\n")
        self.expect("has no reason", lists=LIST + "none  a storm\n")

    def test_what_disables_nothing_or_is_no_list(self):
        self.expect("disables nothing", lists=LIST.replace("+\n", "+ if (x > 3) return;\n"))
        self.expect("not understood", lists=LIST + "gates  x\n")
        self.expect("two gates", lists=LIST + LIST)

    def test_a_script_speaks_for_the_row_that_its_gate_names(self):
        script = LIST.replace("unit_a_test Door.Limit", "tests/e2e/d/door_test.py Doors.test_limit")
        script = script.replace("gate  limit", "gate  wind")
        self.expect("'a storm' has neither", lists=LIST + script)
        self.write("tests/gates/list.gates", LIST + script + "row   a storm\n")
        self.assertEqual(self.gates("check")[0], 0)


class Run(Sample):
    def run_with(self, test):
        for name, text in (("cmake", CMAKE), ("ninja", NINJA % test)):
            self.write(f"tools/{name}", text).chmod(0o755)
        return self.gates("run")

    def test_a_gate_that_is_held(self):
        code, out = self.run_with('grep -q "x > 3" "$COVEY_SOURCE/src/a/door.cc"')
        self.assertEqual((code, out), (0, "held: limit: Door.Limit failed\n"
                                          "1 of 1 gates are held by their tests\n"))
        text = (self.root / "build/gates/tree/src/a/door.cc").read_text()
        self.assertEqual(text, GOOD["src/a/door.cc"])

    def test_a_gate_that_nothing_holds(self):
        code, out = self.run_with("exit 0")
        self.assertEqual(code, 1)
        self.assertIn("SURVIVES: limit: Door.Limit PASSES", out)
        self.assertIn("0 of 1 gates", out)

    def test_a_crash_is_a_failure(self):
        code, out = self.run_with('grep -q "x > 3" "$COVEY_SOURCE/src/a/door.cc" || kill -6 $$')
        self.assertEqual(code, 0)
        self.assertIn("crashed with signal 6", out)

    def test_a_test_that_fails_by_itself(self):
        code, out = self.run_with("exit 1")
        self.assertEqual(code, 1)
        self.assertIn("failed although nothing is disabled", out)


if __name__ == "__main__":
    unittest.main()
