"""A stand-in for modserd-worker that passes descriptors which are no segments.

    passing_worker.py HOW --name NAME
"""
import os
import sys

import msgpack
from fake_worker import HEAD, MAGIC, Worker
from lingering import pass_lingering

SEGMENT = msgpack.packb([2, "worker.segment", ["out", 0, 1 << 20]])
JUNK = b"junk that is no frame"


class PassingWorker(Worker):
    def call(self, id, how, *args):
        if how == "segment":
            kept = pass_lingering(self.channel, HEAD.pack(MAGIC, len(SEGMENT), 0) + SEGMENT)
        elif how == "unread":  # behind what ends the channel
            self.channel.send(JUNK)
            kept = [pass_lingering(self.channel) for _ in range(64)]
        while self.channel.recv(1 << 16):
            continue
        os._exit(len([kept]))


if __name__ == "__main__":
    PassingWorker(sys.argv[1]).run()
