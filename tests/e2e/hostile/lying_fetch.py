"""A stand-in for modserd-fetch that answers each fetch.get (daemon/fetch/CHANNEL.md) with a result
of far more objects than there are."""
import pathlib
import socket
import struct
import sys

import msgpack

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from wire import frame  # noqa: E402

CHANNEL, HEAD_BYTES = 3, 16
MANY = 60_000  # less than a request may have


def main():
    with socket.socket(fileno=CHANNEL) as channel, channel.makefile("rwb") as stream:
        while head := stream.read(HEAD_BYTES):
            _, body_bytes, _ = struct.unpack("<4sIQ", head)
            asked = msgpack.unpackb(stream.read(body_bytes))
            if asked[0] == 0:
                stream.write(frame([1, asked[1], None, {"bytes": 0, "more": [0] * MANY}]))
                stream.flush()


main()
