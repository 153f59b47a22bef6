"""A stand-in for modserd-worker that answers the daemon's calls as it should, and says to clients
on channels of their own (worker.peer) what it likes: each function of its module is one lie.

    lying_host.py RECORD --name NAME
"""
import os
import pathlib
import select
import socket
import struct
import sys

import msgpack

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import fake_worker  # noqa: E402
from fake_worker import HEAD, MAGIC, TENSOR  # noqa: E402

INLINE, UINT8 = 0, 1


def frame(body, payload_bytes=0, body_bytes=None, magic=MAGIC):
    data = msgpack.packb(body)
    return HEAD.pack(magic, len(data) if body_bytes is None else body_bytes, payload_bytes) + data


def tensor(offset, size):
    head = struct.pack("<BBBBHHiiQQ", INLINE, UINT8, 8, 1, 1, 0, 1, 0, offset, size)
    return msgpack.ExtType(TENSOR, head + struct.pack("<q", size))


def well(id, *results):
    return [1, id, None, [[], list(results)]]


# What is said of a call with an id; None: nothing, and the channel is open.
LIES = {
    "silent": lambda id: b"",
    "half": lambda id: frame(well(id))[:10],
    "half_body": lambda id: frame(well(id))[:-1],
    "other_magic": lambda id: frame(well(id), magic=b"HTTP"),
    "other_id": lambda id: frame(well(id + 1)),
    "request": lambda id: frame([0, id, "ping", []]),
    "no_msgpack": lambda id: HEAD.pack(MAGIC, 1, 0) + b"\xc1",
    "large_body": lambda id: frame(well(id), body_bytes=0xffffffff),
    "large_payload": lambda id: frame(well(id), payload_bytes=1 << 63),
    "outside": lambda id: frame(well(id, tensor(1 << 40, 16)), payload_bytes=16) + bytes(16),
    "no_payload": lambda id: frame(well(id, tensor(0, 1 << 32)), payload_bytes=1 << 32),
    "no_result": lambda id: frame([1, id]),
    "unknown": lambda id: frame([2, "channel.lost", [1, 2]]) + frame([2, "no.such", [id]]),
    "farewell": lambda id: frame([2, "session.close", [0, "OK", "bye"]]),
    "ends": None,
}


class Host(fake_worker.Worker):
    def __init__(self, record):
        super().__init__(record)
        self.guests = {}  # descriptor: (socket, its number)

    def sort(self, body):
        if body[0] == 2 and body[1] == "worker.segment" and body[2][0] == "ledger":
            os.close(self.fds.popleft())
        elif body[0] == 2 and body[1] == "worker.peer":
            guest = socket.socket(fileno=self.fds.popleft())
            self.guests[guest.fileno()] = (guest, body[2][0])
        else:
            super().sort(body)

    def take(self):
        ready, _, _ = select.select([self.channel, *self.guests], [], [])
        for it in ready:
            if it is not self.channel:
                self.serve(it)
        if self.channel in ready:
            super().take()

    def serve(self, fd):
        guest, number = self.guests[fd]
        head = guest.recv(HEAD.size, socket.MSG_WAITALL)
        said = None
        if len(head) == HEAD.size:
            _, size, more = HEAD.unpack(head)
            _, id, _, (target, *_), *_ = msgpack.unpackb(guest.recv(size, socket.MSG_WAITALL))
            if more:
                guest.recv(more, socket.MSG_WAITALL)
            lie = LIES[target.partition(":")[2]]
            said = lie and lie(id)
        if said is not None:
            guest.sendall(said)
            return
        del self.guests[fd]
        guest.close()
        body = msgpack.packb([2, "worker.peer", [number]])
        self.channel.sendall(HEAD.pack(MAGIC, len(body), 0) + body)


if __name__ == "__main__":
    fake_worker.FUNCTIONS = tuple(LIES)
    Host(sys.argv[1]).run()
