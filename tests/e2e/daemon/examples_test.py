"""The Python examples, with a real daemon; ROS 2 is a stand-in."""

import json
import os
import subprocess
import sys
import tempfile
import types
import unittest

from fixture import FleetTest

SOURCE = os.environ.get("COVEY_SOURCE", ".")
SAMPLE = [10.0] * 8 + [240.0] * 8  # bright in the rows of class 2

try:
    import google.protobuf  # noqa: F401
    import zmq  # noqa: F401
except ImportError:
    print("skipped: python3-zmq or python3-protobuf is not installed")
    sys.exit(0)

PROTOS = tempfile.TemporaryDirectory()
subprocess.run(["protoc", f"--python_out={PROTOS.name}", "-I", os.path.join(SOURCE, "proto"),
                "covey/v1/api.proto"], check=True)
sys.path[:0] = [PROTOS.name, os.path.join(SOURCE, "examples", "python"),
                os.path.join(SOURCE, "examples", "ros2")]


class LifecycleNode:
    """As much of rclpy.lifecycle as the bridge uses."""

    def __init__(self, name):
        self.name = name
        self.parameters = {}
        self.lines = []
        self.published = []
        self.callbacks = {}

    def declare_parameter(self, name, value):
        self.parameters[name] = types.SimpleNamespace(value=value)

    def get_parameter(self, name):
        return self.parameters[name]

    def get_logger(self):
        add = self.lines.append
        return types.SimpleNamespace(info=add, warning=add, error=add)

    def create_publisher(self, kind, topic, depth):
        return types.SimpleNamespace(publish=lambda message: self.published.append(message))

    def create_subscription(self, kind, topic, callback, depth):
        self.callbacks[topic] = callback
        return topic

    def destroy_subscription(self, topic):
        del self.callbacks[topic]

    def destroy_publisher(self, publisher):
        pass


def install_stand_ins():
    def module(name, **content):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__dict__.update(content)

    message = types.SimpleNamespace
    module("rclpy")
    module("rclpy.lifecycle", LifecycleNode=LifecycleNode,
           TransitionCallbackReturn=types.SimpleNamespace(SUCCESS="success", FAILURE="failure"))
    module("std_msgs")
    module("std_msgs.msg", Float32MultiArray=message, String=message)


class Examples(FleetTest):
    def trained(self):
        daemon = self.start(self.config(until="{epochs: 40}")).ready()
        self.wait_status(daemon, lambda s: s["state"] == "done")
        return daemon

    def test_python_client(self):
        from covey_client import Covey
        node = Covey(self.trained().api)
        self.assertEqual(node.status().name, "a")
        first, second = node.predict([SAMPLE, SAMPLE[::-1]], top=2)
        self.assertEqual(first.classes[0].label, "2")
        self.assertEqual(len(second.classes), 2)
        with self.assertRaisesRegex(RuntimeError, "wanted 16"):
            node.predict([[1, 2]])
        node.close()

    def test_ros2_bridge(self):
        install_stand_ins()
        from covey_bridge import CoveyBridge
        daemon = self.trained()
        bridge = CoveyBridge()
        bridge.parameters["api"].value = daemon.api
        self.assertEqual(bridge.on_configure(None), "success")
        bridge.on_activate(None)
        bridge.callbacks["~/sample"](types.SimpleNamespace(data=SAMPLE))
        self.assertEqual(json.loads(bridge.published[0].data)["classes"][0]["label"], "2")
        bridge.callbacks["~/sample"](types.SimpleNamespace(data=[1.0]))
        self.assertEqual(len(bridge.published), 1)
        self.assertIn("wanted 16", bridge.lines[-1])
        bridge.on_deactivate(None)
        bridge.on_cleanup(None)
        self.assertEqual(bridge.callbacks, {})


if __name__ == "__main__":
    unittest.main()
