"""A ROS 2 lifecycle node between topics and a Covey daemon: a vector in, the model's answer out.

    configure   connects to the daemon (parameter `api`, "ipc:///run/covey/api.sock")
    activate    subscribes to `~/sample` (std_msgs/Float32MultiArray, raw numbers) and publishes
                `~/prediction` (std_msgs/String, JSON: label, probability)

Tested against a stand-in for rclpy; it has not been run with a real ROS 2.
"""

import json

import rclpy
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from std_msgs.msg import Float32MultiArray, String

from covey_client import Covey


class CoveyBridge(LifecycleNode):
    def __init__(self):
        super().__init__("covey_bridge")
        self.declare_parameter("api", "ipc:///run/covey/api.sock")
        self.declare_parameter("top", 1)
        self.covey = None
        self.publisher = None
        self.subscription = None

    def on_configure(self, state):
        try:
            self.covey = Covey(self.get_parameter("api").value)
            status = self.covey.status()
        except (TimeoutError, RuntimeError) as error:
            self.get_logger().error(f"can't reach the daemon: {error}")
            self.on_cleanup(state)
            return TransitionCallbackReturn.FAILURE
        self.get_logger().info(f"connected to {status.name}: {status.model}")
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state):
        self.publisher = self.create_publisher(String, "~/prediction", 10)
        self.subscription = self.create_subscription(
            Float32MultiArray, "~/sample", self.on_sample, 10)
        return TransitionCallbackReturn.SUCCESS

    def on_deactivate(self, state):
        self.destroy_subscription(self.subscription)
        self.destroy_publisher(self.publisher)
        self.subscription = self.publisher = None
        return TransitionCallbackReturn.SUCCESS

    def on_cleanup(self, state):
        if self.covey is not None:
            self.covey.close()
            self.covey = None
        return TransitionCallbackReturn.SUCCESS

    def on_sample(self, message):
        try:
            (answer,) = self.covey.predict([list(message.data)], self.get_parameter("top").value)
        except (TimeoutError, RuntimeError) as error:
            self.get_logger().warning(str(error))
            return
        text = json.dumps({
            "classes": [{"label": one.label, "probability": one.probability}
                        for one in answer.classes],
            "values": list(answer.values)})
        self.publisher.publish(String(data=text))


def main():
    rclpy.init()
    rclpy.spin(CoveyBridge())
    rclpy.shutdown()


if __name__ == "__main__":
    main()
