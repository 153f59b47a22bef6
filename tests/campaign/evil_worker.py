"""A stand-in for modserd-worker that does not keep to daemon/worker/CHANNEL.md: what it does is
drawn from the number that is its artifact. It imports little, for it is started often.
"""
import array
import os
import pathlib
import random
import select
import socket
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import msgpack  # noqa: E402
from fake_worker import ARTIFACT, CHANNEL, HEAD, MAGIC, SEGMENT, TENSOR  # noqa: E402

FUNCTION, INSTANCE, RESIDENT = 2, 4, 2
MOST_BYTES = 1 << 21  # of what it sends in all: it is a nuisance, not a load


class Evil:
    def __init__(self):
        self.rng = random.Random(os.pread(ARTIFACT, 64, 0))
        self.channel = socket.socket(fileno=CHANNEL)
        self.bytes, self.sent, self.asked = b"", 0, []
        self.temper = self.rng.choice((0.05, 0.3, 0.9))

    def send(self, body, payload=b"", fds=()):
        body = body if isinstance(body, bytes) else msgpack.packb(body)
        data = HEAD.pack(MAGIC, len(body), len(payload)) + body + payload
        if self.rng.random() < self.temper / 10:
            data = self.spoil(data)
        control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.channel.sendmsg([data], control)
        self.sent += len(data)
        if self.sent > MOST_BYTES:
            os._exit(1)

    def spoil(self, data):
        data = bytearray(data)
        for _ in range(self.rng.randrange(1, 5)):
            data[self.rng.randrange(len(data))] = self.rng.randrange(256)
        return bytes(data)

    def take(self):
        data, fds, _, _ = socket.recv_fds(self.channel, 1 << 16, 16)
        if not data:
            os._exit(0)
        for fd in fds:
            os.close(fd)
        self.bytes += data
        while len(self.bytes) >= HEAD.size:
            _, size, payload = HEAD.unpack_from(self.bytes)
            if len(self.bytes) < HEAD.size + size + payload:
                break
            body = msgpack.unpackb(self.bytes[HEAD.size : HEAD.size + size])
            self.bytes = self.bytes[HEAD.size + size + payload :]
            if body[0] == 0:
                self.asked.append(body)

    def number(self):
        most = self.rng.choice((1, 3, 100, 1 << 16, 1 << 31, 1 << 32, 1 << 63))
        return self.rng.randrange(most + 1)

    def tensor(self):
        """Somewhere in a segment that there may be, or at the worker, or nowhere."""
        where = self.rng.choice((SEGMENT, SEGMENT, RESIDENT, 0, 3, 9))
        n = self.rng.choice((0, 1, 1000))
        offset = self.rng.choice((0, 128, self.number()))
        size = self.rng.choice((4 * n, self.number()))
        head = struct.pack("<BBBBHHiiQQ", where, 2, 32, 1, 1, self.rng.choice((0, 1, 65535)),
                           1, 0, offset, size)
        return msgpack.ExtType(TENSOR, head + struct.pack("<q", n))

    def handle(self):
        kind = self.rng.choice((FUNCTION, INSTANCE, 3, 5))
        return msgpack.ExtType(kind, self.rng.randbytes(self.rng.choice((8, 8, 12, 16, 3))))

    def value(self):
        draw = self.rng.choice
        return draw((None, 1, "x" * draw((1, 5000)), [], [[], None], [[self.tensor()], None],
                     [[], self.tensor()], [[], self.handle()], self.handle(), self.tensor(),
                     [[self.tensor()] * 3, [self.handle(), self.tensor()]]))

    def reply(self, id):
        error = self.rng.choice((None, None, [14, "CALL_FAILED", "x", {}], "x", [7], [0, "OK", "", {}],
                                 [99, "NEW", "x" * self.number().bit_length(), {}]))
        meta = self.rng.choice(([], [], [{"exec_ns": self.number()}], [None], [{"exec_ns": "x"}]))
        self.send([1, id, error, self.value(), *meta])

    def announce(self):
        """A segment: of a size that it has or has not, sealed or not, or no memfd at all."""
        size = self.rng.choice((4096, 1 << 20, 1 << 40, self.number()))
        fd = os.memfd_create("out", os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(fd, self.rng.choice((size, 4096)))
        except OSError:
            pass
        if self.rng.random() < 0.7:
            import fcntl
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW
                        | fcntl.F_SEAL_SEAL)
        fds = self.rng.choice(([fd], [fd], [fd], [], [fd, fd], [0]))
        way = self.rng.choice(("out", "out", "out", "in", "x"))
        self.send([2, "worker.segment", [way, self.rng.choice((0, 1, 2, 300)), size]], fds=fds)
        os.close(fd)

    def misbehave(self):
        draw = self.rng.random()
        if draw < 0.3:
            self.announce()
        elif draw < 0.4:
            self.reply(self.number())
        elif draw < 0.5:
            self.send([2, self.rng.choice(("worker.release", "cancel", "x")), [self.number()]])
        elif draw < 0.6:
            self.send([0, self.number(), "call", ["prey:addone"]])
        elif draw < 0.7:
            self.send([1, self.number(), None, None], payload=bytes(self.rng.choice((1, 4096))))
        elif draw < 0.75:
            self.channel.sendall(HEAD.pack(MAGIC, self.number() & 0xFFFFFFFF, self.number()))
        elif draw < 0.8:
            self.channel.sendall(self.rng.randbytes(100))
        elif draw < 0.85:
            os.write(2, b"\xff\x00evil\n" * 100)
        elif draw < 0.9:
            os._exit(self.rng.randrange(6))

    def answer(self):
        _, id, method, *_ = self.asked.pop(0)
        if method == "worker.open" and self.rng.random() > self.temper / 3:
            facts = {"device": "cpu", "era": "any", "machine": "any", "inspect": {"text": ""}}
            functions = [{"name": "addone", "style": "prim", "kind": "library"}]
            self.send([1, id, None, facts | {"functions": functions}])
        elif self.rng.random() > self.temper / 3:
            self.reply(id)
        if self.rng.random() < self.temper / 5:
            self.reply(id)

    def run(self):
        while True:
            if not self.asked or select.select([self.channel], [], [], 0)[0]:
                self.take()
            if self.rng.random() < self.temper:
                self.misbehave()
            if self.asked:
                self.answer()


if __name__ == "__main__":
    try:
        Evil().run()
    except OSError:
        os._exit(0)
