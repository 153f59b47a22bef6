"""A second reading of proto/PROTOCOL.md: a small client over PyPI's msgpack that shares no code
with the project, so that both sides of the wire cannot be wrong in the same way.
"""
import itertools
import socket
import struct

import msgpack
import numpy as np

from harness import PATIENCE

MAGIC = b"\xedmd\x01"
TENSOR, FUNCTION, MODULE, INSTANCE, UPLOAD, DTYPE, DEVICE, SHAPE, RESULT_OF, OBJECT, MAP = range(1, 12)
INLINE, SEGMENT, RESIDENT, OUT = range(4)
CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
NAMES = {0: "i", 1: "u", 2: "f"}
ALIGN = 128


class Failure(Exception):
    """An error response."""

    def __init__(self, error):
        super().__init__(f"{error[1]}: {error[2]}")
        self.code, self.name, self.message, self.details = error


class Closed(Exception):
    """The daemon ended the connection."""


def tensor_ext(where, dtype, shape, offset=0, size=None, code=None):
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=object)) if shape else 1
    size = count * dtype.itemsize if size is None else size
    code = CODES[dtype.kind] if code is None else code
    head = struct.pack(
        "<BBBBHHiiQQ", where, code, 8 * dtype.itemsize, len(shape), 1, 0, 0, 0, offset, size
    )
    return msgpack.ExtType(TENSOR, head + struct.pack(f"<{len(shape)}q", *shape))


def out(dtype, *shape):
    return tensor_ext(OUT, dtype, shape)


def shape_ext(*dims):
    return msgpack.ExtType(SHAPE, struct.pack(f"<{len(dims)}q", *dims))


class Payload:
    """Tensor bytes of one frame, each at a multiple of 128."""

    def __init__(self):
        self.bytes = bytearray()

    def place(self, value):
        if isinstance(value, np.ndarray):
            self.bytes += bytes(-len(self.bytes) % ALIGN)
            ext = tensor_ext(INLINE, value.dtype, value.shape, len(self.bytes))
            self.bytes += np.ascontiguousarray(value).tobytes()
            return ext
        if isinstance(value, msgpack.ExtType):  # which is a tuple, too
            return value
        if isinstance(value, (list, tuple)):
            return [self.place(v) for v in value]
        if isinstance(value, dict):
            return {k: self.place(v) for k, v in value.items()}
        return value


def frame(body, payload=b"", magic=MAGIC, body_bytes=None, payload_bytes=None):
    if not isinstance(body, bytes):
        body = msgpack.packb(body)
    body_bytes = len(body) if body_bytes is None else body_bytes
    payload_bytes = len(payload) if payload_bytes is None else payload_bytes
    return magic + struct.pack("<IQ", body_bytes, payload_bytes) + body + bytes(payload)


def unpack_ext(payload):
    def hook(kind, data):
        if kind != TENSOR:
            return msgpack.ExtType(kind, data)
        where, code, bits, ndim, _, _, _, _, offset, size = struct.unpack_from("<BBBBHHiiQQ", data)
        shape = struct.unpack_from(f"<{ndim}q", data, 32)
        if where != INLINE:
            return msgpack.ExtType(kind, data)
        assert offset % ALIGN == 0 and offset + size <= len(payload)
        raw = payload[offset : offset + size]
        dtype = "bool" if code == 6 else f"{NAMES[code]}{bits // 8}"
        return np.frombuffer(raw, dtype).reshape(shape)

    return hook


class Wire:
    """One connection; requests may be pipelined with start() and finish()."""

    def __init__(self, address, timeout=PATIENCE):
        """@address: as the daemon prints it, or a socket that is connected."""
        if isinstance(address, socket.socket):
            self.socket = address
            self.socket.settimeout(timeout)
        elif address.startswith("unix:"):
            self.socket = socket.socket(socket.AF_UNIX)
            # With a timeout it would not wait while the listener's backlog is full.
            self.socket.connect(address[5:])
            self.socket.settimeout(timeout)
        else:
            host, port = address.removeprefix("tcp://").rsplit(":", 1)
            self.socket = socket.create_connection((host.strip("[]"), int(port)), timeout)
        self.ids = itertools.count(1)
        self.answers = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    @classmethod
    def from_address(cls, host, address):
        """By TCP, as the peer @address, one of this machine's."""
        name, port = host.removeprefix("tcp://").split(":")
        return cls(socket.create_connection((name, int(port)), PATIENCE, (address, 0)))

    def send(self, data):
        self.socket.sendall(data)

    def start(self, method, *params, id=None, **options):
        id = next(self.ids) if id is None else id
        payload = Payload()
        body = [0, id, method, payload.place(list(params))] + ([options] if options else [])
        self.send(frame(body, payload.bytes))
        return id

    def take(self, n):
        data = bytearray()
        while len(data) < n:
            try:
                more = self.socket.recv(min(n - len(data), 1 << 20))
            except ConnectionResetError:
                more = b""
            if not more:
                raise Closed(f"after {len(data)} of {n} bytes")
            data += more
        return bytes(data)

    def receive(self):
        """The next frame's body, tensors as arrays."""
        head = self.take(16)
        assert head[:4] == MAGIC, head
        body_bytes, payload_bytes = struct.unpack("<IQ", head[4:])
        body = self.take(body_bytes)
        payload = self.take(payload_bytes)
        return msgpack.unpackb(
            body, ext_hook=unpack_ext(payload), strict_map_key=False, use_list=True
        )

    def finish(self, id):
        return self.finish_meta(id)[0]

    def finish_meta(self, id):
        """(the result, what the daemon says of how it came to be)"""
        while id not in self.answers:
            body = self.receive()
            if body[0] == 1:
                assert body[1] not in self.answers, "two replies to one request"
                self.answers[body[1]] = body
        body = self.answers.pop(id)
        if body[2] is not None:
            raise Failure(body[2])
        return body[3], body[4] if len(body) > 4 else {}

    def ask(self, method, *params, **options):
        return self.finish(self.start(method, *params, **options))

    def call(self, function, *args, **options):
        """(the filled out tensors, the return value)"""
        outs, value = self.ask("call", function, *args, **options)
        return outs, value

    def upload(self, data):
        upload = self.ask("module.upload", "begin", len(data))
        piece = 1 << 20
        for at in range(0, len(data), piece):
            part = np.frombuffer(data[at : at + piece], "u1")
            self.ask("module.upload", "write", upload, at, part)
        self.ask("module.upload", "commit", upload)
        return upload

    def load(self, name, data, **options):
        return self.ask("module.load", name, self.upload(data), options)
