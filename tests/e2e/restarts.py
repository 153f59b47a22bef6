#!/usr/bin/env python3
"""restarts.py N MOST_MS: in a booted system (nspawn.sh), restarts modserd.service N times. Each time the
module `kept` is called until it answers, from the same processes as ever; the median of the times
from the restart to the answer is MOST_MS at most. The next restart waits until all workers are in
the service manager's store again: one of two may answer before the other is there, which would not
outlive a restart in that moment. Another process connects and calls 500 times a second meanwhile, and
is never refused. Prints what was counted.
"""
import collections
import multiprocessing
import select
import socket
import statistics
import struct
import subprocess
import sys
import time

import msgpack

PATH = "/run/modserd/modserd.sock"
HEAD = struct.Struct("<4sIQ")
BODY = msgpack.packb([0, 1, "call", ["kept:int"]])
NOTIFICATION = 2  # such as "leaving"
EACH_S = 0.002
PATIENCE = 120


def read_frame(s):
    """The body of the next frame; None if the daemon closed the connection."""
    said, n = b"", HEAD.size
    while len(said) < n:
        more = s.recv(n - len(said))
        if not more:
            return None
        said += more
        if len(said) == HEAD.size:
            n = HEAD.size + HEAD.unpack(said)[1]
    return msgpack.unpackb(said[HEAD.size:])


def call():
    """"OK", the name of an error, or "closed": a daemon that ends closes what has just come."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(PATIENCE)
        s.connect(PATH)
        try:
            s.sendall(HEAD.pack(b"\xedmd\x01", len(BODY), 0) + BODY)
            body = read_frame(s)
            while body and body[0] == NOTIFICATION:
                body = read_frame(s)
        except (ConnectionResetError, BrokenPipeError):
            return "closed"
    if body is None:
        return "closed"
    return body[2][1] if body[2] else "OK"


def load(is_over, counts):
    said = collections.Counter()
    due = time.monotonic()
    while not is_over.is_set():
        try:
            said[call()] += 1
        except OSError as e:
            said[f"refused: {e}"] += 1
        due = max(due + EACH_S, time.monotonic() - 25 * EACH_S)
        select.select([], [], [], max(0, due - time.monotonic()))  # its pace
    counts.put(dict(said))


def workers():
    said = subprocess.run(["pgrep", "-f", "modserd-worker --name"], capture_output=True, text=True)
    return sorted(said.stdout.split())


def stored():
    said = subprocess.run(["systemctl", "show", "-P", "NFileDescriptorStore", "modserd"],
                          capture_output=True, text=True, check=True)
    return int(said.stdout)


def wait_until_stored(n):
    give_up = time.monotonic() + PATIENCE
    while stored() < n:
        assert time.monotonic() < give_up, f"{stored()} of {n} are in the store"


def main():
    n, most_ms = int(sys.argv[1]), float(sys.argv[2])
    is_over, counts = multiprocessing.Event(), multiprocessing.Queue()
    other = multiprocessing.Process(target=load, args=(is_over, counts))
    other.start()
    first, in_store, times, same = workers(), stored(), [], 0
    for _ in range(n):
        began = time.monotonic()
        subprocess.run(["systemctl", "restart", "modserd"], check=True)
        while call() != "OK":
            pass
        times.append((time.monotonic() - began) * 1000)
        same += workers() == first
        wait_until_stored(in_store)
    is_over.set()
    said = counts.get(timeout=PATIENCE)
    other.join()
    refused = sum(m for word, m in said.items() if word.startswith("refused"))
    print(f"same {same} refused {refused}", end=" ")
    print("in time" if statistics.median(times) <= most_ms else "late", end=" ")
    print(f"({min(times):.0f} to {max(times):.0f} ms, median {statistics.median(times):.0f}; {said})")


if __name__ == "__main__":
    main()
