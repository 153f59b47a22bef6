"""fake_worker.py with a door: it outlives its supervisor, and resumes as it is told.

    keeping_worker.py RECORD FATE --name NAME --keep

FATE, the text of a file, says what becomes of worker.resume: `resumes`; `refuses` (it is answered
with an error), `lies` (with what describes no module), `silent` (not at all), `dies`, `babbles` (with
bytes that are no frame), `answers twice`.
"""
import os
import pathlib
import select
import socket
import sys

import fake_worker

DOOR = 5
NOT_READY = [10, "NOT_READY", "it was asked to refuse", {}]


class Worker(fake_worker.Worker):
    def __init__(self, record, fate):
        super().__init__(record)
        self.resumes = pathlib.Path(fate)
        self.door = socket.socket(fileno=DOOR)

    def take(self):
        """The end of a channel is none: another comes."""
        while True:
            for ready in select.select([self.door, self.channel], [], [])[0]:
                if ready is self.door:
                    self.admit()
                    return
                if self.channel.recv(1, socket.MSG_PEEK):
                    super().take()
                    return
                self.admit()
                return

    def admit(self):
        data, fds, *_ = socket.recv_fds(self.door, 1, 1)
        if not data:
            os._exit(0)
        self.channel.close()
        self.channel = socket.socket(fileno=fds[0])
        self.bytes = b""
        self.fds.clear()
        self.waiting.clear()

    def resume(self, id):
        fate = self.resumes.read_text()
        if fate == "dies":
            os._exit(1)
        if fate == "refuses":
            self.answer(id, NOT_READY)
        elif fate == "lies":
            self.answer(id, None, {"functions": 7})
        elif fate == "babbles":
            self.channel.sendall(b"no frame at all!" * 4)
        elif fate in ("resumes", "answers twice"):
            for _ in range(1 + (fate == "answers twice")):
                self.open(id)

    def run(self):
        while True:
            while not self.waiting:
                self.take()
            _, id, method, params, *_ = self.waiting.popleft()
            if method == "worker.open":
                self.open(id)
            elif method == "worker.resume":
                self.resume(id)
            else:
                self.call(id, params[0].rpartition(":")[2], *params[1:])


if __name__ == "__main__":
    Worker(*sys.argv[1:3]).run()
