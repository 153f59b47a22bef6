"""A stand-in for modserd-worker: it starts the real one and copies what passes between that and
the supervisor, descriptors included, into two files.

    channel_tap.py WORKER FOLDER WORD...    the words are those that the supervisor gave
"""
import os
import pathlib
import socket
import subprocess
import sys
import threading

CHANNEL, ARTIFACT = 3, 4  # as daemon/worker/CHANNEL.md has them
MOST_BYTES, MOST_FDS = 1 << 16, 64


def copy(source, to, record):
    while True:
        data, fds, _, _ = socket.recv_fds(source, MOST_BYTES, MOST_FDS)
        if not data:
            break
        record.write(data)
        record.flush()
        sent = socket.send_fds(to, [data], fds) if fds else to.send(data)
        to.sendall(data[sent:])
        for fd in fds:
            os.close(fd)
    to.shutdown(socket.SHUT_WR)


def main(worker, folder, *words):
    if words[:1] != ("--name",):
        os.execv(worker, [worker, *words])
    channel = socket.socket(fileno=os.dup(CHANNEL))
    ours, theirs = socket.socketpair()
    os.dup2(theirs.fileno(), CHANNEL)
    theirs.close()
    process = subprocess.Popen([worker, *words], pass_fds=(CHANNEL, ARTIFACT))
    os.close(CHANNEL)
    base = pathlib.Path(folder) / str(process.pid)
    with open(f"{base}.down", "wb") as down, open(f"{base}.up", "wb") as up:
        thread = threading.Thread(target=copy, args=(channel, ours, down), daemon=True)
        thread.start()
        copy(ours, channel, up)
        return process.wait()


sys.exit(main(*sys.argv[1:]))
