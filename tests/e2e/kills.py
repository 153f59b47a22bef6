#!/usr/bin/env python3
"""kills.py [--rounds N] [--seed S]: updates of a module, cut short by kill -9 of the supervisor,
of modserd-fetch or of a worker, at random moments. After each the module answers, as the old
edition or the new one; after a restart of the daemon the store has no fault. Editions are of some KiB
or of some MiB, which are kept while they arrive: half of those that were cut are asked for again.

MSD_BUILD names the build, as for the tests. The seed is printed, for the same choices again.
"""
import argparse
import collections
import contextlib
import hashlib
import os
import random
import select
import shutil
import signal
import sys

import harness
from bad_server import Server, etag, head, range_of
from wire import Closed, Failure, Wire

MODULE = harness.ZOO / "results.so"
LARGE_BYTES = 5 << 20
PIECE_BYTES = 1 << 18
PIECE_MS = 3
MOST_MS = 100  # until the kill, a little longer than an update takes
WORKER_DEATHS = 3  # of one edition: more of them would quarantine it, and rightly


def fetchers(daemon):
    found = []
    for pid in daemon.processes():
        with contextlib.suppress(OSError):
            if os.path.basename(os.readlink(f"/proc/{pid}/exe")) == "modserd-fetch":
                found.append(pid)
    return found


def slowly(request, data):
    """Goes on where it is asked to, and leaves time for a kill."""
    start, tag = range_of(request), etag(data)
    more = [("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")] if start else []
    head(request, 206 if start else 200, len(data) - start, ("ETag", tag), *more)
    for at in range(start, len(data), PIECE_BYTES):
        request.wfile.write(data[at:at + PIECE_BYTES])
        select.select([], [], [], PIECE_MS / 1000)


def kill(pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(pids)


class Rounds:
    """A daemon, what it has been given so far, and who has been killed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.folder = harness.short_folder()
        self.store = self.folder / "store"
        self.server = Server().__enter__()
        self.given, self.counts, self.was_cut = [], collections.Counter(), False
        self.daemon = self.start()
        self.give()
        self.daemon.ok("pull", "m", self.server.uri("/m.so"))

    def start(self):
        return harness.Daemon("--store", self.store, "--fetch-retry", "5ms", "--max-deaths", "8")

    def end(self):
        self.daemon.kill()
        self.server.__exit__()
        shutil.rmtree(self.folder)

    def give(self):
        """The same functions in other bytes."""
        data = MODULE.read_bytes() + len(self.given).to_bytes(4, "little")
        if self.random.random() < 0.5:
            data += self.random.randbytes(LARGE_BYTES)
        self.server.give("/m.so", data, slowly)
        self.given.append(hashlib.sha256(data).hexdigest())

    def kill_supervisor(self):
        kill([self.daemon.pid])
        self.daemon.process.wait(harness.PATIENCE)
        harness.until(lambda: not self.daemon.processes(), "nothing is left of it")
        self.daemon.kill()
        said = harness.run(harness.BIN / "modser", "store", "verify", "-C", self.store)
        assert said.status == 0, said
        self.daemon = self.start()
        return 1

    def kill_fetch(self):
        return kill(fetchers(self.daemon))

    def kill_worker(self, wire):
        try:
            m = wire.ask("module.describe", "m", deadline_ms=harness.LONG_MS)
        except (Closed, Failure):
            return 0
        return kill(m["pids"]) if m["restarts"] < WORKER_DEATHS else 0

    def expect_served(self):
        """The module answers, and is one of those that were given."""
        with Wire(self.daemon.host) as wire:
            for _ in range(2):  # the worker that has just been killed may have had the first
                try:
                    outs, value = wire.call("m:int", deadline_ms=harness.LONG_MS)
                    break
                except Failure as failure:
                    assert failure.name == "WORKER_LOST", failure
            assert value == -42 and outs == []
            served = wire.ask("module.describe", "m")["sha256"]
        assert served in self.given, served
        self.counts["newest served" if served == self.given[-1] else "older served"] += 1

    def run(self):
        whom = self.random.choice(("supervisor", "fetch", "fetch", "worker"))
        if not self.was_cut or self.random.random() < 0.5:
            self.give()
        promised = {"sha256": self.given[-1]} if self.random.random() < 0.7 else {}
        self.was_cut = True
        with Wire(self.daemon.host) as wire, Wire(self.daemon.host) as other:
            asked = wire.start("module.pull", "m", self.server.uri("/m.so"), promised)
            select.select([], [], [], self.random.uniform(0, MOST_MS / 1000))
            if whom == "worker":
                self.counts[whom] += self.kill_worker(other)
            else:
                self.counts[whom] += getattr(self, f"kill_{whom}")()
            if whom != "supervisor":
                with contextlib.suppress(Failure):
                    wire.finish(asked)
                    self.was_cut = False
        self.expect_served()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    rounds = Rounds(given.seed)
    try:
        for _ in range(given.rounds):
            rounds.run()
        rounds.counts["gone on with"] = sum("Range" in asked for _, asked in rounds.server.asked)
        print(", ".join(f"{n} {what}" for what, n in sorted(rounds.counts.items())))
    finally:
        rounds.end()


if __name__ == "__main__":
    sys.exit(main())
