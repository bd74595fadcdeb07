"""Asks a Covey node: its status, and what its model says. Needs python3-zmq and python3-protobuf.

    protoc --python_out=. -I PREFIX/share/covey/proto covey/v1/api.proto
    python3 covey_client.py ipc:///run/covey/api.sock 5.1 3.5 1.4 0.2
"""

import sys

import zmq
from covey.v1 import api_pb2


class Covey:
    """One connection to the daemon of this machine; one thread at a time."""

    def __init__(self, socket, timeout=5.0):
        self.timeout = timeout
        self.last_id = 0
        self.dealer = zmq.Context.instance().socket(zmq.DEALER)
        self.dealer.linger = 0
        self.dealer.connect(socket if "://" in socket else f"ipc://{socket}")

    def ask(self, command, question=None, samples=None):
        self.last_id += 1
        message = api_pb2.ClientMessage()
        message.request.id = self.last_id
        message.request.command = command
        if question is not None:
            message.request.predict.CopyFrom(question)
        if samples is not None:
            message.request.push.CopyFrom(samples)
        self.dealer.send(message.SerializeToString())
        while self.dealer.poll(1000 * self.timeout):
            answer = api_pb2.ServerMessage.FromString(self.dealer.recv())
            if answer.reply.id != self.last_id:
                continue  # an event, or the answer to an earlier question
            if not answer.reply.ok:
                raise RuntimeError(answer.reply.error)
            return answer.reply
        raise TimeoutError("the daemon does not answer; is coveyd running?")

    def status(self):
        return self.ask(api_pb2.API_COMMAND_STATUS).status

    def predict(self, samples, top=3):
        """samples: lists of raw numbers. Returns one answer a sample: .classes, or .values."""
        question = api_pb2.ApiPredict(top=top)
        for sample in samples:
            question.values.extend(sample)
        return self.ask(api_pb2.API_COMMAND_PREDICT, question).prediction.answers

    def push(self, samples, classes):
        """Gives samples to a node with data.live. Returns .accepted, .rejected, .reason."""
        push = api_pb2.ApiPush(classes=[str(name) for name in classes])
        for sample in samples:
            push.values.extend(sample)
        return self.ask(api_pb2.API_COMMAND_PUSH, samples=push).pushed

    def close(self):
        self.dealer.close()


if __name__ == "__main__":
    node = Covey(sys.argv[1])
    status = node.status()
    print(f"{status.name}: {status.model}, {status.batches} batches")
    for answer in node.predict([[float(word) for word in sys.argv[2:]]]):
        for one in answer.classes:
            print(f"{one.label} {one.probability:.3f}")
        print(*answer.values)
