"""covey check names all that would keep a node from running; the shell completes commands."""

import json
import os
import subprocess
import unittest

from fixture import BIN, FleetTest


class Check(FleetTest):
    def check(self, config):
        done = subprocess.run([os.path.join(BIN, "covey"), "check", "--json", config], text=True,
                              capture_output=True, check=False)
        findings = json.loads(done.stdout)["findings"]
        return done.returncode, {one["what"]: one for one in findings}

    def edited(self, *pairs):
        path = self.config()
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for old, new in pairs:
            self.assertIn(old, text)
            text = text.replace(old, new)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_a_good_node(self):
        code, found = self.check(self.config())
        self.assertEqual(code, 0, found)
        self.assertEqual(found["data"]["result"], "ok")
        self.assertIn("240 samples to train on, 60 to validate", found["data"]["text"])
        self.assertEqual(found["network.seeds"]["result"], "warning")
        self.assertIn("0 errors, 1 warning", self.covey("check", self.config()))

    def test_all_problems_at_once(self):
        daemon = self.start(self.config()).ready()
        port = daemon.listen.rsplit(":", 1)[1]
        path = self.edited(("127.0.0.1:0", f"127.0.0.1:{port}"), ("/labels}", "/nowhere}"))
        code, found = self.check(path)
        self.assertEqual(code, 66)
        self.assertIn("nowhere", found["data"]["text"])
        self.assertEqual(found["network.listen"]["result"], "error")
        self.assertEqual(found["network.listen"]["code"], 73)

    def test_a_door_that_is_taken(self):
        daemon = self.start(self.config()).ready()
        port = daemon.listen.rsplit(":", 1)[1]
        fleet = "fleet: {name: e2e"
        path = self.edited((fleet, f"{fleet}, operator_key: {'2' * 64}"),
                           ("  listen: 127.0.0.1:0",
                            f"  listen: 127.0.0.1:0\n  door: 127.0.0.1:{port}"))
        code, found = self.check(path)
        self.assertEqual(code, 73, found)
        self.assertEqual(found["network.listen"]["result"], "ok")
        self.assertEqual(found["network.door"]["result"], "error")
        self.assertIn(f"coveyd (pid {daemon.process.pid}) listens there",
                      found["network.door"]["text"])

    def test_an_interface_that_is_not_there(self):
        path = self.edited(("  listen: 127.0.0.1:0",
                            "  listen: 127.0.0.1:0\n  interfaces: [nosuch0]"))
        code, found = self.check(path)
        self.assertEqual(code, 0, found)
        self.assertEqual(found["network.interfaces"]["result"], "warning")
        self.assertIn("'nosuch0' is not there", found["network.interfaces"]["text"])

    def test_a_key_that_others_may_read(self):
        path = self.edited(("security: {", "security: {key_file: " + path_of_key(self) + ", "))
        code, found = self.check(path)
        self.assertEqual(code, 77)
        self.assertIn("chmod 600", found["security.key_file"]["text"])

    def test_a_missing_list_of_keys(self):
        path = self.edited(("security: {", "security: {authorized_keys_file: /nowhere/keys, "))
        code, found = self.check(path)
        self.assertEqual(code, 66)
        self.assertIn("/nowhere/keys", found["security.authorized_keys_file"]["text"])

    def test_a_bad_configuration(self):
        code, found = self.check(self.edited(("batch: 8", "batsch: 8")))
        self.assertEqual(code, 78)
        self.assertIn("did you mean", found["configuration"]["text"])

    def test_completion(self):
        self.assertIn("complete -o default -F _covey covey", self.covey("completion", "bash"))
        self.assertEqual(self.covey("__complete", "model", "ro"), "rollback\n")
        self.assertIn("--socket\n", self.covey("__complete", "predict", "--s"))


def path_of_key(test):
    path = os.path.join(test.folder, "open.key")
    with open(path, "w", encoding="utf-8") as file:
        file.write("x")
    os.chmod(path, 0o644)
    return path


if __name__ == "__main__":
    unittest.main()
