"""Calls that come again are not read again: nobody sees it. One daemon that remembers them and
one that does not are told the same, one request after the other, and answer the same, byte for
byte but for the time that a call ran.
"""
import os
import random
import struct

import harness
import msgpack
import numpy as np
import pytest
from wire import INLINE, Closed, Wire, frame, out, tensor_ext

RESULTS = harness.ZOO / "results.so"
FAULTS = harness.ZOO / "faults.so"
OFTEN = 4  # a call is remembered when it comes for the second time
STEPS = int(os.environ.get("REMEMBER_STEPS", 2000))
TIME = b"\x81\xa7exec_ns\xcf"


@pytest.fixture(scope="module")
def both():
    patience = ("--ready-wait", "120s")  # else a busy machine answers NOT_READY
    with (harness.Daemon(*patience) as a,
          harness.Daemon(*patience, env={"MODSERD_WITHOUT": "plans,gather"}) as b):
        for daemon in (a, b):
            daemon.load("m", RESULTS)
        yield a, b


def nine_bytes(id):
    """As libmodser writes it."""
    return b"\xcf" + struct.pack(">Q", id)


def request(id, method, params, options=None, pack_id=nine_bytes):
    tail = b"" if options is None else msgpack.packb(options)
    return (bytes([0x94 if options is None else 0x95, 0]) + pack_id(id)
            + msgpack.packb(method) + msgpack.packb(params) + tail)


def answer(wire):
    """The next frame but for the time in it, or how the connection ended."""
    try:
        head = wire.take(16)
        body_bytes, payload_bytes = struct.unpack("<IQ", head[4:])
        body = wire.take(body_bytes)
        payload = wire.take(payload_bytes)
    except Closed:
        return "closed"
    return (body[:-8] if body[-18:-8] == TIME else body), payload


def expect_same(wires, body, payload=b""):
    """Both answer the same, which is returned."""
    for wire in wires:
        wire.send(frame(body, payload))
    first, second = (answer(wire) for wire in wires)
    assert first == second, body
    return first


def value(said):
    body = msgpack.unpackb(said[0] + struct.pack(">Q", 0)
                           if said[0].endswith(TIME) else said[0], strict_map_key=False)
    assert body[2] is None, body
    return body[3]


CALLS = {
    "text": (request(9, "call", ["m:echo", 5]), b""),
    "short id": (request(9, "call", ["m:echo", 5], pack_id=msgpack.packb), b""),
    "two bytes' id": (request(200, "call", ["m:echo", 5], pack_id=msgpack.packb), b""),
    "payload": (request(9, "call", ["m:kind", tensor_ext(INLINE, "f4", (2, 2))]), bytes(16)),
    "returned": (request(9, "call", ["m:echo", tensor_ext(INLINE, "f4", (2, 2))]), bytes(range(16))),
    "out": (request(9, "call", ["m:count", out("f4", 2)], {"deadline_ms": 100_000}), b""),
}


def acquainted(both, body, payload):
    """Connections on which the call has come often."""
    wires = [Wire(daemon.host) for daemon in both]
    for _ in range(OFTEN):
        value(expect_same(wires, body, payload))
    return wires


def is_over(said):
    return said == "closed" or said[0][1] == 2  # session.close


@pytest.mark.parametrize("name", CALLS)
def test_a_call_with_any_bit_changed_is_answered_as_if_it_had_never_come(both, name):
    body, payload = CALLS[name]
    wires = acquainted(both, body, payload)
    for bit in range(8 * len(body)):
        changed = bytearray(body)
        changed[bit // 8] ^= 1 << bit % 8
        if is_over(expect_same(wires, bytes(changed), payload)):
            for wire in wires:
                wire.socket.close()
            wires = acquainted(both, body, payload)
    value(expect_same(wires, body, payload))
    for wire in wires:
        wire.socket.close()


class Client:
    """Does at random what makes remembered calls mean another thing, or nothing."""

    def __init__(self, both, seed):
        self.both = both
        self.random = random.Random(seed)
        self.id = 0
        self.tensors, self.functions = [], []
        self.connect()

    def connect(self):
        self.wires = [Wire(daemon.host) for daemon in self.both]
        self.tensors, self.functions = [], []

    def leave(self):
        for wire in self.wires:
            wire.socket.close()

    def ask(self, method, *params, options=None, payload=b""):
        self.id += 1
        body = request(self.id, method, list(params), options,
                       self.random.choice((nine_bytes, msgpack.packb)))
        return expect_same(self.wires, body, payload)

    def call(self):
        function = self.random.choice(("n:int", "n:echo", "m:echo", "n:ok", "n:nothing"))
        self.ask("call", function, self.random.randrange(2))

    def call_with_bytes(self):
        n = self.random.choice((1, 2))
        data = np.full(n, self.random.randrange(100), "f4").tobytes()
        options = self.random.choice((None, {"deadline_ms": 100_000}, {"unordered": True}))
        self.ask("call", "n:kind", tensor_ext(INLINE, "f4", (n,)), out("f4", n),
                 options=options, payload=data)

    def call_for_bytes(self):
        n = self.random.choice((1, 2, 1000))
        data = np.full(n, self.random.randrange(100), "f4").tobytes()
        self.ask("call", self.random.choice(("n:echo", "m:echo")), tensor_ext(INLINE, "f4", (n,)),
                 payload=data)

    def load(self):
        path = self.random.choice((RESULTS, FAULTS))
        for wire in self.wires:
            try:
                wire.load("n", path.read_bytes(), replace=True)
            except Exception as error:  # of both the same, as the calls behind it show
                assert "EXISTS" in str(error) or "DRAINING" in str(error), error

    def unload(self):
        self.ask("module.unload", "n")

    def hold(self):
        said = self.ask("tensor.alloc", "m", *DTYPE_AND_SHAPE)
        self.tensors.append(value(said))
        self.functions.append(value(self.ask("function.get", "m", "echo")))

    def use(self):
        for tensor in self.tensors[:3]:
            self.ask("call", "m:kind", tensor)
        for function in self.functions[:3]:
            self.ask("call", function, 5)

    def free(self):
        if self.tensors:
            self.ask("tensor.free", self.tensors[0])
            self.ask("function.free", self.functions[0])
            self.use()
            del self.tensors[0], self.functions[0]

    def lose(self):
        """The worker dies in the call; who calls next waits for another."""
        self.ask("call", "n:exit3")

    def again(self):
        self.leave()
        self.connect()


DTYPE_AND_SHAPE = (msgpack.ExtType(6, struct.pack("<BBH", 2, 32, 1)),
                   msgpack.ExtType(8, struct.pack("<q", 2)))
DEEDS = {Client.call: 50, Client.call_with_bytes: 30, Client.call_for_bytes: 30, Client.use: 5,
         Client.free: 2, Client.hold: 2, Client.load: 1, Client.unload: 0.3, Client.again: 1}


def counted(daemon):
    """What it says of its calls: how many, of which function, how they ended."""
    with Wire(daemon.host) as wire:
        lines = wire.ask("server.metrics").splitlines()
    return [line for line in lines if line.startswith("modserd_calls_total{")]


def test_whatever_happens_to_modules_and_handles_both_answer_the_same(both):
    client = Client(both, seed=1)
    client.load()
    for step in range(STEPS):
        [deed] = client.random.choices(list(DEEDS), DEEDS.values())
        deed(client)
        if step in (STEPS // 3, STEPS // 2):
            client.lose()
    client.leave()
    counts = [counted(daemon) for daemon in both]
    assert counts[0] == counts[1] != [], "a remembered call is counted as any"


def test_many_at_once_are_answered_as_one_by_one(both):
    """In one write: what is remembered and what is not, short and long, good and bad."""
    choice = random.Random(2).choice
    params = (["m:echo", 5], ["m:echo", 6], ["m:echo", "x" * 3000], ["m:no", 1], ["m:nothing"],
              ["m:echo"])
    bodies = [request(id, "call", choice(params), choice((None, None, {"deadline_ms": 100_000})),
                      choice((nine_bytes, msgpack.packb))) for id in range(1, 501)]
    said = []
    for daemon in both:
        with Wire(daemon.host) as wire:
            wire.send(b"".join(map(frame, bodies)))
            said.append(sorted(answer(wire) for _ in bodies))
    assert said[0] == said[1]
    assert len(set(said[0])) == len(bodies), "each has its own answer"


def test_tensors_of_many_calls_at_once_are_each_ones_own(both):
    """Their bytes lie elsewhere for each of them, on the way there and back."""
    n = 200
    for daemon in both:
        with Wire(daemon.host) as wire:
            frames, sent = [], {}
            for id in range(1, n + 1):
                sent[id] = bytes([id % 256]) * 1024
                frames.append(frame(
                    request(id, "call", ["m:echo", tensor_ext(INLINE, "f4", (256,))]), sent[id]))
            wire.send(b"".join(frames))
            for _ in range(n):
                body, payload = answer(wire)
                assert payload == sent.pop(struct.unpack_from(">Q", body, 3)[0])
            assert sent == {}


def test_what_is_remembered_is_told_of_with_its_arguments_when_it_was_slow(own_daemon):
    daemon = own_daemon("--slow-call", "10ms")
    daemon.load("slow", FAULTS)
    with Wire(daemon.host) as wire, Wire(daemon.host) as other, harness.Gate() as gate:
        for id in range(1, OFTEN + 1):
            wire.send(frame(request(id, "call", ["slow:gate", gate.path])))
            gate.entered()
            begin = other.ask("server.info")["uptime_ms"]
            harness.until(lambda: other.ask("server.info")["uptime_ms"] > begin + 20,
                          "time passes")
            gate.open()
            value(answer(wire))
        slow = other.ask("server.slowlog")
    assert [s["arguments"] for s in slow] == [f"str({len(gate.path)})"] * OFTEN
