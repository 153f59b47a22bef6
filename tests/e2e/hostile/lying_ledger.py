"""A stand-in for modserd-worker that starts the real one, and writes what it likes into the page in
which that tells of clients' channels.

    lying_ledger.py WORKER SEED WORD...    the words are those that the supervisor gave
"""
import mmap
import os
import pathlib
import random
import struct
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import between  # noqa: E402

RUNS = 32  # bytes that say which call runs, since when, when it is to end, and who is to leave
LATE = struct.pack("<QQQ", 1, 1, 1)  # the first channel's, long ago
LIES = 2000


def lie(fd, seed):
    """Fill the ledger with other bytes again and again: random ones, all ones, zeros. "late": say
    that a call overruns its deadline instead."""
    chance = random.Random(seed)
    size = os.fstat(fd).st_size
    with mmap.mmap(fd, size) as page:
        while seed == "late":
            page[:len(LATE)] = LATE
        for _ in range(LIES):
            page[RUNS:] = chance.choice((chance.randbytes(size - RUNS), b"\xff" * (size - RUNS),
                                         bytes(size - RUNS)))


def main(worker, seed, *words):
    if words[:1] != ("--name",) or words[1] != "liar":
        os.execv(worker, [worker, *words])

    def look(_, fds):
        for fd in fds:
            if "modserd-ledger" in os.readlink(f"/proc/self/fd/{fd}"):
                threading.Thread(target=lie, args=(os.dup(fd), seed), daemon=True).start()

    return between.stand(*between.start(worker, words), look, look)


sys.exit(main(*sys.argv[1:]))
