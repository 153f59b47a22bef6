"""Memory that a client lends to the daemon: a second reading of what proto/PROTOCOL.md says of
client segments, over Python's own memfds and sendmsg."""
import contextlib
import fcntl
import mmap
import os
import socket
import struct

import msgpack
import numpy as np

import harness
from wire import ALIGN, CODES, NAMES, OUT, SEGMENT, TENSOR, Wire, frame

SHRINK, GROW, SEAL = fcntl.F_SEAL_SHRINK, fcntl.F_SEAL_GROW, fcntl.F_SEAL_SEAL
WRITE = fcntl.F_SEAL_WRITE
SIZE = SHRINK | GROW | SEAL


def memfd(n_bytes, seals=SIZE, flags=0):
    fd = os.memfd_create("lent", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING | flags)
    os.ftruncate(fd, n_bytes)
    if seals:
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd


def rights(fds):
    return socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack(f"{len(fds)}i", *fds)


def pass_with(wire, fds, method, *params):
    """A request whose frame begins with @fds; its id."""
    id = next(wire.ids)
    body = frame([0, id, method, list(params)])
    sent = wire.socket.sendmsg([body], [rights(fds)])
    assert sent == len(body)
    return id


def add(wire, fd, n_bytes):
    """segment.add; its number."""
    return wire.finish(pass_with(wire, [fd], "segment.add", n_bytes))


class Segment:
    """A memfd that @wire lends, mapped here."""

    def __init__(self, wire, n_bytes):
        self.wire, self.n_bytes, self.at = wire, n_bytes, 0
        fd = memfd(n_bytes)
        try:
            self.map = mmap.mmap(fd, n_bytes)
            self.number = add(wire, fd, n_bytes)
        finally:
            os.close(fd)

    def array(self, offset, dtype, *shape):
        """What lies there, to be read and written here."""
        count = int(np.prod(shape, dtype=int))
        return np.frombuffer(self.map, dtype, count, offset).reshape(shape)

    def place(self, where, offset, dtype, *shape):
        """A tensor there, for a request."""
        dtype = np.dtype(dtype)
        n_bytes = int(np.prod(shape, dtype=int)) * dtype.itemsize
        return tensor_at(where, self.number, offset, dtype, shape, n_bytes)

    def keep(self, value):
        """Copy @value behind what was kept before; a tensor there, for a request."""
        value = np.asarray(value, order="C")
        offset = self.room(value.nbytes)
        self.array(offset, value.dtype, *value.shape)[...] = value
        return self.place(SEGMENT, offset, value.dtype, *value.shape)

    def out(self, dtype, *shape):
        """Room for an output: (the tensor for a request, what will lie there)"""
        n_bytes = int(np.prod(shape, dtype=int)) * np.dtype(dtype).itemsize
        offset = self.room(n_bytes)
        return self.place(OUT, offset, dtype, *shape), self.array(offset, dtype, *shape)

    def room(self, n_bytes):
        offset = self.at
        self.at += (n_bytes + ALIGN - 1) // ALIGN * ALIGN
        assert self.at <= self.n_bytes
        return offset

    def close(self):
        with contextlib.suppress(BufferError):  # arrays of it are still looked at
            self.map.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def tensor_at(where, number, offset, dtype, shape, n_bytes):
    dtype = np.dtype(dtype)
    head = struct.pack("<BBBBHHiiQQ", where, CODES[dtype.kind], 8 * dtype.itemsize, len(shape), 1,
                       number, 0, 0, offset, n_bytes)
    return msgpack.ExtType(TENSOR, head + struct.pack(f"<{len(shape)}q", *shape))


def told_place(ext):
    """Of a result's tensor: (where, number, offset, dtype, shape)"""
    where, code, bits, ndim, _, number, _, _, offset, _ = struct.unpack_from(
        "<BBBBHHiiQQ", ext.data)
    dtype = "bool" if code == 6 else f"{NAMES[code]}{bits // 8}"
    return where, number, offset, np.dtype(dtype), struct.unpack_from(f"<{ndim}q", ext.data, 32)


def figures(daemon):
    with Wire(daemon.host) as other:
        told = other.ask("server.info")["held"]
    return told["segments"], told["segment_bytes"]


def held(pid, what="/memfd:lent (deleted)"):
    """How many descriptors of @what the process has."""
    return harness.descriptors(pid).count(what)


def expect_nothing_lent(daemon):
    harness.until(lambda: figures(daemon) == (0, 0), "nothing is lent any more")
    harness.until(lambda: held(daemon.pid) == 0, "the supervisor has no descriptor of a client's")
    for pid in daemon.workers():
        harness.until(lambda pid=pid: "memfd:lent" not in maps(pid), "no worker maps one")
        assert held(pid) == 0


def maps(pid):
    with open(f"/proc/{pid}/maps", encoding="ascii", errors="replace") as file:
        return file.read()


def with_access(fd, flags):
    """The same memfd, opened anew."""
    return os.open(f"/proc/self/fd/{fd}", flags)
