"""A stand-in for modserd-worker that breaks daemon/worker/CHANNEL.md on purpose: each function of
its module is one lie, told in the answer to the call of its name or before it.

    lying_worker.py RECORD --name NAME

The artifact is text: a version, then `good`, `many=N,SIZE` (it describes N functions with
signatures of SIZE characters), `handle` (its description holds one), `named` (with names that a
terminal or a log would obey) or `once` (the first worker opens it, those after it refuse it and
stay).
What it hears of its out slots goes to RECORD: a line of JSON for each worker.release, the number of
its pairs.
"""
import contextlib
import ctypes
import fcntl
import hashlib
import json
import os
import pathlib
import select
import socket
import struct
import sys

import msgpack

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from fake_worker import BAD_ARTIFACT, HEAD, MAGIC, SEGMENT, TENSOR, Worker  # noqa: E402

FUNCTION, MODULE, INSTANCE, UPLOAD = 2, 3, 4, 5
# A terminal's command, a line of a log's, of the metrics' and of HTTP's.
NAMED = "\x1b[2J\r\nX: 1\r\n\r\n\"}\n# TYPE a gauge\na 1\n"
SEALS = 0x0002 | 0x0004  # F_SEAL_SHRINK, F_SEAL_GROW
F_ADD_SEALS = 1033
UINT8 = 1
PUNCH_HOLE = 0x01 | 0x02  # FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE


def tensor(segment, offset, size):
    """@size bytes at @offset of an out segment."""
    head = struct.pack("<BBBBHHiiQQ", SEGMENT, UINT8, 8, 1, 1, segment, 1, 0, offset, size)
    return msgpack.ExtType(TENSOR, head + struct.pack("<q", size))


def handle(kind):
    return msgpack.ExtType(kind, struct.pack("<II", 0, 1))


class Liar(Worker):
    def __init__(self, record):
        super().__init__(record)
        self.n_segments = self.n_many = 0
        self.steps = self.kept = None

    def tell(self, body, fd=None):
        data = msgpack.packb(body)
        frame = HEAD.pack(MAGIC, len(data), 0) + data
        if fd is None:
            self.channel.sendall(frame)
        else:
            socket.send_fds(self.channel, [frame], [fd])

    @staticmethod
    def memfd(size, is_sparse=False):
        fd = os.memfd_create("lie", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(fd, size)
        if not is_sparse:
            os.posix_fallocate(fd, 0, size)
        fcntl.fcntl(fd, F_ADD_SEALS, SEALS)
        return fd

    def segment(self, size, is_sparse=False, said=None):
        """A new out segment; returns its index."""
        fd = self.memfd(size, is_sparse)
        self.tell([2, "worker.segment", ["out", self.n_segments, said or size]], fd)
        os.close(fd)
        self.n_segments += 1
        return self.n_segments - 1

    def sort(self, body):
        if body[0] == 2 and body[1] == "worker.release":
            os.write(self.record, json.dumps(len(body[2]) // 2).encode() + b"\n")
        else:
            super().sort(body)

    def is_first(self):
        first = pathlib.Path(sys.argv[1]).with_name(f"opened-{self.version}")
        is_first = not first.exists()
        first.touch()
        return is_first

    def functions(self):
        return [n.removeprefix("lie_") for n in dir(self) if n.startswith("lie_")]

    def open(self, id):
        if self.fate == "once" and not self.is_first():
            self.answer(id, BAD_ARTIFACT)
            return
        names, signature = self.functions(), ""
        if self.fate.startswith("many="):
            n, size = map(int, self.fate.removeprefix("many=").split(","))
            names, signature = [f"f{i}" for i in range(n)], "_" * size
        if self.fate == "named":
            names = [NAMED]
        more = {"style": "prim", "kind": "library", "signature": signature}
        functions = [{"name": name} | more for name in names]
        text = handle(FUNCTION) if self.fate == "handle" else ""
        facts = {"device": "cpu", "era": "any", "machine": "any", "inspect": {"text": text}}
        self.answer(id, None, facts | {"functions": functions})

    def call(self, id, function, *args):
        getattr(self, "lie_" + function)(id, *args)

    def lie_none(self, id, *args):
        self.answer(id, None, [[], [self.value(a) for a in args]])

    def lie_digests(self, id, *args):
        """No lie: those of what its arguments hold."""
        self.answer(id, None, [[], [hashlib.sha256(self.value(a)).digest() for a in args]])

    def lie_step(self, id, path, *args):
        """No lie: answered when a byte comes through the FIFO at @path, or its end."""
        if self.steps is None:
            self.steps = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        os.read(self.steps, 1)
        self.answer(id, None, [[], None])

    def lie_heard(self, id, path):
        """No lie: how many requests have come when the FIFO at @path ends, this one included."""
        with open(path, "rb") as gate:
            gate.read()
        while select.select([self.channel], [], [], 0)[0]:
            self.take()
        self.answer(id, None, [[], 1 + len(self.waiting)])

    def lie_many(self, id, n):
        """@n tensors of one byte each, as an honest worker has them: in slots of their own."""
        if self.n_segments == 0:
            self.segment(16 << 20)
        slots = range(self.n_many * n, (self.n_many + 1) * n)
        self.n_many += 1
        self.answer(id, None, [[tensor(0, 128 * i, 1) for i in slots], None])

    def lie_asked(self, id):
        """How often `many` was called."""
        self.answer(id, None, [[], self.n_many])

    def lie_segments(self, id, n, size):
        for _ in range(n):
            self.segment(size, is_sparse=True)
        self.answer(id, None, [[], None])

    def lie_full_segments(self, id, n, size):
        for _ in range(n):
            self.segment(size)
        self.answer(id, None, [[], None])

    def lie_large(self, id, size):
        """An honest reply of @size bytes."""
        index = self.segment(size)
        self.answer(id, None, [[tensor(index, 0, size)], None])

    def lie_renewed(self, id):
        """No lie: a segment goes and another of its index comes, in one write."""
        index = self.segment(4096)
        frames = b"".join(
            HEAD.pack(MAGIC, len(data), 0) + data
            for data in (
                msgpack.packb([2, "worker.segment", ["out", index, size]]) for size in (0, 8192)
            )
        )
        fd = self.memfd(8192)
        socket.send_fds(self.channel, [frames], [fd])
        os.close(fd)
        self.answer(id, None, [[tensor(index, 4096, 4096)], None])

    def lie_taken_back(self, id):
        """The reply before is still being sent from the segment that goes."""
        index = self.segment(8 << 20)
        self.answer(id, None, [[tensor(index, 0, 8 << 20)], None])
        self.tell([2, "worker.segment", ["out", index, 0]])

    def lie_much(self, id, n, size):
        """A reply of @n * @size bytes, each @size in a segment of its own."""
        self.answer(id, None, [[tensor(self.segment(size), 0, size) for _ in range(n)], None])

    def lie_overlapping(self, id, n, size):
        """The same out of one segment."""
        index = self.segment(size)
        self.answer(id, None, [[tensor(index, 0, size)] * n, None])

    def lie_twice(self, id, second):
        """Two tensors of 256 bytes, the second at @second."""
        index = self.segment(4096)
        self.answer(id, None, [[tensor(index, 0, 256), tensor(index, second, 256)], None])

    def lie_again(self, id, offset, size):
        """A tensor in the segment that all such answers are in."""
        if self.n_segments == 0:
            self.segment(8 << 20)
        self.answer(id, None, [[tensor(0, offset, size)], None])

    def lie_as_ever(self, id, segment, offset, size):
        """The same in the form of an honest worker's answers, which are known when they come again."""
        if self.n_segments == 0:
            self.segment(8 << 20)
        body = (b"\x95\x01\xcf" + id.to_bytes(8, "big") + b"\xc0"
                + msgpack.packb([[tensor(segment, offset, size)], None])
                + b"\x81\xa7exec_ns\xcf" + bytes(8))
        self.channel.sendall(HEAD.pack(MAGIC, len(body), 0) + body)

    def lie_long_body(self, id, size):
        self.answer(id, None, [[], "x" * size])

    def lie_many_parts(self, id, n):
        """A list of @n nils."""
        body = msgpack.packb([1, id, None]) + b"\x92\x90\xdd" + n.to_bytes(4, "big") + b"\xc0" * n
        body = b"\x94" + body[1:]
        self.channel.sendall(HEAD.pack(MAGIC, len(body), 0) + body)

    def lie_huge_pages(self, id, size):
        fd = os.memfd_create("lie", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING | os.MFD_HUGETLB)
        os.ftruncate(fd, size)
        fcntl.fcntl(fd, F_ADD_SEALS, SEALS)
        self.tell([2, "worker.segment", ["out", self.n_segments, size]], fd)
        self.answer(id, None, [[], None])

    def lie_flood_segments(self, id, n):
        """What workers may say, without an end: a segment comes and goes @n times."""
        fd = self.memfd(4096)
        comes, goes = (
            HEAD.pack(MAGIC, len(data), 0) + data
            for data in (msgpack.packb([2, "worker.segment", ["out", 0, size]]) for size in (4096, 0))
        )
        for _ in range(n):
            socket.send_fds(self.channel, [comes], [fd])
            self.channel.sendall(goes)
        self.answer(id, None, [[], None])

    def lie_flood_answers(self, id, n):
        """One answer, @n times."""
        data = msgpack.packb([1, id, None, [[], None]])
        with contextlib.suppress(OSError):
            for _ in range(n):
                self.channel.sendall(HEAD.pack(MAGIC, len(data), 0) + data)
        self.wait_for_the_end()

    def lie_flood_cancels(self, id, n):
        """What workers do not say, @n times."""
        data = msgpack.packb([2, "cancel", [id]])
        with contextlib.suppress(OSError):
            for _ in range(n):
                self.channel.sendall(HEAD.pack(MAGIC, len(data), 0) + data)
        self.wait_for_the_end()

    def wait_for_the_end(self):
        with contextlib.suppress(OSError):
            while self.channel.recv(1 << 16):
                continue
        os._exit(1)

    def lie_handle(self, id, kind):
        self.answer(id, None, [[], handle(kind)])

    def lie_handle_beside_tensor(self, id, kind):
        index = self.segment(4096)
        self.answer(id, None, [[tensor(index, 0, 64)], handle(kind)])

    def lie_handle_in_meta(self, id, kind):
        self.tell([1, id, None, [[], None], {"exec_ns": 1, "more": handle(kind)}])

    def lie_handle_in_error(self, id, kind):
        self.tell([1, id, [14, "CALL_FAILED", "no", {"more": handle(kind)}], None])

    def lie_tensor_in_meta(self, id):
        index = self.segment(4096)
        self.tell([1, id, None, [[], None], {"more": tensor(index, 0, 64)}])

    def lie_tensor_in_error(self, id):
        index = self.segment(4096)
        self.tell([1, id, [14, "CALL_FAILED", "no", {"more": tensor(index, 0, 64)}], None])

    def lie_lent(self, id, number):
        """A result in a client's memory that this request does not name."""
        self.answer(id, None, [[tensor(number, 0, 64)], None])

    def lie_lent_beyond(self, id, place, size):
        """A result where this request has an argument, but for its end."""
        index, offset = struct.unpack_from("<H8xQ", place.data, 6)
        self.answer(id, None, [[tensor(index, offset, size)], None])

    def lie_punched(self, id, size):
        """Called twice: an honest segment, whose pages go when it is known."""
        if self.kept is None:
            self.kept = self.memfd(size)
            self.tell([2, "worker.segment", ["out", self.n_segments, size]], self.kept)
            self.answer(id, None, [[], None])
            return
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.fallocate(self.kept, PUNCH_HOLE, ctypes.c_long(0), ctypes.c_long(size)) != 0:
            raise OSError(ctypes.get_errno(), "fallocate")
        self.answer(id, None, [[tensor(self.n_segments, 0, size)], None])

    def lie_error(self, id, code, name, message):
        self.answer(id, [code, name, message, {}])

    def lie_meta(self, id, key, value):
        self.tell([1, id, None, [[], None], {key: value}])

    def lie_outside(self, id):
        index = self.segment(4096)
        self.answer(id, None, [[tensor(index, 4096 - 128, 256)], None])


if __name__ == "__main__":
    Liar(sys.argv[1]).run()
