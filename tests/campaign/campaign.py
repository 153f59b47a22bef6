#!/usr/bin/env python3
"""scripts/campaign [--seconds N] [--rounds N] [--seed S] [--build DIR]: one daemon after the other
under load, in rounds of random troubles, with honest clients that check every answer.

A module that nobody attacks, `steady`, answers every call with the right bits, in time; modules
that are attacked answer right or with an error that has an excuse; every request is answered once.
When the troubles end, connections, descriptors, processes and memory are as before, and the daemon
ends cleanly. What was found is printed with the act's seed, and makes the exit status 1.
"""
import argparse
import collections
import contextlib
import multiprocessing
import os
import pathlib
import random
import shutil
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
for folder in ("e2e", "e2e/hostile"):
    sys.path.insert(0, str(HERE.parent / folder))

import checker  # noqa: E402
import harness  # noqa: E402
import trouble  # noqa: E402
from arena import Arena  # noqa: E402
from wire import Closed, Failure, Wire  # noqa: E402

CHECKERS, CONNECTIONS, DEPTH = 2, 3, 16
ROUNDS_OF_AN_ACT = 200
ANSWERS_OF_A_ROUND = 20  # that the honest get, before the next trouble begins
LASTING = 6  # troubles that go on at a time, at most
GRACE_MS = 60_000  # of a machine that is busy with all this, and with other tests
MOST_TEXTS = 5  # of one kind of finding, of an act
KINDS = ("wrong", "double", "missing", "late", "lost", "left")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--rounds", type=int, default=None)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--trouble", action="append", help="no other than these; repeatable")
    given = parser.parse_args()
    if given.rounds is None:
        given.rounds = 10_000 if given.seconds == float("inf") else 1 << 62
    if given.seed is None:
        given.seed = int.from_bytes(os.urandom(4), "little")
    return given


class Stage:
    """One daemon with its honest clients; the troubles see it."""

    def __init__(self, seed, folder):
        self.seed, self.rng = seed, random.Random(seed)
        self.prey = ("prey", "game")
        self.shapes = (harness.MODELS / "shapes.so").read_bytes()
        self.findings, self.lasting = collections.defaultdict(list), []
        self.arena = Arena(
            "--load-timeout", "3s", "--max-deaths", 20, "--drain", "3s",
            listen=[f"unix:{folder}/m.sock", "tcp://127.0.0.1:0"],
            env={"MODSERD_WORKER": str(worker_choice(folder)), "MODSERD_LOG": "warn"})
        self.host = self.arena.host
        host, port = self.arena.daemon.hosts[1].removeprefix("tcp://").rsplit(":", 1)
        self.tcp = (host, int(port))
        self.before = self.arena.state()
        for name in ("steady", *self.prey):
            self.load_surely(name, self.shapes)
        self.steady_pids = self.pids("steady")
        self.load_surely("faults", (harness.ZOO / "faults.so").read_bytes())

    def load_surely(self, name, data):
        """The timeout of a load is short for the troubles' sake, and the machine may be busy."""
        def is_loaded():
            with Wire(self.host) as wire, contextlib.suppress(Failure):
                return wire.load(name, data)
        harness.until(is_loaded, f"{name} is loaded")

    def find(self, kind, text):
        self.findings[kind].append(text)

    def modules(self):
        with Wire(self.host) as wire:
            return {m["name"]: m for m in wire.ask("module.list")}

    def pids(self, name):
        return self.modules().get(name, {"pids": []})["pids"]

    def begin(self):
        context = multiprocessing.get_context("fork")
        self.stop = context.Event()
        self.counts = [context.Value("Q", 0, lock=False) for _ in range(CHECKERS)]
        self.checkers = []
        for i, count in enumerate(self.counts):
            ours, theirs = context.Pipe(duplex=False)
            args = (self.host, self.seed + i + 1, "steady", self.prey, count, GRACE_MS)
            process = context.Process(
                target=checker.work,
                args=(theirs, self.stop, args, CONNECTIONS, DEPTH, harness.PATIENCE))
            process.start()
            theirs.close()
            self.checkers.append((process, ours))

    def progress(self, n):
        """Wait until honest clients have got @n answers more."""
        want = sum(c.value for c in self.counts) + n
        harness.until(lambda: sum(c.value for c in self.counts) >= want, f"{n} answers more")

    def round(self, names):
        happens = self.rng.choice([t for t in trouble.ALL if not names or t.__name__ in names])
        ends = happens(self)
        if ends:
            self.lasting.append(ends)
        while len(self.lasting) > LASTING or self.lasting and self.rng.random() < 0.3:
            self.lasting.pop(self.rng.randrange(len(self.lasting)))()
        self.mend()
        self.progress(ANSWERS_OF_A_ROUND)
        return happens.__name__

    def mend(self):
        """What is quarantined would be left in peace."""
        for name, m in self.modules().items():
            if m["state"] in ("QUARANTINED", "FAILED") and name in (*self.prey, "faults"):
                data = self.shapes if name in self.prey else (harness.ZOO / "faults.so").read_bytes()
                trouble.load(self, name, data, replace=True)

    def end(self):
        """All is over: the reports of the checkers, then what the daemon still holds."""
        for ends in self.lasting:
            ends()
        self.stop.set()
        reports = []
        for process, pipe in self.checkers:
            reports.append(pipe.recv())
            process.join()
        if self.pids("steady") != self.steady_pids:
            self.find("wrong", "the worker of the module that nobody attacked was restarted")
        for name in self.modules():
            trouble.ask(self, "module.unload", name)
        try:
            self.arena.expect_as_before(self.before)
            self.arena.__exit__(None)
        except AssertionError as error:
            self.find("left", str(error))
            self.arena.daemon.kill()
        for report in reports:
            for kind, texts in report["findings"].items():
                self.findings[kind] += texts
        return reports


def worker_choice(folder):
    """A program that is modserd-worker, but for modules of the name `evil`."""
    path = pathlib.Path(folder) / "worker"
    path.write_text(
        "#!/bin/sh\ncase \"$*\" in *--name\\ evil*)"
        f" exec '{sys.executable}' '{HERE}/evil_worker.py' \"$@\";;\nesac\n"
        f"exec '{harness.BIN}/modserd-worker' \"$@\"\n")
    path.chmod(0o755)
    return path


def act(seed, n_rounds, end, names):
    """(rounds by trouble, answers by what they said, findings, the slowest answer)"""
    folder = harness.short_folder()
    rounds, said, slowest = collections.Counter(), collections.Counter(), 0.0
    try:
        stage = Stage(seed, folder)
        stage.begin()
        try:
            while sum(rounds.values()) < n_rounds and time.monotonic() < end:
                rounds[stage.round(names)] += 1
        except (AssertionError, OSError, Closed) as error:
            stage.find("wrong", f"after {sum(rounds.values())} rounds: {error!r}")
        for report in stage.end():
            said.update(report["said"])
            slowest = max(slowest, report["slowest_ms"])
    finally:
        shutil.rmtree(folder)
    return rounds, said, stage.findings, slowest


def main():
    given = arguments()
    end = time.monotonic() + given.seconds
    print(f"campaign: seed {given.seed}", flush=True)
    rounds, said, found = collections.Counter(), collections.Counter(), collections.Counter()
    seed = given.seed
    while sum(rounds.values()) < given.rounds and time.monotonic() < end:
        began = time.monotonic()
        most = min(ROUNDS_OF_AN_ACT, given.rounds - sum(rounds.values()))
        happened, heard, findings, slowest = act(seed, most, end, given.trouble)
        rounds += happened
        said += heard
        found.update({kind: len(texts) for kind, texts in findings.items()})
        print(f"act {seed}: {sum(happened.values())} rounds, {sum(heard.values())} answers, "
              f"{time.monotonic() - began:.0f} s, slowest of the steady module {slowest:.0f} ms", flush=True)
        for kind, texts in findings.items():
            for text in texts[:MOST_TEXTS]:
                print(f"  {kind}: {text}", flush=True)
        seed += 1000
    print("troubles:", ", ".join(f"{n} {name}" for name, n in sorted(rounds.items())))
    print("answers:", ", ".join(f"{n} {name}" for name, n in said.most_common()))
    print(f"{sum(rounds.values())} rounds:", ", ".join(f"{found[kind]} {kind}" for kind in KINDS))
    sys.exit(any(found.values()))


if __name__ == "__main__":
    main()
