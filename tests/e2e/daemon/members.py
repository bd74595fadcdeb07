"""Nodes that let each other in by key."""

import json
import os
import subprocess
import time

from fixture import BIN, LONG, FleetTest, edit


class MembersTest(FleetTest):
    def init(self, *names, **values):
        """Makes their keys; every node lets in all of them. Returns: name -> key."""
        keys = {}
        for name in names:
            done = subprocess.run([os.path.join(BIN, "coveyd"), "--init", "--config",
                                   self.config(name, mode="curve")], capture_output=True,
                                  text=True, timeout=LONG)
            self.assertEqual(done.returncode, 0, done.stderr)
            keys[name] = done.stdout.strip().removeprefix("key=")
        self.keys = keys
        return keys

    def node(self, name, seed=None, extra=(), flags=(), **values):
        """Starts a node that knows all keys and the address of one peer at most."""
        seeds = ""
        if seed is not None:
            seeds = f"{{key: {seed.key}, address: '{seed.listen.removeprefix('tcp://')}'}}"
        path = self.config(name, mode="curve", index=list(self.keys).index(name), seeds=seeds,
                           keys=", ".join(self.keys.values()), **values)
        edit(path, *extra)
        return self.start(path, *flags).ready()

    def peers(self, daemon):
        table = json.loads(self.covey("peers", "--json", "--socket", daemon.api))
        self.assertEqual(table["schema"], "covey.peers/1")
        return {peer["key"]: peer for peer in table["peers"]}

    def wait_peers(self, daemon, reached):
        end = time.monotonic() + LONG
        while time.monotonic() < end:
            peers = self.peers(daemon)
            if reached(peers):
                return peers
            time.sleep(0.05)
        self.fail(f"never reached; last: {peers}")

    def linked(self, *daemons):
        """Waits until each has links to all others."""
        for daemon in daemons:
            others = {other.key for other in daemons} - {daemon.key}
            self.wait_peers(daemon, lambda peers: others <= {
                key for key, peer in peers.items() if peer["linked"]})

    def remembered(self, name, *others):
        """Waits until the file of a node names these peers."""
        end = time.monotonic() + LONG
        while time.monotonic() < end:
            try:
                with open(os.path.join(self.state(name), "peers")) as file:
                    text = file.read()
            except FileNotFoundError:
                text = ""
            if all(other.key in text for other in others):
                return
            time.sleep(0.05)
        self.fail(f"the file of {name} never named them: {text}")

    def exchanging(self, daemon):
        self.wait_status(daemon, lambda s: min(s["traffic"]["weights_received"],
                                               s["traffic"]["deltas_received"]) > 0)

    def kill(self, daemon):
        daemon.kill()
        self.daemons.remove(daemon)
