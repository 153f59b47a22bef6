"""A stand-in for modserd-worker that runs no module: it speaks daemon/worker/CHANNEL.md, does what
the called function's name says, and writes down what it runs.

    fake_worker.py RECORD --name NAME

The artifact is text: a version, then `good`, `bad` (it is refused) or `dies` (the process ends
while it opens it). Each line of RECORD is JSON: [ns, process, version, what], `what` being the
argument of the call that begins, or null when the artifact has been opened. It imports little,
for it is started often.
"""
import collections
import json
import mmap
import os
import select
import socket
import struct
import sys
import time

import msgpack

CHANNEL, ARTIFACT = 3, 4
MAGIC = b"\xedmd\x01"
TENSOR, SEGMENT = 1, 1
HEAD = struct.Struct("<4sIQ")
FUNCTIONS = ("echo", "fail", "die", "hang")
CANCELLED, CALL_FAILED, BAD_ARTIFACT = (
    [11, "CANCELLED", "cancelled before it started", {}],
    [14, "CALL_FAILED", "it was asked to fail", {}],
    [15, "BAD_ARTIFACT", "it was asked to refuse", {}],
)


class Worker:
    def __init__(self, record):
        self.channel = socket.socket(fileno=CHANNEL)
        self.record = os.open(record, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        version, self.fate = os.pread(ARTIFACT, 64, 0).decode().split()
        self.version = int(version)
        self.bytes, self.fds = b"", collections.deque()
        self.segments, self.cancelled, self.waiting = {}, set(), collections.deque()

    def note(self, what):
        line = json.dumps([time.monotonic_ns(), os.getpid(), self.version, what])
        os.write(self.record, line.encode() + b"\n")

    def answer(self, id, error, result=None):
        body = msgpack.packb([1, id, error, result])
        self.channel.sendall(HEAD.pack(MAGIC, len(body), 0) + body)

    def take(self):
        """Take in what has come; the end of the channel ends the process at once."""
        data, fds, _, _ = socket.recv_fds(self.channel, 1 << 16, 16)
        if not data:
            os._exit(0)
        self.bytes += data
        self.fds.extend(fds)
        while len(self.bytes) >= HEAD.size:
            magic, size, _ = HEAD.unpack_from(self.bytes)
            assert magic == MAGIC
            if len(self.bytes) < HEAD.size + size:
                break
            body = msgpack.unpackb(self.bytes[HEAD.size : HEAD.size + size])
            self.bytes = self.bytes[HEAD.size + size :]
            self.sort(body)

    def sort(self, body):
        if body[0] == 0:
            self.waiting.append(body)
        elif body[1] == "cancel":
            self.cancelled.add(body[2][0])
        elif body[1] == "worker.segment":
            way, index, size = body[2]
            if size == 0:
                del self.segments[index]
                return
            fd = self.fds.popleft()
            if way == "weights":  # it packs none
                os.close(fd)
                return
            self.segments[index] = mmap.mmap(fd, size, access=mmap.ACCESS_READ)
            os.close(fd)

    def value(self, arg):
        """The bytes of a tensor; of all else itself."""
        if not isinstance(arg, msgpack.ExtType):
            return arg
        (index,) = struct.unpack_from("<H", arg.data, 6)
        offset, size = struct.unpack_from("<QQ", arg.data, 16)
        if size == 0:
            return b""  # wherever it is
        assert arg.code == TENSOR and arg.data[0] == SEGMENT
        return self.segments[index][offset : offset + size]

    def open(self, id):
        if self.fate == "dies":
            os._exit(1)
        if self.fate == "bad":
            self.answer(id, BAD_ARTIFACT)
            os._exit(3)
        functions = [{"name": f, "style": "prim", "kind": "library"} for f in FUNCTIONS]
        facts = {"device": "cpu", "era": "any", "machine": "any", "inspect": {"text": ""}}
        self.note(None)
        self.answer(id, None, facts | {"functions": functions})

    def call(self, id, function, number, *args):
        self.note(number)
        if function == "die":
            os._exit(1)
        elif function == "hang":
            while self.channel.recv(1 << 16):
                continue
            os._exit(0)
        elif function == "fail":
            self.answer(id, CALL_FAILED)
        else:
            self.answer(id, None, [[], [number, self.version, *map(self.value, args)]])

    def run(self):
        while True:
            if not self.waiting:
                self.take()
                continue
            while select.select([self.channel], [], [], 0)[0]:
                self.take()
            _, id, method, params, *_ = self.waiting.popleft()
            if method == "worker.open":
                self.open(id)
            elif id in self.cancelled:
                self.answer(id, CANCELLED)
            else:
                self.call(id, params[0].rpartition(":")[2], *params[1:])


if __name__ == "__main__":
    Worker(sys.argv[1]).run()
