"""A stand-in for modserd-worker that starts the real one, and writes what it likes into the page in
which that tells of clients' channels.

    lying_ledger.py WORKER SEED WORD...    the words are those that the supervisor gave
"""
import mmap
import os
import random
import socket
import struct
import subprocess
import sys
import threading

CHANNEL, ARTIFACT = 3, 4  # as daemon/worker/CHANNEL.md has them
MOST_BYTES, MOST_FDS = 1 << 16, 64
RUNS = 16  # bytes that say which call runs, and when it is to end
LATE = struct.pack("<QQ", 1, 1)  # the first channel's, long ago
LIES = 2000


def lie(fd, seed):
    """Fill the ledger with other bytes again and again: random ones, all ones, zeros. "late": say
    that a call overruns its deadline instead."""
    chance = random.Random(seed)
    size = os.fstat(fd).st_size
    with mmap.mmap(fd, size) as page:
        while seed == "late":
            page[:RUNS] = LATE
        for _ in range(LIES):
            page[RUNS:] = chance.choice((chance.randbytes(size - RUNS), b"\xff" * (size - RUNS),
                                         bytes(size - RUNS)))


def copy(source, to, seed):
    while True:
        data, fds, _, _ = socket.recv_fds(source, MOST_BYTES, MOST_FDS)
        if not data:
            break
        sent = socket.send_fds(to, [data], fds) if fds else to.send(data)
        to.sendall(data[sent:])
        for fd in fds:
            if "modserd-ledger" in os.readlink(f"/proc/self/fd/{fd}"):
                threading.Thread(target=lie, args=(os.dup(fd), seed), daemon=True).start()
            os.close(fd)
    to.shutdown(socket.SHUT_WR)


def main(worker, seed, *words):
    if words[:1] != ("--name",) or words[1] != "liar":
        os.execv(worker, [worker, *words])
    channel = socket.socket(fileno=os.dup(CHANNEL))
    ours, theirs = socket.socketpair()
    os.dup2(theirs.fileno(), CHANNEL)
    theirs.close()
    process = subprocess.Popen([worker, *words], pass_fds=(CHANNEL, ARTIFACT))
    os.close(CHANNEL)
    threading.Thread(target=copy, args=(channel, ours, seed), daemon=True).start()
    copy(ours, channel, seed)
    return process.wait()


sys.exit(main(*sys.argv[1:]))
