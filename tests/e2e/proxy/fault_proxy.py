"""A TCP proxy that spoils what passes through it: the bad network of the tests.

    fault_proxy.py --to HOST:PORT [--listen HOST:PORT] [--seed N] [WORD VALUE ...]

Prints "listening HOST:PORT", then obeys lines on stdin, each a word and perhaps a value; the same
words may follow the flags. It ends when stdin does, so it never outlives its parent.

    delay MS        every byte arrives so much later, in order
    jitter MS       plus a uniform draw from 0 to this, for each piece
    rate BYTES      a second and direction; 0: as fast as it goes
    slice BYTES     pieces are sent no longer than this, each in a segment of its own
    flip P          every bit is inverted with this probability
    reset_every B   a connection that has passed B bytes (drawn between B/2 and 3B/2) is reset
    reset           resets all connections now (RST)
    hold up|down|both   forwards nothing in that direction; up is from the client to the server
    release         forwards again
    refuse, accept  new connections are reset at once, or served
    count           prints "count connections=N open=N resets=N up=BYTES down=BYTES"

Same seed, same bytes in the same pieces: same faults. What arrives in which piece is up to the
kernel, so a whole run repeats only nearly.
"""

import argparse
import asyncio
import math
import random
import socket
import struct
import sys

PIECE = 16 * 1024
WAITING = 256  # pieces under way in one direction before it takes no more
NUMBERS = {"delay": 0.0, "jitter": 0.0, "rate": 0, "slice": 0, "flip": 0.0, "reset_every": 0}


class Plan:
    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.values = dict(NUMBERS)
        self.held = {"up": asyncio.Event(), "down": asyncio.Event()}
        self.refusing = False
        self.counts = {"connections": 0, "open": 0, "resets": 0, "up": 0, "down": 0}
        for event in self.held.values():
            event.set()

    def set(self, word, value):
        if word in NUMBERS:
            self.values[word] = type(NUMBERS[word])(value)
        elif word == "hold":
            for direction in ("up", "down") if value == "both" else (value,):
                self.held[direction].clear()
        elif word == "release":
            for event in self.held.values():
                event.set()
        elif word in ("refuse", "accept"):
            self.refusing = word == "refuse"
        else:
            raise ValueError(f"unknown word {word!r}")

    def piece(self):
        rate, cut = self.values["rate"], self.values["slice"]
        size = PIECE if rate == 0 else max(1, min(PIECE, rate // 20))
        return min(size, cut) if cut > 0 else size

    def spoil(self, data):
        p = self.values["flip"]
        if p <= 0:
            return data
        spoilt = bytearray(data)
        bit = int(math.log(1 - self.dice.random()) / math.log(1 - p))
        while bit < 8 * len(spoilt):
            spoilt[bit // 8] ^= 1 << (bit % 8)
            bit += 1 + int(math.log(1 - self.dice.random()) / math.log(1 - p))
        return bytes(spoilt)

    def late(self):
        return (self.values["delay"] + self.values["jitter"] * self.dice.random()) / 1000

    def draw_reset(self):
        every = self.values["reset_every"]
        return every * (0.5 + self.dice.random()) if every > 0 else math.inf


class Connection:
    """One connection of a client, and ours to the server."""

    def __init__(self, plan, client, server):
        self.plan, self.client, self.server = plan, client, server
        self.passed, self.last = 0, plan.draw_reset()
        self.ended = asyncio.Event()
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    async def run(self):
        tasks = [asyncio.ensure_future(work) for source, sink, direction in
                 ((self.client, self.server, "up"), (self.server, self.client, "down"))
                 for work in self.pump(source, sink, direction)]
        await self.ended.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.client.close()
        self.server.close()

    def reset(self):
        if self.ended.is_set():
            return
        self.plan.counts["resets"] += 1
        for end in (self.client, self.server):
            # Closing with data unsent and no patience sends RST.
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.ended.set()

    def pump(self, source, sink, direction):
        pieces = asyncio.Queue(WAITING)
        return self.take(source, pieces), self.give(sink, pieces, direction)

    async def take(self, source, pieces):
        loop = asyncio.get_running_loop()
        free_at = due = loop.time()
        while True:
            try:
                data = await loop.sock_recv(source, self.plan.piece())
            except OSError:
                data = b""
            rate = self.plan.values["rate"]
            if rate > 0:
                free_at = max(free_at, loop.time()) + len(data) / rate
                await asyncio.sleep(free_at - loop.time())
            due = max(due, loop.time() + self.plan.late())
            await pieces.put((due, data))
            if not data:
                return

    async def give(self, sink, pieces, direction):
        loop = asyncio.get_running_loop()
        while True:
            due, data = await pieces.get()
            if due > loop.time():
                await asyncio.sleep(due - loop.time())
            await self.plan.held[direction].wait()
            if not data:
                self.ended.set()
                return
            try:
                await loop.sock_sendall(sink, self.plan.spoil(data))
            except OSError:
                self.ended.set()
                return
            self.plan.counts[direction] += len(data)
            self.passed += len(data)
            if self.passed >= self.last:
                self.reset()
                return


class Proxy:
    def __init__(self, plan, to):
        self.plan, self.to, self.connections = plan, to, set()

    async def serve(self, listener):
        loop = asyncio.get_running_loop()
        while True:
            client, _ = await loop.sock_accept(listener)
            self.plan.counts["connections"] += 1
            asyncio.ensure_future(self.one(client))

    async def one(self, client):
        client.setblocking(False)
        if self.plan.refusing:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.close()
            return
        server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * PIECE)
        server.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(server, self.to)
        except OSError:
            client.close()
            server.close()
            return
        connection = Connection(self.plan, client, server)
        self.connections.add(connection)
        self.plan.counts["open"] = len(self.connections)
        try:
            await connection.run()
        finally:
            self.connections.discard(connection)
            self.plan.counts["open"] = len(self.connections)

    def obey(self, line):
        words = line.split()
        if not words:
            return
        if words[0] == "reset":
            for connection in list(self.connections):
                connection.reset()
        elif words[0] == "count":
            print("count", *(f"{name}={value}" for name, value in self.plan.counts.items()),
                  flush=True)
        else:
            self.plan.set(words[0], words[1] if len(words) > 1 else None)


def address(text):
    host, _, port = text.removeprefix("tcp://").rpartition(":")
    return host, int(port)


async def main():
    parser = argparse.ArgumentParser(description="A TCP proxy with faults.")
    parser.add_argument("--to", type=address, required=True)
    parser.add_argument("--listen", type=address, default=("127.0.0.1", 0))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("plan", nargs="*")
    options = parser.parse_args()
    proxy = Proxy(Plan(options.seed), options.to)
    for word, value in zip(options.plan[::2], options.plan[1::2]):
        proxy.plan.set(word, value)

    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Small, so that a narrow link holds its sender back instead of swallowing whole models.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * PIECE)
    listener.bind(options.listen)
    listener.listen(64)
    listener.setblocking(False)
    print("listening %s:%d" % listener.getsockname(), flush=True)
    asyncio.ensure_future(proxy.serve(listener))

    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        proxy.obey(line.decode())


if __name__ == "__main__":
    asyncio.run(main())
